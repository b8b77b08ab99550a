"""Proposals about conflicts: what a dismissal voids, and what waits for the agent (D5, D7, V1)."""

from __future__ import annotations

from itertools import combinations

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2, lineage_pb2
from conflict_steps import (
    DESCRIPTIVE,
    EXCEPT,
    Action,
    decides,
    finds,
    found,
    now,
    review,
    revises,
    withdraws,
)
from governed_steps import demand_honest
from governed_world import (
    AGENT,
    CONSTITUTIVE,
    HOUR,
    STATUS,
    Party,
    World,
    edge_action,
    reason_of,
    refused,
)
from writing import salt

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
    for call in (party.approve(made, AGENT), party.reject(made, AGENT)):
        failure = await refused(call)
        assert reason_of(failure)[0] == "PROPOSAL_STATE"
        assert failure.metadata["status"] == "PENDING_REVIEW"
    assert await party.bulk((made, party.consent(made, AGENT))) == [
        (0, "ERROR_REASON_PROPOSAL_STATE")
    ]
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


async def test_the_agent_confirms_a_nuance(live: World, party: Party) -> None:
    """D5 V8 The next revision is PENDING and names the conflict's new version; approved, it changes
    the class, and its undo changes it back."""
    conflict = await found(live, party, NUANCE)
    made = await finds(live, review(conflict, RECLASSIFY, CONTRADICTION))

    confirmed = await decides(party, review(conflict, CONFIRM))
    revised = await revises(live, made, review(confirmed, RECLASSIFY, CONTRADICTION))

    assert (revised.status, revised.revision) == (STATUS.PROPOSAL_STATUS_PENDING, 2)
    done = await party.approve(revised, AGENT)
    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    changed = await now(party, conflict.id)
    assert (changed.conflict_class, changed.state) == (CONTRADICTION, CONFIRMED)
    await party.decide(await party.undo(done))
    back = await now(party, conflict.id)
    assert (back.conflict_class, back.state) == (NUANCE, CONFIRMED)
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
    refusal = (failed.failure_reason, failed.failed_check)
    assert refusal == ("ERROR_REASON_GRANT_INVALID", "etags")
    assert (await now(party, conflict.id)).state == DISMISSED
    lineage = await party.lineage_service.GetLineage(
        lineage_pb2.GetLineageRequest(id=conflict.first.id)
    )
    assert not [edge for edge in lineage.edges if edge.relation == "CONTRADICTS"]
    await demand_honest(party)


@pytest.mark.parametrize(
    ("decision", "kind", "words"),
    [
        (CONFIRM, KIND.PROPOSAL_KIND_CONFIRM, "the confirmation of a conflict"),
        (DISMISS, KIND.PROPOSAL_KIND_DISMISS, "the dismissal of a conflict"),
        (EXCEPT, KIND.PROPOSAL_KIND_EXCEPT, "the recording of a conflict as an exception"),
    ],
)
async def test_each_review_says_which_it_is(
    decision: conflict_pb2.ReviewDecision.ValueType,
    kind: proposal_pb2.ProposalKind.ValueType,
    words: str,
    live: World,
    party: Party,
) -> None:
    """V1 V3 V8 Kind and words follow from the action; executed and undone, all is as it was."""
    conflict = await found(live, party, CONTRADICTION)
    before = await party.state()

    made = await party.propose(review(conflict, decision))

    assert (made.kind, words in made.framing.detected) == (kind, True)
    assert made.approval_level == proposal_pb2.APPROVAL_LEVEL_AGENT
    done = await party.decide(made)
    assert (await now(party, conflict.id)).state != POTENTIAL
    await party.decide(await party.undo(done))
    assert (await now(party, conflict.id)).state == POTENTIAL
    assert await party.state() == before
    await demand_honest(party)


async def test_a_rejection_leaves_the_conflict_as_it_was(live: World, party: Party) -> None:
    """D7 V7 Items, conflict and its version stay, and the conflict stays in the briefing."""
    conflict = await found(live, party, CONTRADICTION)
    before = await party.state()
    made = await finds(live, review(conflict, CONFIRM))

    ended = await party.reject(made, AGENT)

    assert ended.status == STATUS.PROPOSAL_STATUS_REJECTED
    assert await now(party, conflict.id) == conflict
    assert await party.state() == before
    briefing = await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())
    assert [each.conflict_id for each in briefing.conflicts] == [conflict.id]


