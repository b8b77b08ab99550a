"""Nobody fills the log with refused attempts, nor the lists with proposals (A1, W7)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import grpc
import pytest
from concord.governance.v1 import audit_pb2, proposal_pb2, proposal_pb2_grpc
from concord_attestation import refusal_limit
from governed_steps import demand_honest, does
from governed_world import (
    HOUR,
    Party,
    World,
    edge_action,
    eventually,
    refused,
    request_id,
    world,
)
from writing import to_delete_edge

ATTEMPT = audit_pb2.AUDIT_ACTION_DELETE_ATTEMPT
TOLD = audit_pb2.AUDIT_ACTION_WRITE_ATTEMPT
STEP = audit_pb2.AUDIT_ACTION_SAFEGUARD_VIOLATION
LIMIT = "ERROR_REASON_TOO_MANY_REFUSALS"


async def until(party: Party, count: int, *actions: int) -> Sequence[audit_pb2.AuditEntry]:
    """Wait until the log has so many refused attempts; return them, oldest first."""
    found = await eventually(
        lambda: party.entries(actions=actions), lambda told: len(told) >= count
    )
    return list(reversed(found))


@pytest.mark.usefixtures("party")
async def test_a_flood_hides_nobody_from_the_briefing(live: World) -> None:
    """V9 W7 The briefing's three lines show everybody's newest before anybody's second."""
    honest, flooder = (
        proposal_pb2_grpc.ProposalServiceStub(live.channel(name, "AGENT"))
        for name in ("honest", "flooder")
    )
    for number, stub in enumerate((honest, *[flooder] * 4)):
        await stub.CreateProposal(
            proposal_pb2.CreateProposalRequest(
                request_id=f"flood-{number}", action=edge_action(target=f"tea {number}")
            )
        )

    found = await honest.GetBriefing(proposal_pb2.GetBriefingRequest())

    numbers = [line.number for line in found.proposals]
    assert (numbers, found.pending_count) == ([5, 4, 1], 5)


async def test_a_flood_ends_at_the_limit_and_one_entry_says_so(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 A2 W7 At graph and at governance each attempt up to the limit is an entry, one more says
    that it was reached, and then nothing is tried or written for the hour; the log verifies."""
    monkeypatch.setattr(refusal_limit, "MOST_REFUSALS", 3)
    await does(party, edge_action())
    edge = await party.edge("agent", "VALUES", "honesty")
    assert edge is not None
    waiting = await party.propose(edge_action(target="tea"))
    for number in range(5):
        for call in (party.graph.DeleteEdge(to_delete_edge(edge)), party.undo(waiting)):
            failure = await refused(call)
            assert (failure.reason == LIMIT) == (number >= 3)
            assert (failure.retry_after is not None) == (number >= 3)
    assert (await refused(party.propose(edge_action(target="rest")))).reason == LIMIT

    at_graph = await until(party, 4, ATTEMPT, TOLD)
    at_governance = await until(party, 4, STEP)
    for found in (at_graph, at_governance):
        *told, limit = found
        assert (len(told), limit.principal, limit.item_id) == (3, "agent", "")
        assert all(each.reason.startswith("ERROR_REASON_") for each in told)
        assert (limit.blocked, limit.reason) == (True, LIMIT)
    party.clock.pass_(HOUR)
    await party.propose(edge_action(target="rest"))
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
