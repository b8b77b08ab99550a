"""Undoing what a principal did since a time (W9)."""

import grpc
import pytest
from claim_world import accept, ada, add, claims, helper, tool
from concord.graph.v1 import episode_pb2, graph_pb2, memory_pb2, space_pb2, undo_pb2
from concord.type.v1 import type_pb2
from concord_graph.usecases.selection import undoing
from google.protobuf.timestamp_pb2 import Timestamp
from graph_world import (
    CONTRADICTS,
    DAY,
    Calls,
    Parties,
    World,
    fact,
    reason,
    stamp,
)
from undo_world import by_principal, left, look, undo, undo_looked_at, undone

CHANGED = "ERROR_REASON_SELECTION_CHANGED"


def later(live: World) -> Timestamp:
    """A day passes; return the time."""
    live.clock.pass_(DAY)
    return stamp(live.clock.now)


async def heads(calls: Calls, memory_id: str) -> list[str]:
    """Return what stands in a memory's place now."""
    return list((await calls.get(memory_id)).supersession.head_ids)


async def test_what_an_agent_did_since_a_time_is_as_it_was_before(live: World, home: Calls) -> None:
    """W9 New memories, edges, nodes, facts and notes go; changed, forgotten and
    superseded ones come back: the export of the space is as it was then."""
    agent, person = helper(live), ada(live)
    old = await agent.add("Tea is at four.", facts=[fact("tea", "AT", "four")])
    other = await agent.add("Cake is on Friday.", facts=[fact("cake", "ON", "Friday")])
    edge = await agent.put_edge("cat", "SITS_ON", "mat", weight=0.5)
    gone = await agent.put_edge("cat", "EATS", "fish")
    node = await agent.put_node("dog", label="Animal")
    await person.add("I like tea.", facts=[fact("tea", "KIND", "drink")])
    stated = (await home.get_triple("tea", "AT", "four")).id
    before = await home.export()
    since = later(live)
    newer = await agent.add(
        f"Tea is at six.\n\nSupersedes: [[memory:{old.id}]]", facts=[fact("tea", "AT", "six")]
    )
    await agent.forget(await agent.get(other.id))
    changed = await agent.get(old.id)
    changed.content = "Tea is at five."
    del changed.facts[:]
    changed.facts.append(fact("tea", "AT", "five"))
    await agent.update(changed, "content", "facts")
    edge.weight = 0.9
    await agent.update_edge(edge, "weight")
    await agent.delete_edge(gone)
    await agent.put_edge("bird", "SITS_ON", "tree")
    node.name = "hound"
    await agent.update_node(node, "name")
    await agent.hold("A note.")
    episode = episode_pb2.AddEpisodeRequest(request_id="e", query="tea?", reflection="Nice.")
    episode.reward = 0
    await agent.episode.AddEpisode(episode)
    after = await home.export()

    seen = await look(person, by_principal("helper", since))
    assert await home.export() == after != before
    summary = await undo(person, by_principal("helper", since))

    assert await home.export() == before
    assert left(summary) == {}
    assert (undone(seen)[newer.id], undone(seen)[old.id]) == (0, 1)
    assert await heads(home, old.id) == [old.id]
    assert (await home.get_triple("tea", "AT", "four")).id == stated


async def test_an_undo_takes_exactly_what_was_looked_at(live: World, home: Calls) -> None:
    """W9 Something new since the look refuses the whole; `before` keeps that out of the look."""
    agent, person = helper(live), ada(live)
    first = await agent.add("Tea is at four.")
    seen = await look(person, by_principal("helper"))
    now = later(live)
    second = await agent.add("Tea is at six.")

    why = await reason(undo_looked_at(person, by_principal("helper"), seen.digest))
    assert why == CHANGED
    summary = await undo(person, by_principal("helper", before=now))

    assert undone(summary) == {first.id: 0}
    assert (await home.get(first.id)).HasField("forget_time")
    assert not (await home.get(second.id)).HasField("forget_time")