async def test_silence_ends_a_review(live: World, party: Party) -> None:
    """V4 D7 What waited for the agent's review expires as what waits for consent does; the conflict
    stays potential, and another proposal about it can be made."""
    conflict = await found(live, party, NUANCE)
    made = await finds(live, review(conflict, RECLASSIFY, CONTRADICTION))

    live.clock.pass_(48 * HOUR)

    assert (await party.get(made)).status == STATUS.PROPOSAL_STATUS_EXPIRED
    assert (await now(party, conflict.id)).state == POTENTIAL
    again = await finds(live, review(conflict, RECLASSIFY, CONTRADICTION))
    assert again.status == STATUS.PROPOSAL_STATUS_PENDING_REVIEW
    await demand_honest(party)


async def test_a_resolution_with_a_constitutive_side_takes_both(live: World, party: Party) -> None:
    """D6 D7 V8 The descriptive side gives way, with both consents; the undo takes both back."""
    conflict = await found(live, party, CONTRADICTION, edge_type=CONSTITUTIVE)
    constitutive = await party.edge("Ada", "LIVES_IN", "Linz")
    descriptive = await party.edge("Ada", "LIVES_IN", "Graz")
    assert constitutive is not None
    assert descriptive is not None
    resolve = conflict_pb2.ResolveConflictRequest(
        request_id=salt(),
        conflict_id=conflict.id,
        etag=conflict.etag,
        resolution_type=CONTRADICTION,
        superseded_id=descriptive.id,
    )
    alone = await refused(party.conflict.ResolveConflict(resolve))
    assert alone.reason == "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED"

    made = await finds(live, Action(resolve_conflict=resolve))

    assert (made.kind, made.approval_level) == (KIND.PROPOSAL_KIND_RESOLVE, BILATERAL)
    done = await party.decide(made)
    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (await now(party, conflict.id)).state == RESOLVED
    await demand_honest(party)
    undone = await party.decide(await party.undo(done))
    assert undone.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (await now(party, conflict.id)).state == POTENTIAL
    await demand_honest(party)


async def test_a_nuance_of_something_constitutive(live: World, party: Party) -> None:
    """D5 It waits for the agent's review as well; its next revision then takes both consents."""
    conflict = await found(live, party, NUANCE, edge_type=CONSTITUTIVE)
    made = await finds(live, review(conflict, RECLASSIFY, CONTRADICTION))
    assert made.status == STATUS.PROPOSAL_STATUS_PENDING_REVIEW

    revised = await revises(live, made, review(conflict, RECLASSIFY, CONTRADICTION))

    assert (revised.status, revised.approval_level) == (STATUS.PROPOSAL_STATUS_PENDING, BILATERAL)
    assert (await party.decide(revised)).status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (await now(party, conflict.id)).conflict_class == CONTRADICTION
    await demand_honest(party)


async def test_a_decision_is_taken_back(live: World, party: Party) -> None:
    """D5 V1 Reopening is an action like the others."""
    conflict = await found(live, party, CONTRADICTION)
    dismissed = await decides(party, review(conflict, DISMISS))
    reopen = conflict_pb2.ReopenConflictRequest(
        request_id=salt(), conflict_id=conflict.id, etag=dismissed.etag
    )

    done = await party.decide(await party.propose(Action(reopen_conflict=reopen)))

    assert done.kind == KIND.PROPOSAL_KIND_REOPEN
    assert (await now(party, conflict.id)).state == POTENTIAL


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


async def test_the_briefing_counts_what_it_does_not_show(live: World, party: Party) -> None:
    """V9 Many findings hide no confirmed conflict: that one, the three newest, and how many."""
    confirmed = await found(live, party, CONTRADICTION)
    await decides(party, review(confirmed, CONFIRM))
    for city in ("Wien", "Bonn"):
        await party.decide(
            await party.propose(edge_action("Ada", "LIVES_IN", city, edge_type=DESCRIPTIVE))
        )
    cities = ("Linz", "Graz", "Wien", "Bonn")
    edges = [await party.edge("Ada", "LIVES_IN", city) for city in cities]
    newest: list[str] = []
    for one, other in list(combinations(filter(None, edges), 2))[1:]:
        finding = conflict_pb2.Finding(
            first_id=one.id,
            first_etag=one.etag,
            second_id=other.id,
            second_etag=other.etag,
            conflict_class=CONTRADICTION,
            judge=conflict_pb2.JUDGE_STRUCTURAL,
        )
        recorded = await live.findings().RecordConflicts(
            conflict_pb2.RecordConflictsRequest(request_id=salt(), findings=[finding])
        )
        newest.insert(0, recorded.findings[0].conflict_id)

    briefing = await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())

    assert (briefing.confirmed_count, briefing.potential_count) == (1, 5)
    assert [each.conflict_id for each in briefing.conflicts] == [confirmed.id, *newest[:3]]
