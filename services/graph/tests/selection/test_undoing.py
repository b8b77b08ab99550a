"""Undoing what a principal did since a time (W9)."""

import grpc
import pytest
from claim_world import ada, helper
from concord.graph.v1 import episode_pb2, undo_pb2
from concord_graph.usecases.selection import undoing
from concord_graph.usecases.selection.put_back import put_back
from graph_world import CONTRADICTS, Calls, World, fact, reason
from undo_world import by_principal, heads, later, left, look, undo, undo_looked_at, undone

CHANGED = "ERROR_REASON_SELECTION_CHANGED"


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


async def test_a_fact_that_others_state_stays(live: World, home: Calls) -> None:
    """W9 M1 An edge of facts follows those that state it: it stays as long as one does."""
    agent, person = helper(live), ada(live)
    await agent.add("Tea is a drink.", facts=[fact("tea", "KIND", "drink")])
    await agent.add("Cake is food.", facts=[fact("cake", "KIND", "food")])
    mine = await person.add("I say tea is a drink.", facts=[fact("tea", "KIND", "drink")])

    summary = await undo(person, by_principal("helper"))

    edge = await home.get_triple("tea", "KIND", "drink")
    assert list(edge.sources) == [mine.id]
    assert set(left(summary).values()) == {"NEEDED"}, "the two nodes of the person's fact"


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
    calls = 0

    async def power_cut(*given: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RuntimeError("a power cut")
        await put_back(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(undoing, "put_back", power_cut)
    with pytest.raises(grpc.RpcError):
        await person.undo.UndoOperations(request)
    monkeypatch.setattr(undoing, "put_back", put_back)
    unfinished = (await look(person, by_principal("helper"))).unfinished_digest
    summary = await undo_looked_at(person, by_principal("helper"), seen.digest)
    again = await undo_looked_at(person, by_principal("helper"), seen.digest)

    assert (first.complete, first.remaining_count) == (False, 6)
    assert unfinished == seen.digest
    assert again == summary
    assert undone(summary).keys() == {each.id for each in made}
    assert {(await home.get(each.id)).HasField("forget_time") for each in made} == {True}
    assert all([len(await home.operations(item_id=each.id)) == 2 for each in made])


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
    """W9 T2 A relation that an agent declared is not listed any more; former values come back."""
    agent, person = helper(live), ada(live)
    rome = await agent.put_edge("Ada", "LIVES_IN", "Rome", valid_from=1)
    await agent.put_edge("Ada", "LIVES_IN", "Oslo", valid_from=2)
    since = later(live)
    await agent.declare("LIVES_IN")
    assert (await home.get_edge(rome.id)).supersession.is_superseded

    summary = await undo(person, by_principal("helper", since))

    assert left(summary) == {}
    assert await home.declared() == {}
    assert not (await home.get_edge(rome.id)).supersession.is_superseded
    await person.declare("LIVES_IN", functional=False)
    assert await home.declared() == {"LIVES_IN": False}


async def test_a_selection_has_a_largest_size(live: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """W9 A look shows how many there are; of more than 10,000 an undo begins none."""
    agent, person = helper(live), ada(live)
    for number in range(2):
        await agent.add(f"Thing {number}.")
    monkeypatch.setattr(undoing, "MOST_SELECTED", 1)
    seen = await look(person, by_principal("helper"))

    why = await reason(undo_looked_at(person, by_principal("helper"), seen.digest))

    assert seen.undone_count == 2
    assert why == "ERROR_REASON_SELECTION_TOO_LARGE"
