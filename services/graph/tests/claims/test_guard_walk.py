"""A walk over every write RPC proves the guard; without the guard it fails (W9)."""

from __future__ import annotations

import random

import pytest
from claim_world import ada, helper, tool, writes
from concord_graph.usecases.write.standing_guard import StandingGuard
from graph_world import DAY, World
from walk_of_attacks import ATTACKS, TRIES, Attack, furnish, seen, tried

HARMLESS = {
    "AddEpisode": "a record of an attempt: no item",
    "PutWorkingMemory": "no item: see test_noted_above",
    "RemoveWorkingMemory": "no item: see test_noted_above",
    "ClearWorkingMemory": "no item: see test_noted_above",
    "EndSession": "what was said in it stays",
    "DismissConflicts": "a finding of text moves nothing",
}
"""Why an agent's call of these harms no item."""
HARMS = {
    *("AddMemory", "BatchAddMemories", "UpdateMemory", "ForgetMemory", "EraseMemory"),
    *("AddLineage", "UpsertNode", "UpdateNode", "DeleteNode", "UpsertEdge", "UpdateEdge"),
    *("DeleteEdge", "DeclareRelation", "ResolveConflict", "RestoreMemory"),
}
"""The RPCs by which an agent would harm a person's items if there were no guard."""


def test_every_write_of_an_agents_key_is_tried_or_harmless() -> None:
    """W9 A new RPC is a line in the walk."""
    assert writes() == ATTACKS.keys() | HARMLESS.keys()


@pytest.mark.parametrize("method", ATTACKS)
async def test_no_write_of_an_agent_changes_what_a_person_said(live: World, method: str) -> None:
    """W9 Through no RPC, by no door of it; time passes between."""
    person, agent = ada(live), helper(live, governs=True)
    await furnish(person)
    before, chance = await seen(person), random.Random(method)

    for attack in ATTACKS[method]:
        for _ in range(TRIES if len(ATTACKS[method]) < TRIES else 2):
            await tried(attack, agent, chance)
            live.clock.pass_(DAY)
            assert await seen(person) == before


@pytest.mark.parametrize("method", sorted(HARMS))
async def test_without_the_guard_it_does(
    live: World, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W9 The walk reaches what the guard keeps."""

    async def nobody(*_: object) -> bool:
        return False

    monkeypatch.setattr(StandingGuard, "_stands_above", nobody)
    person, agent = ada(live), helper(live)
    await furnish(person)
    before, chance = await seen(person), random.Random(method)

    for attack in (each for each in ATTACKS[method] for _ in range(TRIES)):
        await tried(attack, agent, chance)
        live.clock.pass_(DAY)
        if await seen(person) != before:
            return
    pytest.fail(f"no {method} reached anything")


@pytest.mark.parametrize("seed", range(4))
async def test_lower_writers_never_change_default_reads_of_a_higher_ones(
    live: World, seed: int
) -> None:
    """W9 Whatever two agents and a tool do in whatever order."""
    person, chance = ada(live), random.Random(seed)
    lower = [helper(live, governs=True), helper(live, principal="other"), tool(live)]
    await furnish(person)
    before = await seen(person)
    every: list[Attack] = [each for some in ATTACKS.values() for each in some]

    for _ in range(60):
        await tried(chance.choice(every), chance.choice(lower), chance)
        live.clock.pass_(chance.randrange(DAY))
        assert await seen(person) == before
