"""Reads by name and id, lists, counts, chains and exports as of another instant."""

from concord.graph.v1 import feed_pb2, graph_pb2, lineage_pb2, memory_pb2, space_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    DAY,
    FOUND,
    NOT_FOUND,
    SECOND,
    START,
    SUPERSEDES,
    Calls,
    World,
    edge_of,
    known_at,
    micros,
    reason,
    stamp,
    valid_at,
)


async def test_a_node_by_the_name_it_had(live: World, home: Calls) -> None:
    """T3 G13 A name leads to the node that had it then; a list shows the names of then."""
    node = await home.put_node("before")
    then = known_at(live.clock())
    live.clock.pass_(DAY)
    node.name = "after"
    await home.update_node(node, "name")
    ask = home.graph.GetNode

    assert (await ask(graph_pb2.GetNodeRequest(name="before"))).status == NOT_FOUND
    reply = await ask(graph_pb2.GetNodeRequest(name="before", as_of=then))
    assert (reply.status, reply.node.id, reply.node.name) == (FOUND, node.id, "before")
    assert (await ask(graph_pb2.GetNodeRequest(name="after", as_of=then))).status == NOT_FOUND
    assert (await ask(graph_pb2.GetNodeRequest(id=node.id, as_of=then))).node.name == "before"
    listed = await home.graph.ListNodes(graph_pb2.ListNodesRequest(as_of=then))
    assert [each.name for each in listed.nodes] == ["before"]


async def test_a_memory_by_the_key_it_had(live: World, home: Calls) -> None:
    """T3 M4 The version, the key and the life of then; what came later is not known."""
    memory = await home.add("first", id="m", external_id="old-key")
    then = known_at(live.clock())
    live.clock.pass_(DAY)
    memory.content, memory.external_id = "second", "new-key"
    await home.forget(await home.update(memory, "content", "external_id"))

    async def found(as_of: object = None, **by: str) -> memory_pb2.GetMemoryResponse:
        request = memory_pb2.GetMemoryRequest(peek=True, as_of=as_of, **by)  # type: ignore[arg-type] # a test's own
        return await home.memory.GetMemory(request)

    assert (await found(external_id="old-key")).status == NOT_FOUND
    old = (await found(then, external_id="old-key")).memory
    assert (old.id, old.content, old.HasField("forget_time")) == ("m", "first", False)
    assert (await found(then, external_id="new-key")).status == NOT_FOUND
    assert (await found(known_at(START - 1), id="m")).status == NOT_FOUND
    assert (await found(id="m")).memory.HasField("forget_time")


async def test_a_history_as_it_was_known(live: World, home: Calls) -> None:
    """T3 M4 Versions written later are missing, and the newest of then was open then."""
    memory = await home.add("first", id="m")
    then = known_at(live.clock())
    live.clock.pass_(DAY)
    memory.content = "second"
    await home.update(memory, "content")
    request = memory_pb2.GetMemoryHistoryRequest(id="m", as_of=then)
    (version,) = (await home.memory.GetMemoryHistory(request)).versions

    assert version.memory.content == "first"
    assert not version.HasField("record_until")


async def test_what_was_a_ghost_then(live: World, home: Calls) -> None:
    """T3 T5 M3 A chain, and an export, name a memory that nobody had told yet."""
    await home.add("new", id="new")
    await home.relate(SUPERSEDES, "new", "old")
    then = known_at(live.clock() + 1_000)
    live.clock.pass_(DAY)
    await home.add("old", id="old")
    chain = await home.lineage_service.GetLineage(
        lineage_pb2.GetLineageRequest(id="new", as_of=then)
    )
    ghosts = {item.id for item in chain.items if item.is_undeclared}
    pieces = home.space_service.ExportSpace(space_pb2.ExportSpaceRequest(as_of=then))
    lines = [line async for piece in pieces for line in piece.lines]

    assert ghosts == {"old"}
    assert len(lines) == 2
    assert '"older":{"memory":"old"}' in lines[1]
    assert not any(item.is_undeclared for item in (await home.lineage("new")).items)


