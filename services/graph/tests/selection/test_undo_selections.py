"""Operations by principal, session and import: listed, and undone (W9)."""

from claim_world import ada, helper
from concord.graph.v1 import graph_pb2, memory_pb2, space_pb2, undo_pb2
from concord.type.v1 import type_pb2
from graph_world import Calls, World, fact, stamp
from undo_world import by_principal, later, left, undo, undone


async def test_what_a_session_and_an_import_did_is_listed_and_undone(
    live: World, home: Calls
) -> None:
    """W9 Whatever the requests did that wrote a session's memories, turns and notes, or that an
    importer named: nodes and edges, too, and nothing else of the same principal."""
    agent, person = helper(live), ada(live)
    other = await agent.add("Cake is on Friday.", session_id="s2")
    mine = await agent.add("Tea.", facts=[fact("tea", "AT", "four")], session_id="s1")
    await agent.append("s1", ("Ada", "Hello."))
    batch = [
        memory_pb2.BatchAddMemoriesRequest(
            header=memory_pb2.BatchHeader(request_id="import-abc-1", memory_count=1)
        ),
        memory_pb2.BatchAddMemoriesRequest(memory=type_pb2.Memory(content="Bread.")),
    ]
    added = await agent.memory.BatchAddMemories(iter(batch))
    bread = added.results[0].memory_id
    near = memory_pb2.AddMemoryRequest(
        request_id="import-abcd-1", memory=type_pb2.Memory(content="Butter.")
    )
    butter = (await agent.memory.AddMemory(near)).memory

    of_session = await home.operations(session_id="s1")
    of_import = await home.operations(import_id="abc")
    session = undo_pb2.UndoSelection(session_id="s1", since=stamp(0))
    imported = undo_pb2.UndoSelection(import_id="abc", since=stamp(0))
    by_session, by_import = await undo(person, session), await undo(person, imported)

    assert len(of_session) == 5, "two nodes, an edge, a memory and a turn"
    assert [each.item_id for each in of_import] == [bread]
    assert mine.id in undone(by_session)
    assert undone(by_import) == {bread: 0}
    for kept in (other.id, butter.id):
        assert not (await home.get(kept)).HasField("forget_time")
    assert [each.name for each in await live_nodes(home)] == []


async def test_pages_of_a_principals_operations_join(live: World, home: Calls) -> None:
    """W9 G14 A principal's operations since a time come page by page, each once."""
    agent = helper(live)
    await agent.add("Before.")
    since = later(live)
    made = [await agent.add(f"Thing {number}.") for number in range(5)]
    await ada(live).add("Mine.")

    seen: list[str] = []
    token = ""
    while True:
        request = space_pb2.ListOperationsRequest(
            principal="helper", since=since, page_size=2, page_token=token
        )
        reply = await home.space_service.ListOperations(request)
        seen += [each.item_id for each in reply.operations]
        token = reply.next_page_token
        if not token:
            break

    assert seen == [each.id for each in reversed(made)]


async def live_nodes(calls: Calls) -> list[type_pb2.Node]:
    """Return the nodes of the first page."""
    reply = await calls.graph.ListNodes(graph_pb2.ListNodesRequest())
    return list(reply.nodes)


async def test_memories_are_listed_by_who_wrote_them_first(live: World, home: Calls) -> None:
    """W9 Whoever changes a memory, it is its first writer's: shown, and listed by that."""
    agent, person = helper(live), ada(live)
    memory, other = await agent.add("Tea is at four."), await person.add("Cake is on Friday.")
    memory = await person.get(memory.id)
    memory.tags.append("checked")
    changed = await person.update(memory, "tags")
    await agent.add(f"Tea is at six.\n\nSupersedes: [[memory:{memory.id}]]", id="newest")

    for principal, ids in (("helper", {memory.id, "newest"}), ("ada", {other.id}), ("eve", set())):
        request = memory_pb2.ListMemoriesRequest(
            filter=memory_pb2.MemoryFilter(principal=principal), include_superseded=True
        )
        found = (await home.memory.ListMemories(request)).memories
        assert {each.id for each in found} == ids
        assert {each.principal for each in found} == ({principal} if ids else set())

    assert changed.principal == (await home.get(memory.id)).principal == "helper"


async def test_an_edge_that_anothers_memory_states_since_is_left(live: World) -> None:
    """W9 With its ends: what a person or another agent says stays in the graph, whoever wrote its
    edge first."""
    agent, person, other = helper(live), ada(live), helper(live, principal="other")
    loves = await agent.put_edge("Lena", "LOVES", "Lou")
    likes = await agent.put_edge("Lena", "LIKES", "Lou")
    alone = await agent.put_edge("Lena", "KNOWS", "Lou")
    await person.add("Lena loves Lou.", id="a", facts=[fact("Lena", "LOVES", "Lou")])
    await other.add("Lena likes Lou.", id="b", facts=[fact("Lena", "LIKES", "Lou")])

    summary = await undo(person, by_principal("helper"))

    needed = dict.fromkeys({likes.id, loves.source.id, loves.target.id}, "NEEDED")
    assert undone(summary) == {alone.id: 0}
    assert left(summary) == needed | {loves.id: "CHANGED"}
    around = (await person.neighbors("Lena")).neighbors
    assert {each.edge.relation for each in around} == {"LOVES", "LIKES"}
