"""Steps of dissonance and of the agent around a conflict."""

from __future__ import annotations

from typing import Any

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2, governed_pb2
from concord.type.v1 import type_pb2
from governed_world import Party, World, edge_action, request_id
from writing import action_of, salt

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
CONFIRM = conflict_pb2.REVIEW_DECISION_CONFIRM
DISSONANCE = proposal_pb2.PROPOSAL_TRIGGER_DISSONANCE
EVOLUTION = conflict_pb2.CONFLICT_CLASS_EVOLUTION
EXCEPT = conflict_pb2.REVIEW_DECISION_EXCEPT
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
    return action_of(
        conflict_pb2.ReviewConflictRequest(
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
