"""Notes of working memory that a person put stay, whatever an agent puts or clears (W9, M2)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from claim_world import ada, helper, tool
from concord.graph.v1 import claim_pb2, working_memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.usecases.write.standing_guard import StandingGuard
from graph_world import Calls, World, reason, world

LOW, HIGH = type_pb2.IMPORTANCE_LOW, type_pb2.IMPORTANCE_HIGH
ABOVE, FULL = "ERROR_REASON_STANDS_ABOVE", "ERROR_REASON_WORKING_MEMORY_FULL"


@pytest_asyncio.fixture
async def live(tmp_path: Path) -> AsyncIterator[World]:
    """A graph whose working memory holds three entries a space."""
    async with world(tmp_path / "graph.db", working_capacity=3) as running:
        yield running


async def _held(calls: Calls, *, stale: bool = False) -> list[str]:
    request = working_memory_pb2.ListWorkingMemoryRequest(stale=stale)
    listed = await calls.working_memory.ListWorkingMemory(request)
    return sorted(each.content for each in listed.entries)


async def _clear(calls: Calls, *, stale: bool = True) -> tuple[int, int]:
    request = working_memory_pb2.ClearWorkingMemoryRequest(
        request_id=calls.request_id(), include_stale=stale
    )
    reply = await calls.working_memory.ClearWorkingMemory(request)
    return reply.removed_count, reply.left_count


async def _remove(calls: Calls, entry_id: str) -> None:
    request = working_memory_pb2.RemoveWorkingMemoryRequest(
        request_id=calls.request_id(), id=entry_id
    )
    await calls.working_memory.RemoveWorkingMemory(request)


async def test_an_agent_neither_clears_nor_removes_what_a_person_noted(live: World) -> None:
    """W9 M2 The reply says how many are left; a person does either, and so does who put it."""
    person, agent = ada(live), helper(live)
    note = (await person.hold("Call Bob", LOW)).entry
    own = (await agent.hold("look it up")).entry

    assert await reason(_remove(agent, note.id)) == ABOVE
    assert await _clear(agent) == (1, 1)

    assert await _held(person) == ["Call Bob"]
    assert await reason(_remove(agent, own.id)) == "ERROR_REASON_ITEM_NOT_FOUND"
    await agent.hold("look it up")
    await agent.hold("and this")
    assert await _clear(tool(live)) == (0, 3)
    assert await _clear(person) == (3, 0)


async def test_no_flood_of_an_agents_evicts_what_a_person_noted(live: World) -> None:
    """W9 M2 Not one that is HIGH either: what is full for the agent is refused to it alone."""
    person, agent = ada(live), helper(live)
    await person.hold("one", LOW)
    await person.hold("two", LOW)

    for number in range(5):
        await agent.hold(f"flood {number}")
    await agent.hold("flood", HIGH)

    assert await _held(person) == ["flood", "one", "two"]
    assert await reason(agent.hold("more", HIGH)) == FULL
    assert [each.content for each in (await person.hold("three", LOW)).evicted] == ["flood"]
    assert await reason(agent.hold("more", HIGH)) == FULL
    assert await _held(person) == ["one", "three", "two"]


async def test_an_agents_floods_first_leave_a_person_all_places(live: World) -> None:
    """W9 M2 Notes of lower writers go first, though they are HIGH."""
    person, agent = ada(live), helper(live)
    for number in range(3):
        await agent.hold(f"flood {number}", HIGH)

    for text in ("one", "two", "three"):
        await person.hold(text, LOW)

    assert await _held(person) == ["one", "three", "two"]
    assert await _held(agent, stale=True) == [f"flood {number}" for number in range(3)]
    assert await _clear(agent) == (3, 3)


async def test_an_agent_that_says_a_persons_note_again_changes_nothing(live: World) -> None:
    """W9 M2 Neither its importance nor its session; who says an agent's note makes it theirs."""
    person, agent = ada(live), helper(live)
    note = (await person.hold("Call Bob", HIGH, session_id="hers")).entry

    again = await agent.hold("Call Bob", LOW, session_id="its")

    assert again.entry == note
    await agent.hold("Buy milk")
    await person.hold("Buy milk")
    assert await _clear(agent) == (0, 2)


async def test_equals_leave_each_others_notes_where_the_space_says_so(live: World) -> None:
    """W9 M2 In a space in which equals claim; in a free one they clear them."""
    one, two = helper(live), helper(live, principal="other")
    await one.hold("a")
    assert await _clear(two) == (1, 0)
    admin = live.calls(principal="root", kind="HUMAN")
    settings = claim_pb2.ClaimSettings(claims_among_equals=True)
    await admin.claim.SetClaimSettings(claim_pb2.SetClaimSettingsRequest(settings=settings))

    await one.hold("b")
    await ada(live).hold("c")

    assert await _clear(two) == (0, 2)
    assert await _clear(ada(live, principal="bob")) == (1, 1)


async def test_without_the_guard_it_does(live: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """W9 M2 The calls above reach what the guard keeps."""

    async def nobody(*_: object) -> bool:
        return False

    monkeypatch.setattr(StandingGuard, "_stands_above", nobody)
    person, agent = ada(live), helper(live)
    await person.hold("Call Bob")

    assert await _clear(agent) == (1, 0)
