"""Many conflicts of one writer hide nobody else's at an item (W9, D5)."""

from __future__ import annotations

import pytest
from claim_world import ada, helper
from concord.graph.v1 import conflict_pb2
from concord_graph.domain import open_conflicts
from concord_graph.domain.conflicts import ConflictClass, ConflictState, Judge
from concord_graph.domain.open_conflicts import MOST_OPEN, OpenConflict, by_item
from graph_world import Calls, World

FLOOD = MOST_OPEN + 3


async def _contradict(calls: Calls, name: str) -> str:
    """Contradict tea by a link; return the conflict."""
    await calls.add(f"{name}.\n\nContradicts: [[memory:tea]]", id=name)
    request = conflict_pb2.ListConflictsRequest(item_ids=[name])
    (conflict,) = (await calls.conflict.ListConflicts(request)).conflicts
    return conflict.id


async def test_a_flood_of_one_hides_no_conflict_of_another(live: World) -> None:
    """W9 D5 By links; the other's comes first, and stays among the twenty; all are counted."""
    person, agent, honest = ada(live), helper(live), helper(live, principal="honest")
    await person.add("I drink tea.", id="tea")
    other = await _contradict(honest, "h")
    many = [await _contradict(agent, f"n{number:02}") for number in range(FLOOD)]

    tea = await person.get("tea")

    newest = many[-MOST_OPEN + 1 :]
    assert list(tea.conflict_ids) == [*reversed(newest), other]
    assert tea.conflict_count == FLOOD + 1
    named = conflict_pb2.ListConflictsRequest(item_ids=["tea"], conflict_ids=[other, many[0]])
    listed = await person.conflict.ListConflicts(named)
    assert [each.id for each in listed.conflicts] == [many[0], other]
    assert listed.total_count == 2


async def test_an_edge_counts_all_its_conflicts(live: World) -> None:
    """W9 D5 As a memory does; an item without any counts none."""
    person, agent, honest = ada(live), helper(live), helper(live, principal="honest")
    tea = await person.put_edge("Ada", "DRINKS", "tea")
    contradicts = 4
    for number in range(FLOOD):
        calls = agent if number else honest
        other = await calls.put_edge("Ada", "DRINKS", f"rum {number}")
        await calls.relate(contradicts, other.id, tea.id)  # type: ignore[arg-type] # its number

    shown, bare = await person.get_edge(tea.id), await person.put_edge("Ada", "DRINKS", "milk")

    assert (len(shown.conflict_ids), shown.conflict_count) == (MOST_OPEN, FLOOD)
    oldest = conflict_pb2.ListConflictsRequest(conflict_ids=[shown.conflict_ids[-1]])
    (kept,) = (await person.conflict.ListConflicts(oldest)).conflicts
    assert kept.author == "honest"
    assert (len(bare.conflict_ids), bare.conflict_count) == (0, 0)


def _conflict(rank: int, author: str, judge: Judge = Judge.CALLER) -> OpenConflict:
    state, kind = ConflictState.POTENTIAL.name, int(ConflictClass.CONTRADICTION)
    return OpenConflict(rank, "tea", f"{author} {rank}", state, int(judge), kind, author)


def test_each_writers_come_in_turn() -> None:
    """W9 D5 The newest of each first; of one's, what was merely found in texts comes last."""
    many = [_conflict(rank, "a") for rank in range(100, 130)]
    few = [_conflict(rank, "b") for rank in range(5)]
    found = [_conflict(rank, "c", Judge.NLI) for rank in range(200, 230)]
    said = [_conflict(50, "c")]

    shown = by_item([*many, *few, *found, *said])["tea"]

    kept = [each.split() for each in shown.ids]
    assert shown.total == 66
    assert [len([1 for who, _ in kept if who == name]) for name in "abc"] == [7, 5, 8]
    assert ["c", "50"] in kept
    assert [int(rank) for _, rank in kept] == sorted((int(r) for _, r in kept), reverse=True)


async def test_without_the_turns_it_would_be_hidden(
    live: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W9 D5 The first test reaches what the rule keeps."""
    monkeypatch.setattr(open_conflicts, "_fairly", lambda ones: ones[:MOST_OPEN])
    person, agent, honest = ada(live), helper(live), helper(live, principal="honest")
    await person.add("I drink tea.", id="tea")
    other = await _contradict(honest, "h")
    for number in range(FLOOD):
        await _contradict(agent, f"n{number:02}")

    assert other not in (await person.get("tea")).conflict_ids
