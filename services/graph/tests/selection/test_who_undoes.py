"""Who may undo whose doings, and what of them is left (W9)."""

import pytest
from claim_world import accept, ada, add, claims, helper, tool
from concord.graph.v1 import memory_pb2, undo_pb2
from concord.type.v1 import type_pb2
from concord_graph.usecases.selection import undoing
from graph_world import SUPERSEDES, Calls, Parties, World, by_id, edge_of, reason
from undo_world import by_principal, heads, later, left, look, undo, undo_looked_at, undone

CHANGED = "ERROR_REASON_SELECTION_CHANGED"


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


async def test_what_a_person_said_as_well_is_left(live: World, home: Calls) -> None:
    """W9 W8 Words that an agent wrote first and a person said since are the person's, too."""
    agent, person = helper(live), ada(live)
    memory = await agent.add("Tea is at four.")
    await person.add("Tea is at four.")

    summary = await undo(person, by_principal("helper"))

    assert left(summary) == {memory.id: "CHANGED"}
    assert not (await home.get(memory.id)).HasField("forget_time")


async def test_lineage_that_would_take_a_persons_item_away_does_not_come_back(
    live: World, home: Calls
) -> None:
    """W9 An agent that took its own lineage back cannot put it back once a person stands there."""
    agent, person = helper(live), ada(live)
    old = await agent.add("Tea is at four.")
    new = await agent.add("Tea is at six.")
    edge = (await agent.relate(SUPERSEDES, new.id, old.id)).edge
    old = await person.get(old.id)
    old.tags.append("mine")
    await person.update(old, "tags")
    since = later(live)
    await agent.delete_edge(await agent.get_edge(edge.id))

    seen = await look(agent, by_principal("helper", since))
    summary = await undo_looked_at(agent, by_principal("helper", since), seen.digest)

    assert left(summary) == {edge.id: "ABOVE"}
    assert await heads(home, old.id) == [old.id]
    assert await claims(home) == []


async def test_lineage_comes_back_in_no_circle(live: World, home: Calls) -> None:
    """W9 L3 What somebody linked the other way round since stays as it is."""
    agent, person = helper(live), ada(live)
    first, second = await agent.add("Tea is at four."), await agent.add("Tea is at six.")
    edge = (await agent.relate(SUPERSEDES, second.id, first.id)).edge
    since = later(live)
    await agent.delete_edge(await agent.get_edge(edge.id))
    await person.relate(SUPERSEDES, first.id, second.id)

    seen = await look(person, by_principal("helper", since))
    summary = await undo_looked_at(person, by_principal("helper", since), seen.digest)

    assert left(summary) == {edge.id: "NEEDED"}
    assert await heads(home, second.id) == [first.id]


async def test_a_node_that_somebody_needs_meanwhile_is_left(
    live: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W9 An edge that is written between two parts keeps its end."""
    agent, person = helper(live), ada(live)
    for name in ("tea", "cake"):
        await agent.put_node(name)
    seen = await look(person, by_principal("helper"))
    request = undo_pb2.UndoOperationsRequest(selection=by_principal("helper"), digest=seen.digest)
    monkeypatch.setattr(undoing, "ITEMS_A_PART", 1)
    await person.undo.UndoOperations(request)
    last = next(reversed(undone(seen)))
    edge = edge_of(by_id(last), "KIND", "food")
    await person.upsert(edge)

    summary = await undo_looked_at(person, by_principal("helper"), seen.digest)

    assert left(summary) == {last: "NEEDED"}
