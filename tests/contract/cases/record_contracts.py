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
    "GetRecords": Contract(
        request=lambda _: pb.GetRecordsRequest(names=[pb.RecordName(kind="no_such")]),
        success=lambda reply, _: [each.etag for each in reply.records] == [""],
        bad_input=(lambda _: pb.GetRecordsRequest(), invalid("names")),
        other_space=STRANGER,
        caller=_service,
        intruder=_stranger,
    ),
    "PutRecords": Contract(
        request=lambda _: pb.PutRecordsRequest(
            records=[pb.Record(name=pb.RecordName(kind="of_tests"), body="{}")]
        ),
        success=lambda reply, _: len(reply.etags) == 1,
        bad_input=(lambda _: pb.PutRecordsRequest(), invalid("records")),
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
