"""What surrounds an item: breadth first, filtered in the store, ranked, in pages."""

import time

import raw_store
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    CONSTITUTIVE,
    DAY,
    DESCRIPTIVE,
    NOT_FOUND,
    SECOND,
    SUPERSEDES,
    Calls,
    Parties,
    World,
    by_id,
    named,
    reason,
    struct,
)

OUT = type_pb2.DIRECTION_OUTGOING
IN = type_pb2.DIRECTION_INCOMING
BOTH = type_pb2.DIRECTION_BOTH


async def links(home: Calls, *pairs: str) -> dict[str, str]:
    """Make an edge for each "ab" (a to b); return their ids by pair."""
    return {pair: (await home.put_edge(pair[0], "R", pair[1])).id for pair in pairs}


def found(reply: graph_pb2.QueryNeighborsResponse) -> dict[str, int]:
    """Return each edge's distance by its ends' names."""
    return {n.edge.source.name + n.edge.target.name: n.distance for n in reply.neighbors}


async def test_breadth_first_each_way_with_cycles(home: Calls) -> None:
    """G9 Every edge once, at its smallest distance; both ways mix at every hop; cycles end."""
    await links(home, "ab", "bc", "ca", "da", "de", "fe")
    for direction, depth, wanted in (
        (OUT, 1, {"ab": 1}),
        (OUT, 5, {"ab": 1, "bc": 2, "ca": 3}),
        (IN, 2, {"ca": 1, "da": 1, "bc": 2}),
        (IN, 5, {"ca": 1, "da": 1, "bc": 2, "ab": 3}),
        (BOTH, 2, {"ab": 1, "ca": 1, "da": 1, "bc": 2, "de": 2}),
        (0, 0, {"ab": 1, "ca": 1, "da": 1}),
        (BOTH, 3, {"ab": 1, "ca": 1, "da": 1, "bc": 2, "de": 2, "fe": 3}),
    ):
        reply = await home.neighbors("a", direction=direction, depth=depth)

        assert found(reply) == wanted, (direction, depth)
        assert reply.visited_edge_count == len(wanted)
        assert not reply.truncated


async def test_each_edge_carries_its_path_and_what_lies_beyond(home: Calls) -> None:
    """G9 The path leads from the start, itself last; loops lead to themselves."""
    ids = await links(home, "ab", "cb", "cd", "dd")
    reply = await home.neighbors("a", depth=4)
    by_edge = {n.edge.id: n for n in reply.neighbors}

    assert list(by_edge[ids["cd"]].path) == [ids["ab"], ids["cb"], ids["cd"]]
    assert by_edge[ids["cb"]].neighbor.name == "c"
    assert by_edge[ids["dd"]].neighbor.name == "d"
    assert by_edge[ids["ab"]].neighbor.kind == type_pb2.ITEM_KIND_NODE
    assert [n.neighbor.name for n in (await home.neighbors("c", direction=IN)).neighbors] == []


async def test_sorted_by_relevance_then_distance_then_id(live: World, home: Calls) -> None:
    """G9 Whatever the order they were made in."""
    low = await home.put_edge("a", "LOW", "b", importance=type_pb2.IMPORTANCE_LOW)
    high = await home.put_edge("b", "HIGH", "c", importance=type_pb2.IMPORTANCE_HIGH)
    also = await home.put_edge("a", "ALSO", "c", importance=type_pb2.IMPORTANCE_HIGH)
    twin = await home.put_edge("a", "TWIN", "c", importance=type_pb2.IMPORTANCE_HIGH)
    live.clock.pass_(50 * DAY)
    reply = await home.neighbors("a", depth=2)
    ranks = [(-n.edge.relevance_score, n.distance, n.edge.id) for n in reply.neighbors]

    assert ranks == sorted(ranks)
    assert {n.edge.id for n in reply.neighbors[:3]} == {high.id, also.id, twin.id}
    assert reply.neighbors[3].edge.id == low.id