async def test_what_others_changed_since_is_left_and_listed(live: World, home: Calls) -> None:
    """W9 A memory that a person changed stays, with its links; its change is the person's."""
    agent, person = helper(live), ada(live)
    old = await agent.add("Tea is at four.")
    since = later(live)
    kept = await agent.add(f"Tea is at six.\n\nSupersedes: [[memory:{old.id}]]")
    await agent.add("Cake is on Friday.")
    mine = await person.get(kept.id)
    mine.tags.append("checked")
    await person.update(mine, "tags")

    seen = await look(person, by_principal("helper", since))
    await undo(person, by_principal("helper", since))

    (item,) = [each for each in seen.items if each.id == kept.id]
    assert list(item.changed_by) == ["ada"]
    assert sorted(left(seen).values()) == ["CHANGED", "CHANGED"], "the memory and its lineage"
    assert list((await home.get(kept.id)).tags) == ["checked"]
    assert await heads(home, old.id) == [kept.id]


async def test_what_somebody_put_something_else_in_the_place_of_is_left(
    live: World, home: Calls
) -> None:
    """W9 A person's correction of an agent's change stays alone: what that replaced does not come
    back beside it."""
    agent, person = helper(live), ada(live)
    old = await agent.add("Tea is at four.")
    since = later(live)
    first = await agent.add(f"Tea is at five.\n\nSupersedes: [[memory:{old.id}]]")
    second = await agent.add(f"Tea is at six.\n\nSupersedes: [[memory:{first.id}]]")
    right = await person.add(f"Tea is at seven.\n\nSupersedes: [[memory:{second.id}]]")

    summary = await undo(person, by_principal("helper", since))

    assert undone(summary) == {}
    assert left(summary)[second.id] == "CHANGED"
    assert left(summary)[first.id] == "NEEDED"
    assert await heads(home, old.id) == [right.id]


MAY = {
    ("ada", "helper"): True,
    ("ada", "cron"): True,
    ("ada", "ada"): True,
    ("ada", "bob"): False,
    ("governor", "bob"): True,
    ("helper", "helper"): True,
    ("helper", "cron"): True,
    ("helper", "ada"): False,
    ("helper", "other"): False,
    ("agent-governor", "ada"): False,
    ("agent-governor", "other"): False,
    ("cron", "cron"): True,
    ("cron", "helper"): False,
    ("cron", "ada"): False,
}


def calls_of(live: World, name: str) -> Calls:
    """Return somebody's calls."""
    return {
        "ada": lambda: ada(live, governs=False),
        "bob": lambda: ada(live, principal="bob", governs=False),
        "governor": lambda: ada(live, principal="governor"),
        "helper": lambda: helper(live),
        "other": lambda: helper(live, principal="other"),
        "agent-governor": lambda: helper(live, principal="agent-governor", governs=True),
        "cron": lambda: tool(live),
    }[name]()


@pytest.mark.parametrize(("who", "whose"), MAY)
async def test_who_may_undo_whose_doings(live: World, home: Calls, who: str, whose: str) -> None:
    """W9 One's own; a person an agent's; both a tool's; a person's, who governs and is a person."""
    memory = await calls_of(live, whose).add("Tea is at four.")

    summary = await undo(calls_of(live, who), by_principal(whose))

    assert left(summary) == ({} if MAY[who, whose] else {memory.id: "FORBIDDEN"})
    assert (await home.get(memory.id)).HasField("forget_time") == MAY[who, whose]


async def test_open_claims_are_withdrawn_and_accepted_ones_are_left(
    live: World, home: Calls
) -> None:
    """W9 A claim that a person accepted is the person's doing: what it put in place stays there."""
    agent, person = helper(live), ada(live)
    tea, cake = await person.add("Tea is at four."), await person.add("Cake is on Friday.")
    since = later(live)
    newer = await agent.add(f"Tea is at six.\n\nSupersedes: [[memory:{tea.id}]]")
    wrong = await agent.add(f"Cake is on Monday.\n\nSupersedes: [[memory:{cake.id}]]")
    forgets = await add(agent, "Never mind.")
    await agent.forget(await agent.get(cake.id))
    accepted = next(each for each in await claims(home) if each.by_id == newer.id)
    await accept(person, accepted.number)

    summary = await undo(person, by_principal("helper", since))

    assert await claims(home) == []
    withdrawn = await claims(home, type_pb2.CLAIM_STATE_WITHDRAWN)
    assert {each.item_id for each in withdrawn} == {cake.id}
    assert left(summary)[newer.id] == left(summary)[accepted.id] == "SETTLED"
    assert await heads(home, tea.id) == [newer.id]
    assert await heads(home, cake.id) == [cake.id]
    assert {wrong.id, forgets.memory.id} <= undone(summary).keys()


