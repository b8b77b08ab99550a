"""Leases: of several holders one does a work in a space. Runs over both stores."""

import asyncio

from concord.graph.v1 import feed_pb2
from concord_graph.domain.leases import LEASE_SECONDS
from graph_world import SECOND, Calls, World

SPAN = int(LEASE_SECONDS * SECOND)


async def acquire(
    calls: Calls, holder: str, *, name: str = "follow", space: str = "home"
) -> feed_pb2.AcquireLeaseResponse:
    """Ask for a lease."""
    request = feed_pb2.AcquireLeaseRequest(space=space, name=name, holder=holder)
    return await calls.feed.AcquireLease(request)


async def renew(calls: Calls, holder: str, number: int) -> bool:
    """Ask for more time."""
    request = feed_pb2.RenewLeaseRequest(
        space="home", name="follow", holder=holder, fencing_number=number
    )
    return (await calls.feed.RenewLease(request)).renewed


async def test_a_lease_has_one_holder(home: Calls) -> None:
    """Design 1 one follower a space: of many that ask at once one is given it, and keeps it."""
    replies = await asyncio.gather(*(acquire(home, f"h{n}") for n in range(8)))

    (winner,) = [n for n, reply in enumerate(replies) if reply.acquired]
    assert {reply.fencing_number for reply in replies} == {1}
    again = await acquire(home, f"h{winner}")
    assert (again.acquired, again.fencing_number) == (True, 1)
    assert again.remaining_millis == LEASE_SECONDS * 1000


async def test_a_lease_passes_on_once_it_expired(live: World, home: Calls) -> None:
    """Design 1 a holder that is lost holds for 10 seconds; the next one has a greater number, and
    so has the former one if it comes back later: no number is of two."""
    first = await acquire(home, "a")
    live.clock.pass_(SPAN - 1)
    early = await acquire(home, "b")
    live.clock.pass_(1)
    late = await renew(home, "a", first.fencing_number)
    second = await acquire(home, "b")
    live.clock.pass_(SPAN)
    third = await acquire(home, "a")
    live.clock.pass_(SPAN)
    own = await acquire(home, "a")

    assert (early.acquired, early.remaining_millis) == (False, 0)
    assert not late, "it expired: whoever had it must ask anew"
    taken = [first, second, third, own]
    assert all(each.acquired for each in taken)
    assert [each.fencing_number for each in taken] == [1, 2, 3, 4]


async def test_a_renewed_lease_stays(live: World, home: Calls) -> None:
    """Design 1 while its holder renews it, nobody else has it; a wrong number renews nothing."""
    number = (await acquire(home, "a")).fencing_number
    for _ in range(3):
        live.clock.pass_(SPAN - 1)
        assert await renew(home, "a", number)

    assert not (await acquire(home, "b")).acquired
    assert not await renew(home, "b", number)
    assert not await renew(home, "a", number + 1)


async def test_leases_of_other_works_and_spaces_are_apart(home: Calls) -> None:
    """Design 1 a lease is of one space and one work."""
    await acquire(home, "a")

    assert (await acquire(home, "b", name="other")).acquired
    assert (await acquire(home, "b", space="elsewhere")).acquired
