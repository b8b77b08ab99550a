"""What was decided by the instant of a backup and not carried out, after a restore (V6, W7)."""

from __future__ import annotations

import shutil
from pathlib import Path

import grpc
import pytest
from concord.governance.v1 import proposal_pb2
from concord_embedded.receipts import Receipts
from dying import die
from governed_world import AGENT, HUMAN, STATUS, edge_action, eventually
from older_graph import Copies
from restored_stores import known_of, restored

EXECUTED, FAILED = STATUS.PROPOSAL_STATUS_EXECUTED, STATUS.PROPOSAL_STATUS_FAILED
APPROVED = STATUS.PROPOSAL_STATUS_APPROVED


async def decided(scene: Copies) -> proposal_pb2.Proposal:
    """Have both agree, and the system stopped before graph is asked."""
    async with scene.enrolled() as (_, party):
        waiting = await party.approve(await party.propose(edge_action(target="tea")), AGENT)
    with pytest.MonkeyPatch.context() as patch:
        async with scene.world() as live:
            death = die(live, patch, 1)
            with pytest.raises(grpc.aio.AioRpcError):
                await scene.party(live).approve(waiting, HUMAN)
            assert death.came
    return waiting


async def ended(scene: Copies, proposal: proposal_pb2.Proposal) -> tuple[int, bool, bool]:
    """Run the system until a decision has its end; return that, whether its effect is there, and
    whether the log has a restore. The log keeps every rule."""
    async with scene.world() as live:
        party = scene.party(live)
        after = await eventually(lambda: party.get(proposal), lambda it: it.status != APPROVED)
        await party.verified()
        is_there = await party.edge("agent", "VALUES", "tea") is not None
        return after.status, is_there, "RESTORE" in await party.actions()


@pytest.mark.parametrize("was_done", [False, True], ids=["not done since", "done since"])
async def test_a_decision_goes_on_unless_it_was_done_since(
    tmp_path: Path, *, was_done: bool
) -> None:
    """V6 W7 What both agreed to is carried out after a restore as after a stop; what was carried
    out after the backup, by the nonces that graph burnt, is not done a second time."""
    scene = Copies(tmp_path / "backup")
    scene.folder.mkdir()
    proposal = await decided(scene)
    later: list[Receipts] = []
    if was_done:
        since = Copies(tmp_path / "since", scene.keys, scene.clock)
        since.parties = scene.parties
        shutil.copytree(scene.folder, since.folder)
        assert await ended(since, proposal) == (EXECUTED, True, False)
        later = [known_of(since.folder)]
    await restored(scene, later)

    expected = (FAILED, False, True) if was_done else (EXECUTED, True, True)
    assert await ended(scene, proposal) == expected