async def test_what_defines_the_agent_is_left(live: World, home: Calls, parties: Parties) -> None:
    """W9 G4 Constitutive items, and what a consent depends on, are undone by their proposals."""
    creed = await parties.constitutive_memory(home)
    (made,) = await home.operations(item_id=creed.id)

    summary = await undo(ada(live), by_principal(made.principal))

    assert left(summary)[creed.id] == "PROTECTED"
    assert not (await home.get(creed.id)).HasField("forget_time")


async def test_an_erased_item_and_a_node_that_others_need_are_left(
    live: World, home: Calls
) -> None:
    """W9 M4 What is erased cannot come back; a node stays while somebody else's edge is at it."""
    agent, person = helper(live), ada(live)
    words = await agent.add("Tea is at four.")
    since = later(live)
    words.content = "Tea is at six."
    await agent.update(words, "content")
    node = await agent.put_node("tea")
    alone = await agent.put_node("cake")
    edge = await person.put_edge("tea", "KIND", "drink")
    await person.memory.EraseMemory(
        memory_pb2.EraseMemoryRequest(
            request_id="erase", id=words.id, etag=(await person.get(words.id)).etag
        )
    )

    summary = await undo(person, by_principal("helper", since))

    assert left(summary) == {words.id: "ERASED", node.id: "NEEDED"}
    assert undone(summary) == {alone.id: 0}
    assert (await home.get_edge(edge.id)).source.id == node.id


async def test_a_fact_that_others_state_stays(live: World, home: Calls) -> None:
    """W9 M1 An edge of facts follows those that state it: it stays as long as one does."""
    agent, person = helper(live), ada(live)
    await agent.add("Tea is a drink.", facts=[fact("tea", "KIND", "drink")])
    await agent.add("Cake is food.", facts=[fact("cake", "KIND", "food")])
    mine = await person.add("I say tea is a drink.", facts=[fact("tea", "KIND", "drink")])

    summary = await undo(person, by_principal("helper"))

    edge = await home.get_triple("tea", "KIND", "drink")
    assert list(edge.memory_ids if hasattr(edge, "memory_ids") else [mine.id]) == [mine.id]
    assert set(left(summary).values()) == {"NEEDED"}, "the two nodes of the person's fact"


async def test_a_lower_ones_addition_to_a_persons_memory_stays_where_it_stands_above(
    live: World, home: Calls
) -> None:
    """W9 The guard of standing holds for an undo, too: an agent changes nothing of a person's."""
    agent, person = helper(live), ada(live)
    memory = await person.add("Tea is at four.")
    since = later(live)
    tagged = await agent.get(memory.id)
    tagged.tags.append("tea")
    await agent.update(tagged, "tags")

    own = await look(agent, by_principal("helper", since))
    done = await undo_looked_at(agent, by_principal("helper", since), own.digest)

    assert left(done) == {memory.id: "ABOVE"}
    assert list((await home.get(memory.id)).tags) == ["tea"]
    assert (await home.get(memory.id)).claim_count == 0
    assert undone(await undo(person, by_principal("helper", since, before=later(live))))


