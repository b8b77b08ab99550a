"""The contract cases of RecallService."""

from concord.graph.v1 import recall_pb2 as pb
from contract_registry import Contract, invalid
from record_contracts import of_services

RECALL = {
    "ListRecalls": Contract(
        request=lambda _: pb.ListRecallsRequest(),
        success=lambda reply, _: not reply.enabled and not reply.recalls,
        bad_input=(lambda _: pb.ListRecallsRequest(page_size=201), invalid("page_size")),
    ),
    "SetRecallLog": Contract(
        request=lambda _: pb.SetRecallLogRequest(enabled=False),
        success=lambda reply, _: reply == pb.SetRecallLogResponse(),
    ),
    "EraseQueryText": Contract(
        request=lambda _: pb.EraseQueryTextRequest(query_id="no-such"),
        success=lambda reply, _: not reply.erased,
        bad_input=(lambda _: pb.EraseQueryTextRequest(), invalid("query_id")),
    ),
    "AddRecall": of_services(
        request=lambda home: pb.AddRecallRequest(
            recall=pb.Recall(query_id="q", principal="agent-1", memory_ids=[home.memory_id])
        ),
        success=lambda reply, _: not reply.kept,
        bad_input=(lambda _: pb.AddRecallRequest(), invalid("recall")),
    ),
}
