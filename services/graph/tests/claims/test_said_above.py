"""Who stands above says what only lower writers wrote before: from then on it is theirs (W9)."""

from __future__ import annotations

import pytest
from claim_world import ada, add, claims, helper, said, update
from concord.graph.v1 import conflict_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.usecases.memory import memories
from concord_graph.usecases.write.standing_guard import StandingGuard
from graph_world import DAY, START, World, edge_of, fact, stamp

POTENTIAL = conflict_pb2.CONFLICT_STATE_POTENTIAL


@pytest.fixture(params=["kept", "without the rule"])
async def rules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the rule is there: each test says what it would be without it."""
    if request.param == "kept":
        return True

    async def no(*_: object) -> bool:
        return False

    async def nothing(*_: object) -> None: ...

    monkeypatch.setattr(memories, "is_above", no)
    monkeypatch.setattr(memories, "take_back_lower", nothing)
    monkeypatch.setattr(StandingGuard, "is_above", no)
    return False


async def test_words_that_an_agent_wrote_before_hold_as_the_person_says(
    live: World, rules: bool
) -> None:
    """W9 M5 No earlier end, no lower importance and no missing fact of a lower writer's is left."""
    person, agent = ada(live), helper(live)
    soon = stamp(START + DAY)
    early = await agent.add(
        "The key is here.", valid_until=soon, importance=type_pb2.IMPORTANCE_LOW, tags=["own"]
    )
    own = [fact("key", "IS_AT", "door")]

    reply = await add(person, "The key is here.", facts=own, importance=type_pb2.IMPORTANCE_HIGH)
    live.clock.pass_(2 * DAY)

    memory = await person.get(early.id)
    assert not reply.created
    assert list(memory.tags) == ["own"]
    assert (early.id in await person.listed()) == rules
    assert (memory.importance == type_pb2.IMPORTANCE_HIGH) == rules
    assert ([each.object for each in memory.facts] == ["door"]) == rules
    assert memory.words_origin == type_pb2.ORIGIN_HUMAN
    again = await add(person, "The key is here.", facts=own)
    assert (again.memory.etag == memory.etag) == rules


async def test_an_import_brings_back_what_only_an_agent_forgot(live: World, rules: bool) -> None:
    """W8 W9 M5 A forgotten memory of a lower writer's swallows no words, a person's does."""
    person, agent = ada(live), helper(live)
    await agent.forget(await agent.add("x", id="a", external_id="note"))
    await person.forget(await person.add("gone", id="b"))
    nuts = type_pb2.Memory(content="I am allergic to nuts.", id="a", external_id="note")

    reply = await person.batch(
        [nuts, type_pb2.Memory(id="b", content="gone")], update_existing=True
    )

    kept = [each.outcome for each in reply.results]
    unchanged = memory_pb2.BATCH_OUTCOME_UNCHANGED
    assert kept == [memory_pb2.BATCH_OUTCOME_UPDATED if rules else unchanged, unchanged]
    assert ((await person.get("a")).content == nuts.content) == rules
    assert ("a" in await person.listed()) == rules
    assert "b" not in await person.listed()


async def test_a_turn_that_an_agent_forgot_is_said_again(live: World, rules: bool) -> None:
    """W8 W9 M2 An import of a chat keeps every turn."""
    person, agent = ada(live), helper(live)
    (turn,) = await agent.append("s", ("Ada", "I moved."), external_id="t1")
    await agent.forget(turn)

    await person.append("s", ("Ada", "I moved."), external_id="t1")

    memory = await person.get(turn.id)
    assert memory.HasField("forget_time") != rules
    if rules:  # it is the person's now
        forgets = memory_pb2.ForgetMemoryRequest(
            request_id=agent.request_id(), id=turn.id, etag=memory.etag
        )
        assert said(await agent.memory.ForgetMemory(forgets)) == [("FORGET", turn.id, "")]


