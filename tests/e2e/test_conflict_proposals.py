"""Proposals about conflicts: what a dismissal voids, and what waits for the agent (D5, D7, V1)."""

from __future__ import annotations

from typing import Any

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2, governed_pb2, lineage_pb2
from concord.type.v1 import type_pb2
from governed_steps import demand_honest
from governed_world import (
    AGENT,
    STATUS,
    Party,
    World,
    edge_action,
    reason_of,
    refused,
    request_id,
    salt,
)

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
BILATERAL = proposal_pb2.APPROVAL_LEVEL_BILATERAL
NUANCE = conflict_pb2.CONFLICT_CLASS_NUANCE
CONTRADICTION = conflict_pb2.CONFLICT_CLASS_CONTRADICTION
EVOLUTION = conflict_pb2.CONFLICT_CLASS_EVOLUTION
POTENTIAL = conflict_pb2.CONFLICT_STATE_POTENTIAL
CONFIRMED = conflict_pb2.CONFLICT_STATE_CONFIRMED
DISMISSED = conflict_pb2.CONFLICT_STATE_DISMISSED
RESOLVED = conflict_pb2.CONFLICT_STATE_RESOLVED
CONFIRM = conflict_pb2.REVIEW_DECISION_CONFIRM
DISMISS = conflict_pb2.REVIEW_DECISION_DISMISS
EXCEPT = conflict_pb2.REVIEW_DECISION_EXCEPT
RECLASSIFY = conflict_pb2.REVIEW_DECISION_RECLASSIFY
DISSONANCE = proposal_pb2.PROPOSAL_TRIGGER_DISSONANCE
KIND = proposal_pb2.ProposalKind
Action = governed_pb2.GovernedAction


async def found(
    live: World,
    party: Party,
    conflict_class: conflict_pb2.ConflictClass.ValueType,
    *,
    edge_type: type_pb2.EdgeType.ValueType = DESCRIPTIVE,
) -> conflict_pb2.Conflict:
    """Let dissonance record a finding about two new edges, the first of the given type."""
    sides = []
    for target, kind in (("Linz", edge_type), ("Graz", DESCRIPTIVE)):
        await party.decide(
            await party.propose(edge_action("Ada", "LIVES_IN", target, edge_type=kind))
        )
        edge = await party.edge("Ada", "LIVES_IN", target)
        assert edge is not None
        sides.append(edge)
    older = sides[0].id if conflict_class == EVOLUTION else ""
    finding = conflict_pb2.Finding(
        first_id=sides[0].id,
        first_etag=sides[0].etag,
        second_id=sides[1].id,
        second_etag=sides[1].etag,
        conflict_class=conflict_class,
        older_id=older,
        judge=conflict_pb2.JUDGE_STRUCTURAL,
    )
    reply = await live.findings().RecordConflicts(
        conflict_pb2.RecordConflictsRequest(request_id=request_id(), findings=[finding])
    )
    return await now(party, reply.findings[0].conflict_id)


async def now(party: Party, conflict_id: str) -> conflict_pb2.Conflict:
    """Read a conflict as it is."""
    reply = await party.conflict.GetConflict(conflict_pb2.GetConflictRequest(id=conflict_id))
    return reply.conflict


def review(
    conflict: conflict_pb2.Conflict,
    decision: conflict_pb2.ReviewDecision.ValueType,
    conflict_class: conflict_pb2.ConflictClass.ValueType = conflict_pb2.CONFLICT_CLASS_UNSPECIFIED,
) -> Action:
    """Return the action that decides about a conflict."""
    return Action(
        review_conflict=conflict_pb2.ReviewConflictRequest(
            request_id=salt(),
            conflict_id=conflict.id,
            etag=conflict.etag,
            decision=decision,
            conflict_class=conflict_class,
            context="Both are homes." if decision == EXCEPT else "",
        )
    )


async def decides(party: Party, action: Action) -> conflict_pb2.Conflict:
    """Let the agent decide about a conflict by itself."""
    reply = await party.conflict.ReviewConflict(action.review_conflict)
    return reply.conflict


async def finds(live: World, action: Action, **fields: Any) -> proposal_pb2.Proposal:
    """Let dissonance propose what it makes of a conflict."""
    reply = await live.dissonance().CreateProposal(
        proposal_pb2.CreateProposalRequest(
            request_id=request_id(), action=action, trigger=DISSONANCE, **fields
        )
    )
    return reply.proposal


async def withdraws(live: World, proposal: proposal_pb2.Proposal) -> proposal_pb2.Proposal:
    """Let dissonance take its proposal back."""
    request = proposal_pb2.WithdrawProposalRequest(request_id=request_id(), proposal_id=proposal.id)
    return (await live.dissonance().WithdrawProposal(request)).proposal


async def revises(
    live: World, proposal: proposal_pb2.Proposal, action: Action
) -> proposal_pb2.Proposal:
    """Let dissonance propose another action in the same proposal."""
    request = proposal_pb2.ReviseProposalRequest(
        request_id=request_id(),
        proposal_id=proposal.id,
        revision=proposal.revision,
        action=action,
    )
    return (await live.dissonance().ReviseProposal(request)).proposal


