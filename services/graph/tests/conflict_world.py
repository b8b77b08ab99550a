"""Short ways to call ConflictService; replies are unwrapped."""

from __future__ import annotations

from concord.graph.v1 import conflict_pb2 as pb
from concord.type.v1 import type_pb2
from graph_world import FOUND, Calls

EVOLUTION = pb.CONFLICT_CLASS_EVOLUTION
CONTRADICTION = pb.CONFLICT_CLASS_CONTRADICTION
NUANCE = pb.CONFLICT_CLASS_NUANCE
UNDECIDED = pb.CONFLICT_CLASS_UNDECIDED
POTENTIAL = pb.CONFLICT_STATE_POTENTIAL
CONFIRMED = pb.CONFLICT_STATE_CONFIRMED
DISMISSED = pb.CONFLICT_STATE_DISMISSED
EXCEPTION = pb.CONFLICT_STATE_EXCEPTION
RESOLVED = pb.CONFLICT_STATE_RESOLVED
CREATED = pb.FINDING_OUTCOME_CREATED
UPDATED = pb.FINDING_OUTCOME_UPDATED
UNCHANGED = pb.FINDING_OUTCOME_UNCHANGED
STALE = pb.FINDING_OUTCOME_STALE
CONFIRM = pb.REVIEW_DECISION_CONFIRM
DISMISS = pb.REVIEW_DECISION_DISMISS
EXCEPT = pb.REVIEW_DECISION_EXCEPT
RECLASSIFY = pb.REVIEW_DECISION_RECLASSIFY

Item = type_pb2.Memory | type_pb2.Edge


def finding(first: Item, second: Item, **fields: object) -> pb.Finding:
    """Return what a judge found about two items, a CONTRADICTION unless said otherwise."""
    said = {
        "conflict_class": CONTRADICTION,
        "judge": pb.JUDGE_LEXICAL,
        "rule": "number",
        "confidence": 0.9,
    } | fields
    return pb.Finding(
        first_id=first.id,
        first_etag=first.etag,
        second_id=second.id,
        second_etag=second.etag,
        **said,  # type: ignore[arg-type] # a test's own fields
    )


async def record(home: Calls, *findings: pb.Finding) -> list[pb.RecordedFinding]:
    """Record findings."""
    request = pb.RecordConflictsRequest(request_id=home.request_id(), findings=findings)
    return list((await home.conflict.RecordConflicts(request)).findings)


async def recorded(home: Calls, first: Item, second: Item, **fields: object) -> pb.Conflict:
    """Record one finding; return its conflict."""
    (found,) = await record(home, finding(first, second, **fields))
    return await get(home, found.conflict_id)


async def get(home: Calls, conflict_id: str, **fields: object) -> pb.Conflict:
    """Read a conflict that is there."""
    request = pb.GetConflictRequest(id=conflict_id, **fields)  # type: ignore[arg-type]
    reply = await home.conflict.GetConflict(request)
    assert reply.status == FOUND
    return reply.conflict


async def of_pair(home: Calls, one: str, other: str) -> pb.Conflict:
    """Read the conflict of two items that is there."""
    pair = pb.ConflictPair(first_id=one, second_id=other)
    reply = await home.conflict.GetConflict(pb.GetConflictRequest(pair=pair))
    assert reply.status == FOUND
    return reply.conflict


async def listed(home: Calls, **fields: object) -> list[str]:
    """Return the ids of the first page of conflicts."""
    reply = await home.conflict.ListConflicts(pb.ListConflictsRequest(**fields))  # type: ignore[arg-type]
    return [each.id for each in reply.conflicts]


async def review(
    home: Calls,
    conflict: pb.Conflict,
    decision: pb.ReviewDecision.ValueType,
    context: str = "",
    **fields: object,
) -> pb.ReviewConflictResponse:
    """Review a conflict."""
    request = pb.ReviewConflictRequest(
        request_id=home.request_id(),
        conflict_id=conflict.id,
        etag=conflict.etag,
        decision=decision,
        context=context,
        **fields,  # type: ignore[arg-type] # a test's own fields
    )
    return await home.conflict.ReviewConflict(request)


async def resolve(
    home: Calls,
    conflict: pb.Conflict,
    resolution_type: pb.ConflictClass.ValueType,
    superseded_id: str = "",
    context: str = "",
) -> pb.ResolveConflictResponse:
    """Resolve a conflict."""
    request = pb.ResolveConflictRequest(
        request_id=home.request_id(),
        conflict_id=conflict.id,
        etag=conflict.etag,
        resolution_type=resolution_type,
        superseded_id=superseded_id,
        context=context,
    )
    return await home.conflict.ResolveConflict(request)


async def reopen(home: Calls, conflict: pb.Conflict) -> pb.Conflict:
    """Take the last review or resolution back."""
    request = pb.ReopenConflictRequest(
        request_id=home.request_id(), conflict_id=conflict.id, etag=conflict.etag
    )
    return (await home.conflict.ReopenConflict(request)).conflict
