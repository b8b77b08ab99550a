"""An amended item lists its live amendments wherever it is read (T4)."""

from concord.graph.v1 import graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from graph_world import AMENDS, DAY, Calls, Parties, World, by_id, stamp


def listed(item: type_pb2.Memory | type_pb2.Edge) -> list[str]:
    """Return the amendments that an item lists."""
    return list(item.supersession.amendment_ids)


async def test_an_amended_memory_lists_its_amendments_wherever_it_is_read(home: Calls) -> None:
    """T4 By id, in lists, to the index's reader and in its lineage; what it amends lists none."""
    for content in ("The gate opens at 9.", "The bell rings at 10."):
        await home.add(content, id=content.split()[1])
    await home.add("It opens at 8 in May. Amends: [[memory:gate]]", id="may")
    await home.add("It opens at 7 in June. Amends: [[memory:gate]]", id="june")

    listing = await home.memory.ListMemories(memory_pb2.ListMemoriesRequest())
    written = await home.update(await home.get("gate"), "content")
    chain = await home.lineage("gate")

    wanted = {"gate": ["may", "june"], "bell": [], "may": [], "june": []}
    assert {memory.id: listed(memory) for memory in listing.memories} == wanted
    assert {each: listed(await home.get(each)) for each in wanted} == wanted
    states = await home.states(*((each, 0) for each in wanted))
    assert {state.memory.id: listed(state.memory) for state in states} == wanted
    assert listed(written) == ["may", "june"]
    assert {i.id: list(i.supersession.amendment_ids) for i in chain.items} == {
        each: ids for each, ids in wanted.items() if each != "bell"
    }


async def test_an_amended_edge_lists_its_amendments_wherever_it_is_read(home: Calls) -> None:
    """T4 By id and triple, around a node, on a path and in lists."""
    edge = await home.put_edge("Gate", "OPENS_AT", "Nine")
    more = await home.put_edge("Gate", "OPENS_IN_MAY_AT", "Eight")
    await home.relate(AMENDS, more.id, edge.id)

    around = await home.neighbors("Gate")
    further = await home.neighbors("Gate", depth=2)
    path = (await home.paths("Gate", "Nine")).paths[0]
    listing = await home.graph.ListEdges(graph_pb2.ListEdgesRequest())
    first = await home.neighbors(by_id(edge.id), include_resolutions=True)

    assert listed(await home.get_edge(edge.id)) == [more.id]
    assert listed(await home.get_triple("Gate", "OPENS_AT", "Nine")) == [more.id]
    for edges in (
        [each.edge for each in around.neighbors],
        [each.edge for each in further.neighbors],
        list(path.edges),
        list(listing.edges),
    ):
        assert {each.id: listed(each) for each in edges}[edge.id] == [more.id]
    assert listed(await home.get_edge(more.id)) == []
    assert first is not None


async def test_what_is_listed_holds_then(live: World, home: Calls) -> None:
    """T4 T3 Neither what is forgotten or superseded, nor what has ended or not begun then."""
    await home.add("The gate opens at 9.", id="gate", valid_from=stamp(live.clock() - 9 * DAY))
    before = live.clock()
    live.clock.pass_(DAY)
    may = await home.add("At 8 in May. Amends: [[memory:gate]]", id="may")
    later = live.clock() + 9 * DAY
    await home.add("At 6 then. Amends: [[memory:gate]]", id="later", valid_from=stamp(later))
    live.clock.pass_(DAY)
    now = live.clock()
    live.clock.pass_(DAY)

    async def seen(**as_of: int) -> list[str]:
        at = type_pb2.AsOf(**{name: stamp(time) for name, time in as_of.items()})
        request = memory_pb2.GetMemoryRequest(id="gate", as_of=at, peek=True)
        listing = memory_pb2.ListMemoriesRequest(as_of=at)
        reply = await home.memory.ListMemories(listing)
        of_list = [listed(memory) for memory in reply.memories if memory.id == "gate"]
        read = listed((await home.memory.GetMemory(request)).memory)
        assert of_list == [read]
        return read

    assert await seen() == ["may"]
    assert await seen(valid_time=later) == ["may", "later"]
    assert await seen(valid_time=before) == []
    assert await seen(record_time=before) == []
    await home.add("At 7 in May. Supersedes: [[memory:may]]", id="again")
    assert await seen() == []
    assert await seen(record_time=now) == ["may"]
    await home.forget(await home.get("again"))
    assert await seen() == ["may"]
    await home.forget(may)
    assert await seen() == []


async def test_lineage_that_is_void_amends_nothing(home: Calls, parties: Parties) -> None:
    """G4 T4 What was said of a ghost does not amend what both have agreed on."""
    await home.add("It is otherwise. Amends: [[memory:core]]", id="note")
    await parties.constitutive_memory(home, "core")

    assert listed(await home.get("core")) == []
