"""The contract cases of WorkingMemoryService."""

from concord.graph.v1 import working_memory_pb2 as pb
from contract_registry import Contract, invalid


def _put(content: str = "Buy tea") -> pb.PutWorkingMemoryRequest:
    return pb.PutWorkingMemoryRequest(request_id="r", content=content)


WORKING_MEMORY = {
    "PutWorkingMemory": Contract(
        request=lambda _: _put(),
        success=lambda reply, _: reply.entry.content == "Buy tea" and not reply.evicted,
        bad_input=(lambda _: _put("x" * 20_001), invalid("content")),
        other=lambda _: _put("Buy coffee"),
    ),
    "ListWorkingMemory": Contract(
        request=lambda _: pb.ListWorkingMemoryRequest(),
        success=lambda reply, home: reply.total_count == 2 and reply.entries[1].id == home.entry_id,
        bad_input=(
            lambda home: pb.ListWorkingMemoryRequest(
                stale=True, page_token=home.page_tokens["ListWorkingMemory"]
            ),
            invalid("page_token", "PAGE_TOKEN_INVALID"),
        ),
    ),
    "RemoveWorkingMemory": Contract(
        request=lambda home: pb.RemoveWorkingMemoryRequest(request_id="r", id=home.entry_id),
        success=lambda reply, _: reply.token,
        bad_input=(lambda _: pb.RemoveWorkingMemoryRequest(request_id="r"), invalid("id")),
        other=lambda home: pb.RemoveWorkingMemoryRequest(request_id="r", id=home.memory_id),
    ),
    "ClearWorkingMemory": Contract(
        request=lambda _: pb.ClearWorkingMemoryRequest(request_id="r"),
        success=lambda reply, _: reply.removed_count == 2,
        bad_input=(
            lambda _: pb.ClearWorkingMemoryRequest(request_id="r", session_id="x" * 129),
            invalid("session_id"),
        ),
        other=lambda _: pb.ClearWorkingMemoryRequest(request_id="r", include_stale=True),
    ),
}
