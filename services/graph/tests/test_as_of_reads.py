"""Reads as of another instant, beyond what a replay of the record shows (test_replay_oracle)."""

from concord.graph.v1 import feed_pb2, graph_pb2, memory_pb2
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
    fact,
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


async def test_a_request_is_known_from_one_instant_on(home: Calls) -> None:
    """T3 T1 Who asks what was known when a memory came sees what came with it, or none of it."""
    old = await home.add("Tea is served at four.")
    new = await home.add(f"Tea is served at five.\n\nSupersedes: [[memory:{old.id}]]")
    when = micros(new.create_time)

    for known, heads in ((when - 1, [old.id]), (when, [new.id])):
        seen = await home.memory.GetMemory(
            memory_pb2.GetMemoryRequest(id=old.id, as_of=known_at(known))
        )
        assert seen.memory.supersession.is_superseded == (known >= when)
        assert list(seen.memory.supersession.head_ids) == heads
    told = [change for change in await home.changes() if change.seq > 1]
    assert {micros(change.record_time) for change in told} == {when}


async def test_what_a_batch_says_comes_one_after_the_other(home: Calls) -> None:
    """T3 T2 Of a functional relation the later item of a batch is the one that holds."""
    await home.declare("LIVES_IN")
    facts = [fact("Ada", "LIVES_IN", town) for town in ("Bonn", "Oslo")]
    await home.batch([type_pb2.Memory(id=f.object, content=f.object, facts=[f]) for f in facts])
    first, second = [micros((await home.get(f.object)).create_time) for f in facts]

    assert first < second
    assert await home.listed() == ["Oslo"]
    assert await home.listed(as_of=known_at(first)) == ["Bonn"]


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
