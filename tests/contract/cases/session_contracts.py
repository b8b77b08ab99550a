"""The contract cases of SessionService."""

from concord.graph.v1 import session_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import Home
from contract_registry import Contract, invalid
from record_contracts import of_services

FOUND = type_pb2.LOOKUP_STATUS_FOUND


def _of(home: Home) -> str:
    return f"reads ({home.space})"


SESSION = {
    "EndSession": Contract(
        request=lambda home: pb.EndSessionRequest(request_id="r", session_id=_of(home)),
        success=lambda reply, home: (
            reply.session.id == _of(home) and reply.session.end_time.seconds and reply.token
        ),
        bad_input=(lambda _: pb.EndSessionRequest(request_id="r"), invalid("session_id")),
        other=lambda _: pb.EndSessionRequest(request_id="r", session_id="talk"),
    ),
    "GetSession": Contract(
        request=lambda home: pb.GetSessionRequest(session_id=_of(home)),
        success=lambda reply, home: reply.status == FOUND and reply.session.id == _of(home),
        bad_input=(lambda _: pb.GetSessionRequest(), invalid("session_id")),
    ),
    "ListSessions": Contract(
        request=lambda _: pb.ListSessionsRequest(),
        success=lambda reply, home: _of(home) in [each.id for each in reply.sessions],
        bad_input=(lambda _: pb.ListSessionsRequest(page_size=201), invalid("page_size")),
    ),
    "ListRestated": of_services(
        request=lambda _: pb.ListRestatedRequest(session_ids=["talk"], least_sessions=1),
        success=lambda reply, _: reply.memories[0].session_ids == ["talk"],
        bad_input=(lambda _: pb.ListRestatedRequest(), invalid("session_ids")),
    ),
    "ListCoReads": of_services(
        request=lambda home: pb.ListCoReadsRequest(session_id=f"reads ({home.space})"),
        success=lambda reply, home: (
            {each.memory_id for each in reply.co_reads} == {home.old_id, home.memory_id}
        ),
        bad_input=(lambda _: pb.ListCoReadsRequest(), invalid("session_id")),
    ),
}