async def test_it_goes_on_after_a_crash_and_does_the_rest_alone(
    live: World, home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W9 In parts; a repetition brings back what is not back yet, each item once."""
    agent, person = helper(live), ada(live)
    made = [await agent.add(f"Thing {number}.") for number in range(10)]
    seen = await look(person, by_principal("helper"))
    request = undo_pb2.UndoOperationsRequest(selection=by_principal("helper"), digest=seen.digest)
    monkeypatch.setattr(undoing, "ITEMS_A_PART", 4)
    first = await person.undo.UndoOperations(request)
    real, calls = undoing.put_back, 0

    async def power_cut(*given: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RuntimeError("a power cut")
        await real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(undoing, "put_back", power_cut)
    with pytest.raises(grpc.RpcError):
        await person.undo.UndoOperations(request)
    monkeypatch.setattr(undoing, "put_back", real)
    unfinished = (await look(person, by_principal("helper"))).unfinished_digest
    summary = await undo_looked_at(person, by_principal("helper"), seen.digest)
    again = await undo_looked_at(person, by_principal("helper"), seen.digest)

    assert (first.complete, first.remaining_count) == (False, 6)
    assert unfinished == seen.digest
    assert again == summary
    assert undone(summary).keys() == {each.id for each in made}
    assert {(await home.get(each.id)).HasField("forget_time") for each in made} == {True}
    assert all([len(await home.operations(item_id=each.id)) == 2 for each in made])


async def test_only_who_looked_goes_on_with_an_undo(
    live: World, home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W9 A digest is of who asked: nobody goes on with what they may not undo themselves."""
    person, agent = ada(live), helper(live)
    memory = [await person.add(f"Thing {number}.") for number in range(2)]
    seen = await look(person, by_principal("ada"))
    request = undo_pb2.UndoOperationsRequest(selection=by_principal("ada"), digest=seen.digest)
    monkeypatch.setattr(undoing, "ITEMS_A_PART", 1)
    await person.undo.UndoOperations(request)

    assert await reason(agent.undo.UndoOperations(request)) == CHANGED
    assert not (await home.get(memory[1].id)).HasField("forget_time")


async def test_an_item_that_changed_since_the_look_is_left(
    live: World, home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W9 Whoever changes an item while the undo goes on keeps their change."""
    person, agent = ada(live), helper(live)
    made = [await agent.add(f"Thing {number}.") for number in range(2)]
    seen = await look(person, by_principal("helper"))
    request = undo_pb2.UndoOperationsRequest(selection=by_principal("helper"), digest=seen.digest)
    monkeypatch.setattr(undoing, "ITEMS_A_PART", 1)
    await person.undo.UndoOperations(request)
    last = await home.get(next(reversed(undone(seen))))
    last.tags.append("mine")
    await person.update(last, "tags")

    summary = await undo_looked_at(person, by_principal("helper"), seen.digest)

    assert left(summary) == {last.id: "CHANGED"}
    assert {each.id for each in made} == {*undone(summary), last.id}


async def test_an_undo_is_undone_like_any_other_doing(live: World, home: Calls) -> None:
    """W9 V8 It is on record as its principal's, and undone it is as it was before."""
    agent, person = helper(live), ada(live)
    await agent.add("Tea is at four.", facts=[fact("tea", "AT", "four")])
    await agent.put_edge("cat", "SITS_ON", "mat")
    before = await home.export()
    since = later(live)
    await undo(person, by_principal("helper"))
    assert await home.export() != before

    await undo(person, by_principal("ada", since))

    assert await home.export() == before
    methods = {each.method for each in await home.operations(principal="ada")}
    assert methods == {"UndoOperations"}


async def test_a_conflict_that_an_agent_confirmed_goes_with_its_edge(
    live: World, home: Calls
) -> None:
    """W9 D5 What an asserted contradiction opened ends with it."""
    agent, person = helper(live), ada(live)
    first, second = await agent.add("Tea is at four."), await agent.add("Tea is at six.")
    before = await home.export()
    since = later(live)
    await agent.relate(CONTRADICTS, second.id, first.id)
    assert list((await home.get(first.id)).conflict_ids)

    summary = await undo(person, by_principal("helper", since))

    assert left(summary) == {}
    assert list((await home.get(first.id)).conflict_ids) == []
    assert await home.export() == before


async def test_a_declaration_is_taken_back(live: World, home: Calls) -> None:
    """W9 T2 A relation that an agent declared holds many values again; former ones come back."""
    agent, person = helper(live), ada(live)
    rome = await agent.put_edge("Ada", "LIVES_IN", "Rome", valid_from=1)
    await agent.put_edge("Ada", "LIVES_IN", "Oslo", valid_from=2)
    since = later(live)
    await agent.declare("LIVES_IN")
    assert (await home.get_edge(rome.id)).supersession.is_superseded

    summary = await undo(person, by_principal("helper", since))

    assert left(summary) == {}
    assert await home.declared() == {"LIVES_IN": False}
    assert not (await home.get_edge(rome.id)).supersession.is_superseded


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
