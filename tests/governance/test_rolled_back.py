"""Graph put back from an older copy than the ledger (A1)."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
from pathlib import Path

import pytest
from concord_chassis.log import json_lines
from concord_governance.bootstrap import GovernanceApp
from governed_world import AGENT, HOUR, STATUS, Clock, Keys, edge_action, reason_of, refused, world


async def test_a_graph_older_than_the_log_is_said_and_nothing_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 What such a graph does comes before the place that the log has reached, so it would not be
    told: governance says so, is not ready, and takes no proposal and no paper until graph is the
    newer one again."""
    keys, clock, told = Keys(), Clock(), io.StringIO()
    async with world(tmp_path, keys=keys, clock=clock) as live:
        party = live.party()
        await party.enrol()
        signers = party.agent, party.human
        waiting = await party.propose(edge_action(target="tea"))
    shutil.copy(tmp_path / "graph.db", tmp_path / "older")
    async with world(tmp_path, keys=keys, clock=clock) as live:
        party = live.party()
        party.agent, party.human = signers
        await party.decide(await party.propose(edge_action()))
    shutil.copy(tmp_path / "graph.db", tmp_path / "newer")
    _put_back(tmp_path, "older")
    clock.pass_(HOUR)
    ready = GovernanceApp.ready
    monkeypatch.setattr(GovernanceApp, "ready", _always)  # a server is waited for until it is
    async with world(
        tmp_path, keys=keys, clock=clock, log=json_lines("governance", stream=told)
    ) as live:
        party = live.party()
        party.agent, party.human = signers
        async with asyncio.timeout(10):
            while not live.app._following.rolled_back:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

        failures = [
            await refused(party.propose(edge_action(target="coffee"))),
            await refused(party.approve(waiting, AGENT)),
        ]

        assert [reason_of(each) for each in failures] == [("GRAPH_ROLLED_BACK", "")] * 2
        assert not await ready(live.app)
        said = [json.loads(line) for line in told.getvalue().splitlines()]
        assert ("graph is older than the audit log", "one") in {
            (each.get("event"), each.get("space")) for each in said
        }
    monkeypatch.setattr(GovernanceApp, "ready", ready)
    _put_back(tmp_path, "newer")
    async with world(tmp_path, keys=keys, clock=clock) as live:
        party = live.party()
        party.agent, party.human = signers

        assert (await party.decide(waiting)).status == STATUS.PROPOSAL_STATUS_EXECUTED
        assert (await party.verified()).executed == 2


async def _always(_: GovernanceApp) -> bool:
    return True


def _put_back(folder: Path, copy: str) -> None:
    for part in folder.glob("graph.db*"):
        part.unlink()
    shutil.copy(folder / copy, folder / "graph.db")