async def test_an_agents_lineage_does_not_hide_what_a_person_writes_into_its_memory(
    live: World, rules: bool
) -> None:
    """W9 T1 By a batch or an update: the lineage only claims from then on."""
    person, agent = ada(live), helper(live)
    for name in ("a", "b"):
        await agent.add("x", id=name)
        await agent.add(f"Supersedes: [[memory:{name}]]", id=f"over-{name}")
    own = type_pb2.Memory(id="a", content="The gate is open.")

    by_batch = await person.batch([own], update_existing=True)
    memory = await person.get("b")
    memory.content = "The door is open."
    by_update = await update(person, memory, "content")

    expected = [("SUPERSEDE", "a", "over-a")], [("SUPERSEDE", "b", "over-b")]
    assert (said(by_batch), said(by_update)) == (expected if rules else ([], []))
    assert [each.claimant for each in await claims(person)] == (["helper"] * 2 if rules else [])
    assert ({"a", "b"} <= set(await person.listed())) == rules


async def test_a_tag_of_a_person_takes_no_lineage_back(live: World) -> None:
    """W9 T1 Who does not write the words of a memory leaves it replaced."""
    person, agent = ada(live), helper(live)
    await agent.add("x", id="a")
    await agent.add("Supersedes: [[memory:a]]", id="b")
    memory = await person.get("a")
    memory.tags.append("seen")

    await update(person, memory, "tags")

    assert "a" not in await person.listed()
    assert await claims(person) == []


async def test_a_contradiction_of_an_id_that_a_person_uses_later_is_potential(
    live: World, rules: bool
) -> None:
    """W9 D5 M3 Whoever guesses an id does not confirm a conflict with what is written there."""
    person, agent = ada(live), helper(live)
    await agent.add("Closed.\n\nContradicts: [[memory:gate]]", id="trap")

    reply = await add(person, "The gate is open.", id="gate")

    (found,) = (
        await person.conflict.ListConflicts(conflict_pb2.ListConflictsRequest(item_ids=["gate"]))
    ).conflicts
    assert said(reply) == []
    assert (found.state == POTENTIAL) == rules
    health = (await person.get("gate")).health.status
    assert (health != type_pb2.HEALTH_STATUS_AT_RISK) == rules


async def test_a_persons_batch_of_an_agents_words_is_on_record(live: World, rules: bool) -> None:
    """W9 M5 Once: the words stand as theirs, so no agent forgets them and an undo leaves them."""
    person, agent = ada(live), helper(live)
    early = await agent.add("The sea is cold.")
    same = [type_pb2.Memory(content="The sea is cold.")]

    first = await person.batch(same)
    memory = await person.get(early.id)
    second = await person.batch(same)

    assert first.results[0].memory_id == second.results[0].memory_id == early.id
    assert second.results[0].outcome == memory_pb2.BATCH_OUTCOME_UNCHANGED
    assert (await person.get(early.id)).etag == memory.etag
    assert memory.words_origin == type_pb2.ORIGIN_AGENT  # an import raises nobody's words
    forgets = memory_pb2.ForgetMemoryRequest(
        request_id=agent.request_id(), id=early.id, etag=memory.etag
    )
    assert bool(said(await agent.memory.ForgetMemory(forgets))) == rules


async def test_an_edge_that_an_agent_wrote_before_holds_as_the_person_says(
    live: World, rules: bool
) -> None:
    """W9 G2 M1 Said of the edge itself, and by a memory's fact: without the agent's end."""
    person, agent = ada(live), helper(live)
    for what in ("tea", "rum"):
        await agent.put_edge("Ada", "LIKES", what, valid_until=START + DAY, weight=0.01)

    stated = await person.upsert(edge_of("Ada", "LIKES", "tea"))
    memory = await person.add("I like rum.", facts=[fact("Ada", "LIKES", "rum")])
    live.clock.pass_(2 * DAY)

    there = {each.neighbor.name for each in (await person.neighbors("Ada")).neighbors}
    assert there == ({"tea", "rum"} if rules else set())
    assert (memory.id in await person.listed()) == rules
    assert (stated.edge.weight == 1.0) == rules
    again = await agent.upsert(edge_of("Ada", "LIKES", "tea", weight=0.01))
    assert bool(said(again)) == rules