async def test_a_valid_time_narrows_lists_counts_and_exports(home: Calls) -> None:
    """T3 T4 Stated, it leaves out what did not hold; reads by id answer all the same."""
    ended = edge_of("a", "IN", "old", valid_from=START - 9 * DAY, valid_until=START - 5 * DAY)
    first = (await home.upsert(ended)).edge
    second = await home.put_edge("a", "IN", "new", valid_from=START - 5 * DAY)
    at = valid_at(START - 6 * DAY)
    listed = await home.graph.ListEdges(graph_pb2.ListEdgesRequest(as_of=at))
    counts = await home.space_service.CountByType(space_pb2.CountByTypeRequest(as_of=at))
    pieces = home.space_service.ExportSpace(space_pb2.ExportSpaceRequest(as_of=at))
    exported = [line for piece in [p async for p in pieces] for line in piece.lines]

    assert [edge.id for edge in listed.edges] == [first.id]
    assert (counts.nodes, counts.edges) == (3, 1)
    assert sum('"kind":"edge"' in line for line in exported) == 1
    reply = await home.graph.GetEdge(graph_pb2.GetEdgeRequest(id=second.id, peek=True, as_of=at))
    assert reply.status == FOUND
    assert len((await home.graph.ListEdges(graph_pb2.ListEdgesRequest())).edges) == 2


async def test_standing_is_told_for_the_instant_asked_about(home: Calls) -> None:
    """T2 T3 T4 A memory read as of before its successor began is current."""
    await home.add("old", id="old", valid_from=valid_at(START - 9 * DAY).valid_time)
    await home.add("new", id="new", valid_from=valid_at(START - DAY).valid_time)
    await home.relate(SUPERSEDES, "new", "old")
    before = valid_at(START - 2 * DAY)
    request = memory_pb2.GetMemoryRequest(id="old", peek=True, as_of=before)
    memory = (await home.memory.GetMemory(request)).memory

    assert not memory.supersession.is_superseded
    assert list(memory.supersession.head_ids) == ["old"]
    assert micros(memory.supersession.superseded_from) == START - DAY
    assert await home.listed(as_of=before) == ["old"]
    assert await home.listed() == ["new"]


async def test_a_page_token_is_bound_to_its_instant(home: Calls) -> None:
    """T3 The next page of one instant is no page of another."""
    for name in "abc":
        await home.put_node(name)
    request = graph_pb2.ListNodesRequest(page_size=1, as_of=known_at(START + DAY))
    request.page_token = (await home.graph.ListNodes(request)).next_page_token

    assert [n.name for n in (await home.graph.ListNodes(request)).nodes] == ["b"]
    request.as_of.CopyFrom(known_at(START + 2 * DAY))
    assert await reason(home.graph.ListNodes(request)) == "ERROR_REASON_PAGE_TOKEN_INVALID"


async def test_an_instant_that_states_nothing_is_now(home: Calls) -> None:
    """T3 An empty `as_of` is none: nothing is left out by time."""
    await home.put_edge("a", "IN", "b", valid_from=START + DAY)
    empty = graph_pb2.ListEdgesRequest()
    empty.as_of.SetInParent()

    assert len((await home.graph.ListEdges(empty)).edges) == 1
    assert len((await home.graph.ListEdges(graph_pb2.ListEdgesRequest())).edges) == 1


async def test_states_as_of_an_instant(live: World, home: Calls) -> None:
    """T3 S10 The version of then, its last change by then, and its supersession as asked."""
    await home.add("old", id="old", valid_from=valid_at(START - 9 * DAY).valid_time)
    await home.add("new", id="new", valid_from=valid_at(START - DAY).valid_time)
    then = live.clock() + SECOND
    live.clock.pass_(DAY)
    await home.relate(SUPERSEDES, "new", "old")

    async def asked(valid: int | None, record: int | None) -> feed_pb2.Revision:
        as_of = type_pb2.AsOf(
            valid_time=None if valid is None else stamp(valid),
            record_time=None if record is None else stamp(record),
        )
        refs = [feed_pb2.RevisionRef(id="old")]
        request = feed_pb2.BatchGetRevisionsRequest(space=home.space, refs=refs, as_of=as_of)
        return (await home.feed.BatchGetRevisions(request)).revisions[0]

    before, after = await asked(None, then), await asked(None, None)
    assert not before.memory.supersession.is_superseded
    assert list(after.memory.supersession.head_ids) == ["new"]
    assert before.seq < after.seq
    assert not (await asked(START - 2 * DAY, None)).memory.supersession.is_superseded
    assert not (await asked(None, START - 1)).HasField("memory")