async def test_a_nuance_takes_no_consent_before_its_review(live: World, party: Party) -> None:
    """D5 D7 V9 Neither approved, nor rejected, nor approved in bulk; the briefing names it beside
    the proposals, and the log says what it waits for."""
    conflict = await found(live, party, NUANCE)

    made = await finds(live, review(conflict, RECLASSIFY, CONTRADICTION))

    assert (made.status, made.kind) == (
        STATUS.PROPOSAL_STATUS_PENDING_REVIEW,
        KIND.PROPOSAL_KIND_RECLASSIFY,
    )
    assert made.framing.detected.startswith("For a conflict that was found,")
    assert conflict.id in {item.id for item in made.affected}
    bulk = proposal_pb2.BulkApproveRequest(
        request_id=request_id(),
        items=[proposal_pb2.ApproveItem(proposal_id=made.id, consent=party.consent(made, AGENT))],
    )
    for call in (party.approve(made, AGENT), party.reject(made, AGENT)):
        failure = await refused(call)
        assert reason_of(failure)[0] == "PROPOSAL_STATE"
        assert failure.metadata["status"] == "PENDING_REVIEW"
    (outcome,) = (await party.proposals.BulkApprove(bulk)).outcomes
    assert outcome.reason == "ERROR_REASON_PROPOSAL_STATE"
    briefing = await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())
    assert (list(briefing.proposals), briefing.pending_count) == ([], 0)
    assert [each.conflict_id for each in briefing.reviews] == [conflict.id]
    assert briefing.review_count == 1
    await demand_honest(party)


@pytest.mark.parametrize("decision", [DISMISS, EXCEPT])
async def test_the_agent_finds_that_a_nuance_may_stand(
    decision: conflict_pb2.ReviewDecision.ValueType, live: World, party: Party
) -> None:
    """D5 D7 Dissonance withdraws then; what it does not withdraw cannot come back either."""
    conflict = await found(live, party, NUANCE)
    made = await finds(live, review(conflict, RECLASSIFY, CONTRADICTION))

    await decides(party, review(conflict, decision))

    stale = await refused(revises(live, made, review(conflict, RECLASSIFY, CONTRADICTION)))
    assert stale.reason == "ERROR_REASON_ETAG_MISMATCH"
    assert (await withdraws(live, made)).status == STATUS.PROPOSAL_STATUS_WITHDRAWN
    await demand_honest(party)


async def test_a_review_opens_for_a_nuance_of_dissonance_alone(live: World, party: Party) -> None:
    """D5 V3 What a key proposes of a nuance, and what dissonance proposes of another conflict,
    waits for consent at once."""
    nuance = await found(live, party, NUANCE)

    asked = await party.propose(review(nuance, RECLASSIFY, CONTRADICTION))
    settled = await finds(live, review(nuance, DISMISS))
    other = await decides(party, review(nuance, RECLASSIFY, CONTRADICTION))
    renamed = await finds(live, review(other, RECLASSIFY, NUANCE))

    pending = STATUS.PROPOSAL_STATUS_PENDING
    assert [each.status for each in (asked, settled, renamed)] == [pending] * 3
    assert asked.trigger == proposal_pb2.PROPOSAL_TRIGGER_MANUAL


async def test_nothing_is_executed_after_a_dismissal(live: World, party: Party) -> None:
    """D7 The conflict and its version are among what was proposed: another version refuses it."""
    conflict = await found(live, party, CONTRADICTION)
    made = await finds(live, review(conflict, CONFIRM))
    assert {item.id: item.etag for item in made.affected}[conflict.id] == conflict.etag

    await decides(party, review(conflict, DISMISS))
    failed = await party.approve(made, AGENT)

    assert failed.status == STATUS.PROPOSAL_STATUS_FAILED
    assert failed.resolution in ("ERROR_REASON_ETAG_MISMATCH", "ERROR_REASON_GRANT_INVALID")
    assert (await now(party, conflict.id)).state == DISMISSED
    lineage = await party.lineage_service.GetLineage(
        lineage_pb2.GetLineageRequest(id=conflict.first.id)
    )
    assert not [edge for edge in lineage.edges if edge.relation == "CONTRADICTS"]
    await demand_honest(party)


async def test_the_briefing_lists_open_conflicts(live: World, party: Party) -> None:
    """V9 How many are potential and confirmed, and one line each; another space's are not there."""
    conflict = await found(live, party, CONTRADICTION)
    asking = proposal_pb2.GetBriefingRequest()

    briefing = await party.proposals.GetBriefing(asking)

    (line,) = briefing.conflicts
    assert (briefing.potential_count, briefing.confirmed_count) == (1, 0)
    assert (line.conflict_id, line.conflict_class, line.state) == (
        conflict.id,
        CONTRADICTION,
        POTENTIAL,
    )
    statements = {line.first_statement, line.second_statement}
    assert statements == {"Ada LIVES_IN Linz", "Ada LIVES_IN Graz"}
    assert not (await live.party("two").proposals.GetBriefing(asking)).conflicts
    confirmed = await decides(party, review(conflict, CONFIRM))
    briefing = await party.proposals.GetBriefing(asking)
    assert (briefing.potential_count, briefing.confirmed_count) == (0, 1)
    await decides(party, review(confirmed, DISMISS))
    assert not (await party.proposals.GetBriefing(asking)).conflicts