async def test_filters_come_before_the_limit(home: Calls) -> None:
    """G9 G11 A page of one finds the only match among many, also behind others; walks obey too."""
    for number in range(30):
        await home.put_edge("a", "NOISE", f"n{number}")
    wanted = await home.put_edge("a", "R", "b", properties={"n": 7, "participants": ["Zoë"]})
    await home.put_edge("b", "NOISE", "c")
    filters = [
        graph_pb2.EdgeFilter(relations=["R"]),
        graph_pb2.EdgeFilter(properties=struct({"n": 7})),
        graph_pb2.EdgeFilter(participants=["Zoë"]),
    ]

    for filter_ in filters:
        reply = await home.neighbors("a", depth=3, page_size=1, filter=filter_)
        assert [n.edge.id for n in reply.neighbors] == [wanted.id]
        assert (reply.visited_edge_count, reply.next_page_token) == (1, "")


async def test_resolutions_are_met_in_a_walk_from_a_node(home: Calls) -> None:
    """G9 T1 Those of every edge that is met, as far away as it; the walk does not go on there."""
    old, new = await home.put_edge("x", "IS", "y"), await home.put_edge("a", "IS", "b")
    record = (await home.relate(SUPERSEDES, new.id, old.id)).edge
    near = await home.put_edge("s", "R", "a")

    for start, depth, distance in (("a", 1, 1), ("s", 2, 2), ("b", 2, 1)):
        reply = await home.neighbors(start, depth=depth, include_resolutions=True)
        shown = {n.edge.id: (n.distance, list(n.path)) for n in reply.neighbors}
        way = [near.id, new.id] if start == "s" else [new.id]
        assert shown.keys() == {near.id, new.id, record.id}
        assert shown[record.id] == (distance, [*way, record.id])
        neighbor = next(n.neighbor for n in reply.neighbors if n.edge.id == record.id)
        assert (neighbor.id, neighbor.kind) == (old.id, type_pb2.ITEM_KIND_EDGE)
        plain = await home.neighbors(start, depth=depth)
        assert {n.edge.id for n in plain.neighbors} == {near.id, new.id}


async def test_a_ghost_is_shown_as_one_and_walked_from(live: World, home: Calls) -> None:
    """M3 G9 T5 Its kind, its neighbours, paths to it, and its lineage; then as the memory it is."""
    note = await home.add("See [[memory:later]].", id="note")
    (out,) = (await home.neighbors(by_id("note"))).neighbors
    ghost = type_pb2.ITEM_KIND_GHOST
    assert (out.neighbor.id, out.neighbor.kind, out.edge.target.kind) == ("later", ghost, ghost)
    (back,) = (await home.neighbors(by_id("later"))).neighbors
    assert (back.edge.id, back.neighbor.id) == (out.edge.id, "note")
    assert back.neighbor.kind == type_pb2.ITEM_KIND_MEMORY
    request = graph_pb2.FindPathRequest(start=by_id("note"), end=by_id("later"), peek=True)
    (path,) = (await home.graph.FindPath(request)).paths
    assert [edge.id for edge in path.edges] == [out.edge.id]
    chain = await home.lineage("later")
    assert [(i.id, i.kind, i.is_undeclared) for i in chain.items] == [("later", ghost, True)]
    assert (await home.neighbors(by_id("nowhere"))).status == NOT_FOUND
    assert (await live.calls("other").neighbors(by_id("later"))).status == NOT_FOUND

    live.clock.pass_(SECOND)
    await home.add("Here I am.", id="later")
    (out,) = (await home.neighbors(by_id("note"))).neighbors
    assert out.neighbor.kind == type_pb2.ITEM_KIND_MEMORY
    then = type_pb2.AsOf(record_time=note.create_time)
    (out,) = (await home.neighbors(by_id("note"), as_of=then)).neighbors
    assert out.neighbor.kind == ghost
    (back,) = (await home.neighbors(by_id("later"), as_of=then)).neighbors
    assert back.neighbor.id == "note"


async def test_pages_pin_their_instant_while_reads_are_counted(live: World, home: Calls) -> None:
    """G9 Pages that count as read, hours apart, show every edge once, in one order."""
    edges = [await home.put_edge("a", f"R{n}", f"b{n}", importance=1 + n % 3) for n in range(23)]
    live.clock.pass_(30 * DAY)
    everything = await home.neighbors("a", page_size=200)
    seen: list[str] = []
    token = ""
    while True:
        page = await home.neighbors("a", page_size=5, page_token=token, peek=False)
        seen += [n.edge.id for n in page.neighbors]
        token = page.next_page_token
        live.clock.pass_(3600 * SECOND)
        if not token:
            break

    assert seen == [n.edge.id for n in everything.neighbors]
    assert sorted(seen) == sorted(edge.id for edge in edges)


