"""Refused attempts fill no log: a principal's first of an hour are on record, then none (A1)."""

from pathlib import Path

import grpc
import pytest
from concord.graph.v1.operation_pb2 import Operation
from concord_attestation import refusal_limit
from concord_attestation.refusal_limit import HOUR
from graph_world import PROTECTED, Calls, Clock, World, reason, refused, world
from test_operations import REFUSED, listed

LIMIT = "ERROR_REASON_TOO_MANY_REFUSALS"


async def tries(live: World, memory_id: str, times: int, principal: str = "mallory") -> None:
    """Try to forget what is constitutive, alone."""
    calls = live.calls(principal=principal)
    memory = await calls.get(memory_id)
    for _ in range(times):
        assert await reason(calls.forget(memory)) == PROTECTED


async def told(calls: Calls, principal: str = "mallory") -> list[Operation]:
    """Return the refused attempts on record, oldest first."""
    return await listed(calls, types=[REFUSED], principal=principal, oldest_first=True)


async def test_beyond_the_limit_a_principals_writes_are_refused_for_the_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 W7 Each attempt up to the limit is an entry, and one more says that it was reached; then
    no write of that principal begins. It reads on, others write on, the next hour is anew."""
    monkeypatch.setattr(refusal_limit, "MOST_REFUSALS", 3)
    clock = Clock()
    async with world(tmp_path / "graph.db", clock=clock) as live:
        home, parties = live.calls(), live.parties()
        await parties.enrol(home)
        creed = await parties.constitutive_memory(home)
        await tries(live, creed.id, 3)
        seq = (await home.changes())[-1].seq
        mallory = live.calls(principal="mallory")

        found = await refused(mallory.forget(creed))
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, LIMIT)
        assert found.retry_after is not None
        assert 0 < found.retry_after <= 3600
        assert await reason(mallory.put_node("anything")) == LIMIT
        assert (await mallory.get(creed.id)).content == creed.content
        assert (await home.changes())[-1].seq == seq
        await live.calls(principal="another").put_node("anything")
        await live.calls("other", principal="mallory").put_node("anything")
        *attempts, limit = await told(home)
        assert [(each.item_id, each.reason) for each in attempts] == [(creed.id, PROTECTED)] * 3
        assert (limit.item_id, limit.reason) == ("", LIMIT)

        clock.pass_(HOUR)
        await tries(live, creed.id, 1)
        assert len(await told(home)) == 5


async def test_a_batch_of_attempts_ends_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 One call with many refused parts writes no more than the limit and its entry."""
    monkeypatch.setattr(refusal_limit, "MOST_REFUSALS", 2)
    async with world(tmp_path / "graph.db") as live:
        home, parties = live.calls(), live.parties()
        await parties.enrol(home)
        creed = await parties.constitutive_memory(home)
        await tries(live, creed.id, 1)
        await tries(live, creed.id, 1, "another")
        await tries(live, creed.id, 1)

        assert [each.reason for each in await told(home)] == [PROTECTED, PROTECTED, LIMIT]
        assert len(await told(home, "another")) == 1
