"""Digests of what memories were: what graph tells those who prove that they hold the same."""

from collections.abc import Iterable
from hashlib import sha256

from concord.graph.v1 import feed_pb2
from graph_world import SUPERSEDES, Calls


async def asked(home: Calls, seq: int = 0) -> feed_pb2.GetDigestsResponse:
    """Ask for the digests of the caller's space."""
    return await home.feed.GetDigests(feed_pb2.GetDigestsRequest(space=home.space, seq=seq))


def told(states: Iterable[tuple[str, int]]) -> list[tuple[int, bytes]]:
    """Digest states as the contract says."""
    found = [(0, bytes(32))] * 256
    for memory_id, seq in states:
        bucket = sha256(memory_id.encode()).digest()[0]
        count, digest = found[bucket]
        said = sha256(f"{memory_id}\n{seq}".encode()).digest()
        found[bucket] = (count + 1, bytes(a ^ b for a, b in zip(digest, said, strict=True)))
    return found


def buckets(reply: feed_pb2.GetDigestsResponse) -> list[tuple[int, bytes]]:
    """Return the buckets of a reply."""
    return [(bucket.state_count, bucket.digest) for bucket in reply.buckets]


async def test_every_state_of_every_memory_is_in_its_bucket(home: Calls) -> None:
    """S10 G13 Also of what was superseded, or restored; none of other items, forgotten or erased
    ones, or another space."""
    await home.put_edge("a", "R", "b")  # 1 to 3
    old = await home.add("old", id="old")  # 4
    new = await home.add("new", id="new")  # 5
    await home.relate(SUPERSEDES, new.id, old.id)  # 6 the edge, 7 what follows for the old one
    new.content = "newer"
    new = await home.update(new, "content")  # 8
    new = await home.restore(await home.forget(new))  # 9 to 12, each with its consequence
    gone = await home.add("gone", id="gone")  # 13
    await home.forget(gone)  # 14
    changes = await home.changes()
    kinds = [(c.seq, c.item_id, c.type) for c in changes if c.item_id in ("old", "new", "gone")]
    shown = [(item, seq) for seq, item, kind in kinds if kind in (1, 2, 4, 5)]

    reply = await asked(home)

    assert reply.seq == changes[-1].seq
    assert buckets(reply) == told(shown)
    assert sum(bucket.state_count for bucket in reply.buckets) == len(shown) > 6


async def test_an_erased_memory_has_no_state(home: Calls) -> None:
    """M4 S10 None of them counts any more, whatever else follows for it."""
    old = await home.add("old", id="old")
    new = await home.add("new. Supersedes: [[memory:old]]", id="new")
    await home.erase(old)
    await home.forget(new)  # what it stood in for would be current again
    made = {c.seq for c in await home.changes() if c.item_id == "new" and c.type in (1, 5)}

    reply = await asked(home)

    assert buckets(reply) == told(("new", seq) for seq in made)
    assert made


async def test_the_digests_of_a_change_stay(home: Calls) -> None:
    """S10 Through a change they are the same whenever they are asked for, also after an erasure."""
    heads = []
    memory = await home.add("one", id="one")
    heads.append(await asked(home))
    memory.content = "one more"
    memory = await home.update(memory, "content")
    heads.append(await asked(home))
    await home.forget(await home.add("two", id="two"))
    heads.append(await asked(home))
    await home.erase(memory)

    again = [await asked(home, head.seq) for head in heads]

    assert again == heads
    assert len({repr(buckets(head)) for head in heads}) == len(heads)
    assert await asked(home, 999) == await asked(home)


async def test_a_space_without_changes_has_empty_digests(home: Calls) -> None:
    """G13 An unknown space is answered as an empty one."""
    reply = await asked(home)

    assert (reply.seq, buckets(reply)) == (0, told([]))
