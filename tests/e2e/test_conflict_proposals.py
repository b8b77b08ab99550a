"""Proposals about conflicts: what a dismissal voids, and what waits for the agent (D5, D7, V1)."""

from __future__ import annotations

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2, lineage_pb2
from conflict_steps import EXCEPT, decides, finds, found, now, review, revises, withdraws
from governed_steps import demand_honest
from governed_world import (
    AGENT,
    STATUS,
    Party,
    World,
    reason_of,
    refused,
    request_id,
)

BILATERAL = proposal_pb2.APPROVAL_LEVEL_BILATERAL
NUANCE = conflict_pb2.CONFLICT_CLASS_NUANCE
CONTRADICTION = conflict_pb2.CONFLICT_CLASS_CONTRADICTION
POTENTIAL = conflict_pb2.CONFLICT_STATE_POTENTIAL
CONFIRMED = conflict_pb2.CONFLICT_STATE_CONFIRMED
DISMISSED = conflict_pb2.CONFLICT_STATE_DISMISSED
RESOLVED = conflict_pb2.CONFLICT_STATE_RESOLVED
CONFIRM = conflict_pb2.REVIEW_DECISION_CONFIRM
DISMISS = conflict_pb2.REVIEW_DECISION_DISMISS
RECLASSIFY = conflict_pb2.REVIEW_DECISION_RECLASSIFY
KIND = proposal_pb2.ProposalKind


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
