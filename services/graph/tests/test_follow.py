"""Where named relations lead: several hops in one call, as of any instant."""

from concord.graph.v1 import relation_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    DAY,
    NOT_FOUND,
    START,
    Calls,
    Parties,
    World,
    by_id,
    named,
    reason,
)

MARCH, JUNE = START - 300 * DAY, START - 200 * DAY


async def follow(
    home: Calls, start: str, *relations: str, as_of: type_pb2.AsOf | None = None
) -> relation_pb2.FollowRelationsResponse:
    """Follow relations from a node, without a trace."""
    request = relation_pb2.FollowRelationsRequest(
        start=named(start), relations=relations, as_of=as_of, peek=True
    )
    return await home.relation.FollowRelations(request)


def ends(reply: relation_pb2.FollowRelationsResponse) -> list[str]:
    """Return the names of what it led to."""
    return [end.name for end in reply.ends]


async def test_names_the_hop_that_nothing_holds(home: Calls) -> None:
    """G9 No ends, the number of the hop, and which relations there are instead."""
    await home.put_edge("Ada", "WORKS_FOR", "Acme")
    await home.put_edge("Acme", "BASED_IN", "Hamburg")
    await home.put_edge("Acme", "MAKES", "anvils", valid_from=MARCH, valid_until=JUNE)

    reply = await follow(home, "Ada", "WORKS_FOR", "LOCATED_IN", "PART_OF")

    assert (ends(reply), reply.unheld_hop, len(reply.hops)) == ([], 2, 2)
    assert reply.hops[1].relation == "LOCATED_IN"
    assert list(reply.hops[1].held_relations) == ["BASED_IN"]


async def test_a_start_that_is_not_there(home: Calls) -> None:
    """G13 A miss is an answer, with near names."""
    await home.put_node("Ada Lovelace")

    reply = await follow(home, "Ada Lovelce", "KNOWS")

    assert (reply.status, list(reply.near_names)) == (NOT_FOUND, ["Ada Lovelace"])
    request = relation_pb2.FollowRelationsRequest(start=by_id("no-such"), relations=["KNOWS"])
    assert (await home.relation.FollowRelations(request)).status == NOT_FOUND


async def test_at_most_a_hundred_ends_a_hop(home: Calls) -> None:
    """G9 The heaviest hundred, constitutive ones first, and the reply says that it was cut."""
    for number in range(101):
        await home.put_edge("hub", "HAS", f"n{number}", weight=0.5 + number / 1000)
    for number in range(7):
        await home.put_edge(f"n{100 - number}", "IS_IN", "town")

    reply = await follow(home, "hub", "HAS")
    both = await follow(home, "hub", "HAS", "IS_IN")

    assert ends(reply) == [f"n{number}" for number in range(100, 0, -1)]
    assert reply.hops[0].truncated
    assert ends(both) == ["town"]
    assert len(both.hops[1].edges) == 5
    assert [hop.truncated for hop in both.hops] == [True, False]


async def test_constitutive_edges_are_not_cut(home: Calls, parties: Parties) -> None:
    """G9 A cut leaves out none of them for a descriptive one."""
    for number in range(100):
        await home.put_edge("hub", "HAS", f"n{number}")
    await parties.constitutive_edge(home, "hub", "HAS", "creed")

    assert ends(await follow(home, "hub", "HAS"))[0] == "creed"


async def test_counts_as_reading_unless_peeked(live: World, home: Calls) -> None:
    """G6 What it returns was read."""
    edge = await home.put_edge("Ada", "KNOWS", "Bob")
    live.clock.pass_(DAY)
    await follow(home, "Ada", "KNOWS")
    assert (await home.get_edge(edge.id)).access.access_count == 0

    request = relation_pb2.FollowRelationsRequest(start=named("Ada"), relations=["KNOWS"])
    await home.relation.FollowRelations(request)

    assert (await home.get_edge(edge.id)).access.access_count == 1


async def test_goes_round_and_names_a_relation_twice(home: Calls) -> None:
    """G9 A relation may be named again, and a cycle leads back."""
    await home.put_edge("Ada", "KNOWS", "Bob")
    await home.put_edge("Bob", "KNOWS", "Ada")

    assert ends(await follow(home, "Ada", *["KNOWS"] * 6)) == ["Ada"]
    for relations in ([], ["KNOWS"] * 7, [""]):
        assert await reason(follow(home, "Ada", *relations)) == "ERROR_REASON_FIELD_INVALID"
