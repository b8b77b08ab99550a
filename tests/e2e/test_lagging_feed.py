"""A feed that lags behind graph ends no wait but that of who asked (V6, design 5)."""

import asyncio
import io
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from concord_chassis.log import json_lines
from concord_governance.usecases import graph_feed
from concord_governance.usecases.graph_feed import GraphFollower
from governed_steps import ended
from governed_world import AGENT, HUMAN, STATUS, Clock, Keys, edge_action, eventually, world

DECISIONS, WAITERS = 4, 20


async def test_decisions_wait_for_a_feed_that_lags_and_a_ledger_that_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 B1 No wait kills the task that completes decisions: each ends once the feed is there."""
    said, arrived = io.StringIO(), asyncio.Event()
    applied: Callable[..., Awaitable[None]] = GraphFollower.apply

    async def lags(self: GraphFollower, message: Any) -> None:
        await arrived.wait()
        await applied(self, message)

    monkeypatch.setattr(graph_feed, "_REACH_SECONDS", 0.5)
    monkeypatch.setattr(graph_feed, "_RETRY_SECONDS", 0.05)
    log = json_lines("governance", stream=said, level="warning")
    async with world(tmp_path, keys=Keys(), clock=Clock(), log=log) as live:
        party = live.party()
        await party.enrol()
        proposals = [
            await party.approve(await party.propose(edge_action(target=f"n{n}")), AGENT)
            for n in range(DECISIONS)
        ]
        ledger = live.app._ledger
        read = ledger.read

        async def slow(*args: Any, **named: Any) -> Any:
            await asyncio.sleep(random.uniform(0.0, 0.06))
            return await read(*args, **named)

        monkeypatch.setattr(GraphFollower, "apply", lags)
        monkeypatch.setattr(ledger, "read", slow)
        waiting = await asyncio.gather(*(party.approve(each, HUMAN) for each in proposals))
        for _ in range(5):  # the task that completes them waits, too, and in vain
            reached = await asyncio.gather(
                *(live.app._follower.wait_for("one", "of another store", 1) for _ in range(WAITERS))
            )
            assert not any(reached)
        arrived.set()
        done = [await ended(party, each) for each in proposals]

        assert {each.status for each in waiting} == {STATUS.PROPOSAL_STATUS_APPROVED}
        assert {each.status for each in done} == {STATUS.PROPOSAL_STATUS_EXECUTED}
        assert await eventually(live.app.ready)
        assert "died" not in said.getvalue()
