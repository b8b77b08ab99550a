"""The contract cases of ConflictService."""

from concord.graph.v1 import conflict_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import Home, disagreement
from contract_live import dissonant
from contract_registry import Contract, invalid

MISSED = type_pb2.LOOKUP_STATUS_NOT_FOUND


def _found(home: Home, confidence: float = 0.9) -> pb.RecordConflictsRequest:
    one = type_pb2.Memory(id=home.memory_id, etag=home.memory_etag)
    other = type_pb2.Memory(id=home.creed_id, etag=home.creed_etag)
    finding = disagreement(one, other)
    finding.confidence = confidence
    return pb.RecordConflictsRequest(request_id="r", findings=[finding])


def _review(home: Home, context: str = "", decision: int = 2) -> pb.ReviewConflictRequest:
    return pb.ReviewConflictRequest(
        request_id="r",
        conflict_id=home.conflict_id,
        etag=home.conflict_etag,
        decision=decision,  # type: ignore[arg-type] # numbers are the contract's; 2 is DISMISS
        context=context,
    )


def _resolve(home: Home, context: str = "", as_class: int = 2) -> pb.ResolveConflictRequest:
    return pb.ResolveConflictRequest(
        request_id="r",
        conflict_id=home.conflict_id,
        etag=home.conflict_etag,
        resolution_type=as_class,  # type: ignore[arg-type] # 2 is CONTRADICTION
        superseded_id=home.memory_id,
        context=context,
    )


def _reopen(home: Home, etag: str = "") -> pb.ReopenConflictRequest:
    return pb.ReopenConflictRequest(
        request_id="r", conflict_id=home.dismissed_id, etag=etag or home.dismissed_etag
    )


CONFLICT = {
    "RecordConflicts": Contract(
        request=_found,
        success=lambda reply, _: reply.findings[0].outcome == pb.FINDING_OUTCOME_CREATED,
        bad_input=(lambda home: _found(home, 1.5), invalid("findings[0].confidence")),
        other=lambda home: _found(home, 0.5),
        caller=lambda home: dissonant(home.space),
    ),
    "GetConflict": Contract(
        request=lambda home: pb.GetConflictRequest(id=home.conflict_id),
        success=lambda reply, home: (
            {reply.conflict.first.id, reply.conflict.second.id} == {home.memory_id, "heir"}
        ),
        bad_input=(lambda _: pb.GetConflictRequest(), invalid("by")),
    ),
    "ListConflicts": Contract(
        request=lambda _: pb.ListConflictsRequest(),
        success=lambda reply, home: (
            [each.id for each in reply.conflicts] == [home.dismissed_id, home.conflict_id]
            and reply.total_count == 2
        ),
        bad_input=(lambda _: pb.ListConflictsRequest(page_size=201), invalid("page_size")),
    ),
    "ReviewConflict": Contract(
        request=_review,
        success=lambda reply, _: reply.conflict.state == pb.CONFLICT_STATE_DISMISSED,
        bad_input=(lambda home: _review(home, decision=3), invalid("context")),
        other=lambda home: _review(home, "another reason"),
    ),
    "ResolveConflict": Contract(
        request=_resolve,
        success=lambda reply, _: (
            reply.conflict.state == pb.CONFLICT_STATE_RESOLVED
            and reply.conflict.resolution.superseding_id == "heir"
            and reply.conflict.resolution.record_id
        ),
        bad_input=(lambda home: _resolve(home, as_class=4), invalid("resolution_type")),
        other=lambda home: _resolve(home, "another reason"),
    ),
    "ReopenConflict": Contract(
        request=_reopen,
        success=lambda reply, _: reply.conflict.state == pb.CONFLICT_STATE_POTENTIAL,
        bad_input=(
            lambda _: pb.ReopenConflictRequest(request_id="r", etag="e"),
            invalid("conflict_id"),
        ),
        other=lambda home: _reopen(home, "another etag"),
    ),
    "DismissConflicts": Contract(
        request=lambda _: pb.DismissConflictsRequest(request_id="r", run_id="no-such"),
        success=lambda reply, _: reply.is_complete and not reply.dismissed_count,
        bad_input=(lambda _: pb.DismissConflictsRequest(request_id="r"), invalid("by")),
        other=lambda _: pb.DismissConflictsRequest(request_id="r", run_id="another"),
    ),
    "EndFormerFindings": Contract(
        request=lambda _: pb.EndFormerFindingsRequest(request_id="r", judges_version=1),
        success=lambda reply, _: reply.is_complete and reply.ended_count == 1,
        bad_input=(
            lambda _: pb.EndFormerFindingsRequest(request_id="r"),
            invalid("judges_version"),
        ),
        other=lambda _: pb.EndFormerFindingsRequest(request_id="r", judges_version=2),
        caller=lambda home: dissonant(home.space),
    ),
    "GetCheckSettings": Contract(
        request=lambda _: pb.GetCheckSettingsRequest(),
        success=lambda reply, _: not reply.settings.records_text_findings,
    ),
    "SetCheckSettings": Contract(
        request=lambda _: pb.SetCheckSettingsRequest(settings=pb.CheckSettings()),
        success=lambda reply, _: not reply.settings.records_text_findings,
        bad_input=(lambda _: pb.SetCheckSettingsRequest(), invalid("settings")),
    ),
}
