"""Turns the contract's messages about conflicts into plain data."""

from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2

from concord_client.verbs import conflict_things as things
from concord_client.verbs.read_reply import gave_way, name_of, time_of


def conflict(read: conflict_pb2.Conflict) -> things.Conflict:
    """A conflict."""
    return things.Conflict(
        id=read.id,
        conflict_class=name_of(conflict_pb2.ConflictClass, read.conflict_class),
        state=name_of(conflict_pb2.ConflictState, read.state),
        first_id=read.first.id,
        first_says=read.first.statement,
        second_id=read.second.id,
        second_says=read.second.statement,
        confidence=read.confidence,
        older_id=read.older_id,
        judge=name_of(conflict_pb2.Judge, read.judge),
        rule=read.rule,
        run_id=read.run_id,
        group_id=read.group_id,
        reviewed_by=read.reviewed_by,
        context=read.context,
        etag=read.etag,
        number=read.number,
    )


def checked(
    read: dissonance_pb2.CheckDissonanceResponse | dissonance_pb2.EndSessionResponse,
) -> things.Check:
    """What a check found."""
    return things.Check(
        name_of(dissonance_pb2.CheckStatus, read.status),
        tuple(conflict(each) for each in read.conflicts),
        read.coverage.judged,
        dict(read.coverage.abstained),
        read.coverage.unrecorded,
        isinstance(read, dissonance_pb2.EndSessionResponse)
        or read.node_status != type_pb2.LOOKUP_STATUS_NOT_FOUND,
    )


def ended_session(read: dissonance_pb2.EndSessionResponse) -> things.EndedSession:
    """A session that has ended."""
    return things.EndedSession(
        id=read.session.id,
        started=time_of(read.session, "start_time"),
        ended=time_of(read.session, "end_time"),
        check=checked(read),
        recurring=tuple(
            things.RecurringFact(each.item_id, each.proposal_number) for each in read.recurring
        ),
    )


def decision(
    read: dissonance_pb2.ReviewConflictResponse | dissonance_pb2.ResolveDissonanceResponse,
) -> things.Decision:
    """A conflict after a review or a resolution."""
    return things.Decision(
        conflict(read.conflict),
        read.proposal_id,
        read.proposal_number,
        tuple(read.dependent_ids),
        gave_way(read.gave_way),
    )
