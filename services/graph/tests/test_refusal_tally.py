"""Refused attempts fill no log: an hour's first ones stand there, the rest are counted (A1)."""

import asyncio
from pathlib import Path

import pytest
from concord.graph.v1.operation_pb2 import Operation
from concord_attestation import tally
from concord_graph.usecases import tallying
from graph_world import PROTECTED, Calls, Clock, World, reason, world
from test_operations import REFUSED, listed

HOUR = tally.HOUR


async def tries(live: World, memory_id: str, times: int, principal: str = "mallory") -> None:
    """Try to forget what is constitutive, alone."""
    calls = live.calls(principal=principal)
    memory = await calls.get(memory_id)
    for _ in range(times):
        assert await reason(calls.forget(memory)) == PROTECTED


async def told(calls: Calls, principal: str = "mallory") -> list[Operation]:
    """Return the refused attempts on record, oldest first."""
    return await listed(calls, types=[REFUSED], principal=principal, oldest_first=True)


async def test_a_flood_of_attempts_is_bounded_and_counted_over_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 Of one principal's attempts in an hour the first are on record each; how many more there
    were is told when the hour is over, whatever ended in between. Another's stay told."""
    monkeypatch.setattr(tally, "MOST_TOLD", 3)
    monkeypatch.setattr(tallying, "TELL_SECONDS", 0.02)
    clock = Clock()
    async with world(tmp_path / "graph.db", clock=clock) as live:
        home, parties = live.calls(), live.parties()
        await parties.enrol(home)
        creed = await parties.constitutive_memory(home)
        await tries(live, creed.id, 5)
        await tries(live, creed.id, 1, "another")

        assert [each.item_id for each in await told(home)] == [creed.id] * 3
        assert len(await told(home, "another")) == 1
    async with world(tmp_path / "graph.db", clock=clock) as live:
        home = live.calls()
        await tries(live, creed.id, 2)
        assert len(await told(home)) == 3
        clock.pass_(HOUR)
        async with asyncio.timeout(30):
            while len(await told(home)) == 3:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await tries(live, creed.id, 1)

        *_, count, again = found = await told(home)
        assert len(found) == 5
        assert count.reason.startswith("4 more refused attempts between ")
        assert (count.item_id, count.principal) == ("", "mallory")
        assert (again.item_id, again.method) == (creed.id, "ForgetMemory")
        assert len(await told(home, "another")) == 1


async def test_the_next_attempt_tells_of_the_hours_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 Nobody has to wait for the look that comes now and then."""
    monkeypatch.setattr(tally, "MOST_TOLD", 1)
    monkeypatch.setattr(tallying, "TELL_SECONDS", 3_600.0)
    clock = Clock()
    async with world(tmp_path / "graph.db", clock=clock) as live:
        home, parties = live.calls(), live.parties()
        await parties.enrol(home)
        creed = await parties.constitutive_memory(home)
        await tries(live, creed.id, 3)
        clock.pass_(HOUR)
        await tries(live, creed.id, 1, "another")

        assert [each.item_id for each in await told(home)] == [creed.id, ""]
        assert (await told(home))[1].reason.startswith("2 more refused attempts between ")
        assert len(await told(home, "another")) == 1