async def test_a_token_of_another_query_is_refused(home: Calls) -> None:
    """G9 Bound to the query; a damaged one too. The page size may change."""
    for target in "bcd":
        await home.put_edge("a", "R", target)
    token = (await home.neighbors("a", page_size=1)).next_page_token

    for bad in (
        home.neighbors("b", page_token=token),
        home.neighbors("a", depth=2, page_token=token),
        home.neighbors("a", page_token=token[:-1]),
        home.neighbors("a", page_token="nonsense"),
    ):
        assert await reason(bad) == "ERROR_REASON_PAGE_TOKEN_INVALID"
    assert len((await home.neighbors("a", page_size=2, page_token=token)).neighbors) == 2


async def test_an_unknown_start_is_an_answer(live: World, home: Calls) -> None:
    """G9 G13 Empty, and it says so; another space's looks the same."""
    await home.put_edge("a", "R", "b")
    node = await home.get_node("a")
    memory = await home.add("gone")
    await home.forget(memory)
    both = type_pb2.EdgeEnd(id=node.id, name="b")

    for calls, start in (
        (home, named("zzz")),
        (home, by_id("zzz")),
        (home, by_id(memory.id)),
        (home, both),
        (live.calls("other"), named("a")),
        (live.calls("other"), by_id(node.id)),
    ):
        reply = await calls.neighbors(start)
        assert (reply.status, len(reply.neighbors)) == (NOT_FOUND, 0)
    assert await reason(home.neighbors(type_pb2.EdgeEnd())) == "ERROR_REASON_FIELD_INVALID"


async def test_a_walk_is_cut_at_ten_thousand_edges_and_says_so(live: World, home: Calls) -> None:
    """G9 Exactly 10,000 is whole, one more is cut; filters narrow before the cut."""
    await home.put_edge("hub", "ONLY", "leaf")
    raw_store.grow_hub(live.path, "hub", 9_999)
    whole = await home.neighbors("hub", page_size=1)
    await home.put_edge("hub", "MORE", "other")
    cut = await home.neighbors("hub", page_size=1)
    narrowed = await home.neighbors("hub", filter=graph_pb2.EdgeFilter(relations=["MORE"]))

    assert (whole.truncated, whole.visited_edge_count) == (False, 10_000)
    assert (cut.truncated, cut.visited_edge_count) == (True, 10_000)
    assert (narrowed.truncated, narrowed.visited_edge_count) == (False, 1)
    assert cut.next_page_token


async def test_the_cut_never_falls_on_what_defines_the_agent(
    live: World, home: Calls, parties: Parties
) -> None:
    """G9 Whatever is left out of a hub's 10,000 edges, its constitutive one is shown, and first."""
    await home.put_edge("Me", "R", "leaf")
    raw_store.grow_hub(live.path, "Me", 10_050)
    defining = await parties.constitutive_edge(home, "Zoe", "ZZZ", "Me")
    cut = await home.neighbors("Me", page_size=1)
    of_others = graph_pb2.EdgeFilter(edge_types=[DESCRIPTIVE])
    others = await home.neighbors("Me", page_size=1, filter=of_others)

    assert [n.edge.id for n in cut.neighbors] == [defining.id]
    assert (cut.truncated, cut.visited_edge_count) == (True, 10_000)
    assert (others.truncated, others.neighbors[0].edge.edge_type) == (True, DESCRIPTIVE)


async def test_what_has_been_changed_often_is_not_dearer_to_walk(live: World, home: Calls) -> None:
    """G9 A page costs what the current edges cost, not what their history does."""
    edge = await home.put_edge("a", "R", "b")
    raw_store.pile_up_history(live.path, edge.id, 50_000)
    began = time.process_time()
    for _ in range(50):
        await home.neighbors("a", depth=2)

    assert time.process_time() - began < 5


async def test_constitutive_edges_can_be_asked_for_alone(home: Calls, parties: Parties) -> None:
    """G9 The edge type is a filter."""
    edge = await parties.constitutive_edge(home)
    await home.put_edge("Me", "LIKES", "Tea")
    only = graph_pb2.EdgeFilter(edge_types=[CONSTITUTIVE])

    assert [n.edge.id for n in (await home.neighbors("Me", filter=only)).neighbors] == [edge.id]
