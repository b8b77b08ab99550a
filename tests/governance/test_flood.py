"""Nobody fills the log with refused attempts, and none of them is dropped untold (A1)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import grpc
import pytest
from concord.governance.v1 import audit_pb2, proposal_pb2, proposal_pb2_grpc
from concord.graph.v1 import graph_pb2
from concord_attestation import tally
from concord_graph.usecases import tallying
from governed_world import HOUR, Clock, Keys, Party, edge_action, refused, request_id, world
from test_honest_log import demand_honest, does

ATTEMPT = audit_pb2.AUDIT_ACTION_DELETE_ATTEMPT
COUNTED = audit_pb2.AUDIT_ACTION_WRITE_ATTEMPT
STEP = audit_pb2.AUDIT_ACTION_SAFEGUARD_VIOLATION


async def tries(party: Party, times: int) -> None:
    """Try to delete at graph what is constitutive, and to undo what was never done."""
    edge = await party.edge("agent", "VALUES", "honesty")
    assert edge is not None
    waiting = await party.propose(edge_action(target="tea"))
    for _ in range(times):
        delete = graph_pb2.DeleteEdgeRequest(request_id=request_id(), id=edge.id, etag=edge.etag)
        await refused(party.graph.DeleteEdge(delete))
        await refused(party.undo(waiting))


async def until(party: Party, count: int, *actions: int) -> Sequence[audit_pb2.AuditEntry]:
    """Wait until the log has so many refused attempts; return them, oldest first."""
    async with asyncio.timeout(30):
        while len(found := await party.entries(actions=actions)) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return list(reversed(found))


async def test_a_flood_is_bounded_in_the_log_and_told_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 A2 At graph and at governance the first attempts of a principal's hour are entries each,
    and one behind the hour counts the rest, also over a restart; the log verifies."""
    monkeypatch.setattr(tally, "MOST_TOLD", 3)
    monkeypatch.setattr(tallying, "TELL_SECONDS", 0.02)
    keys, clock = Keys(), Clock()
    async with world(tmp_path, keys=keys, clock=clock) as live:
        party = live.party()
        await party.enrol()
        signers = party.agent, party.human
        await does(party, edge_action())
        await tries(party, 5)
    async with world(tmp_path, keys=keys, clock=clock) as live:
        party = live.party()
        party.agent, party.human = signers
        await tries(party, 1)
        clock.pass_(HOUR)
        at_graph = await until(party, 4, ATTEMPT, COUNTED)
        at_governance = await until(party, 4, STEP)

        for found in (at_graph, at_governance):
            *told, count = found
            assert (len(told), count.principal, count.item_id) == (3, "agent", "")
            assert count.blocked
            assert count.reason.startswith("3 more refused attempts between ")
        await demand_honest(party)


async def test_a_principal_has_so_many_proposals_waiting_and_no_more(tmp_path: Path) -> None:
    """W7 One more is refused with the number, whatever it proposes, until one is answered; other
    principals and spaces go on, and what was accepted before is answered as it was."""
    async with world(tmp_path, most_pending=2) as live:
        party, other = live.party(), live.party("two")
        eve = proposal_pb2_grpc.ProposalServiceStub(live.channel("eve", "AGENT"))
        await party.enrol()
        await other.enrol()
        done = await does(party, edge_action(target="kindness"))
        again = proposal_pb2.CreateProposalRequest(
            request_id=request_id(), action=edge_action(target="tea")
        )
        first = (await party.proposals.CreateProposal(again)).proposal
        second = await party.propose(edge_action(target="rest"))
        for wanted in (party.propose(edge_action(target="more")), party.undo(done)):
            found = await refused(wanted)
            assert found.code is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert found.reason == "ERROR_REASON_TOO_MANY_PENDING"
            assert (found.metadata, found.retry_after) == ({"max": "2"}, 3600.0)
        assert (await party.proposals.CreateProposal(again)).proposal.id == first.id
        await other.propose(edge_action(target="more"))
        await eve.CreateProposal(
            proposal_pb2.CreateProposalRequest(
                request_id=request_id(), action=edge_action(target="more")
            )
        )
        await party.decide(second)
        await party.propose(edge_action(target="more"))
