"""The contract cases of RecordService, whose callers are Concord's own services."""

from concord.graph.v1 import recall_pb2
from concord.graph.v1 import record_pb2 as pb
from concord_chassis.call.identity import Caller
from contract_homes import Home
from contract_live import member
from contract_registry import NO_MESSAGE, Contract, Refused, invalid
from grpc import StatusCode

STRANGER = Refused(StatusCode.PERMISSION_DENIED, "PERMISSION_MISSING")


def _service(home: Home) -> Caller:
    return Caller(home.space, "dissonance", frozenset({"record:all"}), "SYSTEM")


def _stranger(home: Home) -> Caller:
    return member(home.space)


RECORD = {
    "GetJudgedPosition": Contract(
        request=lambda _: pb.GetJudgedPositionRequest(),
        success=lambda reply, _: reply.HasField("position"),
        bad_input=(lambda _: NO_MESSAGE, invalid()),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "PutJudgedPosition": Contract(
        request=lambda _: pb.PutJudgedPositionRequest(position=pb.JudgedPosition(token="t")),
        success=lambda reply, _: reply.etag,
        bad_input=(lambda _: pb.PutJudgedPositionRequest(), invalid("position")),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "AddModelSpend": Contract(
        request=lambda _: pb.AddModelSpendRequest(spend=pb.ModelSpend(calls=1)),
        success=lambda reply, _: reply.added and reply.total.calls >= 1,
        bad_input=(
            lambda _: pb.AddModelSpendRequest(spend=pb.ModelSpend(calls=2**50)),
            invalid("spend.calls"),
        ),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "PutRankedQuery": Contract(
        request=lambda _: pb.PutRankedQueryRequest(
            query=pb.RankedQuery(id="q", text="who", constitutive_weight=2)
        ),
        success=lambda reply, _: reply == pb.PutRankedQueryResponse(),
        bad_input=(lambda _: pb.PutRankedQueryRequest(), invalid("query")),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "AddFeedback": Contract(
        request=lambda home: pb.AddFeedbackRequest(
            query_id=home.query_id, principal="ada", helpfulness=pb.HELPFULNESS_UNSPECIFIED
        ),
        success=lambda reply, _: reply.HasField("calibration"),
        bad_input=(lambda _: pb.AddFeedbackRequest(principal="ada"), invalid("query_id")),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "GetCalibration": Contract(
        request=lambda _: pb.GetCalibrationRequest(),
        success=lambda reply, _: reply.HasField("calibration"),
        bad_input=(lambda _: NO_MESSAGE, invalid()),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "MoveWeight": Contract(
        request=lambda _: pb.MoveWeightRequest(
            move=pb.WeightMove(principal="search", old_weight=2, new_weight=2)
        ),
        success=lambda reply, _: reply.calibration.constitutive_weight == 2,
        bad_input=(lambda _: pb.MoveWeightRequest(), invalid("move")),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "AddRecall": Contract(
        request=lambda home: pb.AddRecallRequest(
            recall=recall_pb2.Recall(query_id="q", principal="agent-1", memory_ids=[home.memory_id])
        ),
        success=lambda reply, _: not reply.kept,
        bad_input=(lambda _: pb.AddRecallRequest(), invalid("recall")),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "ListTriggers": Contract(
        request=lambda _: pb.ListTriggersRequest(),
        success=lambda reply, _: not reply.memories,
        bad_input=(lambda _: NO_MESSAGE, invalid()),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "ClaimSuggestions": Contract(
        request=lambda _: pb.ClaimSuggestionsRequest(
            session_id="talk", memory_ids=["b", "a"], limit=1
        ),
        success=lambda reply, _: reply.memory_ids == ["b"],
        bad_input=(
            lambda _: pb.ClaimSuggestionsRequest(session_id="talk", limit=1),
            invalid("memory_ids"),
        ),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "ListRestated": Contract(
        request=lambda _: pb.ListRestatedRequest(session_ids=["talk"], least_sessions=1),
        success=lambda reply, _: reply.memories[0].session_ids == ["talk"],
        bad_input=(lambda _: pb.ListRestatedRequest(), invalid("session_ids")),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "ListCoReads": Contract(
        request=lambda home: pb.ListCoReadsRequest(session_id=f"reads ({home.space})"),
        success=lambda reply, home: (
            {each.memory_id for each in reply.co_reads} == {home.old_id, home.memory_id}
        ),
        bad_input=(lambda _: pb.ListCoReadsRequest(), invalid("session_id")),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
}
