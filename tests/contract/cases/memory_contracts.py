"""The contract cases of MemoryService."""

from concord.graph.v1 import memory_pb2 as pb
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from contract_homes import Home
from contract_registry import Contract, invalid
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from record_contracts import of_services

FOUND, MISSED = type_pb2.LOOKUP_STATUS_FOUND, type_pb2.LOOKUP_STATUS_NOT_FOUND
Memory = type_pb2.Memory


def _add(home: Home, content: str = "Ada learnt to swim") -> pb.AddMemoryRequest:
    """The id is the other home's when that is asked for: then it names nothing here."""
    return pb.AddMemoryRequest(
        request_id="r", memory=Memory(content=f"{content} [[memory:{home.memory_id}]]")
    )


def _batch(home: Home, *contents: str) -> list[Message | bytes]:
    memories = [Memory(content=f"{text} [[memory:{home.memory_id}]]") for text in contents]
    return [
        pb.BatchAddMemoriesRequest(
            header=pb.BatchHeader(request_id="r", memory_count=len(memories))
        ),
        *(pb.BatchAddMemoriesRequest(memory=memory) for memory in memories),
    ]


def _update(home: Home, content: str = "Ada drinks cocoa") -> pb.UpdateMemoryRequest:
    memory = Memory(id=home.memory_id, etag=home.memory_etag, content=content)
    return pb.UpdateMemoryRequest(
        request_id="r", memory=memory, update_mask=FieldMask(paths=["content"])
    )


def _update_backwards(home: Home) -> pb.UpdateMemoryRequest:
    request = _update(home)
    request.memory.valid_from.CopyFrom(Timestamp(seconds=20))
    request.memory.valid_until.CopyFrom(Timestamp(seconds=10))
    request.update_mask.paths[:] = ["valid_from", "valid_until"]
    return request


def _erase(home: Home, reason: str = "asked for") -> pb.EraseMemoryRequest:
    return pb.EraseMemoryRequest(request_id="r", id=home.old_id, etag=home.old_etag, reason=reason)


MEMORY = {
    "AddMemory": Contract(
        request=_add,
        success=lambda reply, _: reply.created and reply.memory.etag,
        bad_input=(lambda home: _add(home, "x" * 20_001), invalid("memory.content")),
        other=lambda home: _add(home, "Ada learnt to fly"),
    ),
    "BatchAddMemories": Contract(
        request=lambda home: _batch(home, "One", "Two"),
        success=lambda reply, _: [r.outcome for r in reply.results] == [1, 1] and not reply.errors,
        bad_input=(lambda home: _batch(home, "One")[1:], invalid("part")),
        other=lambda home: _batch(home, "One", "Three"),
    ),
    "GetMemory": Contract(
        request=lambda home: pb.GetMemoryRequest(id=home.old_id),
        success=lambda reply, home: (
            reply.status == FOUND and reply.memory.supersession.head_ids == [home.memory_id]
        ),
        bad_input=(lambda _: pb.GetMemoryRequest(external_id="x" * 513), invalid("external_id")),
    ),
    "UpdateMemory": Contract(
        request=_update,
        success=lambda reply, home: (
            reply.memory.content == "Ada drinks cocoa" and reply.memory.id == home.memory_id
        ),
        bad_input=(_update_backwards, invalid("memory.valid_until")),
        other=lambda home: _update(home, "Ada drinks water"),
    ),
    "ForgetMemory": Contract(
        request=lambda home: pb.ForgetMemoryRequest(
            request_id="r", id=home.memory_id, etag=home.memory_etag
        ),
        success=lambda reply, _: reply.memory.HasField("forget_time"),
        bad_input=(
            lambda home: pb.ForgetMemoryRequest(request_id="r", id="a\0b", etag=home.memory_etag),
            invalid("id"),
        ),
        other=lambda home: pb.ForgetMemoryRequest(request_id="r", id=home.old_id, etag="other"),
    ),
    "RestoreMemory": Contract(
        request=lambda home: pb.RestoreMemoryRequest(
            request_id="r", id=home.gone_id, etag=home.gone_etag
        ),
        success=lambda reply, _: not reply.memory.HasField("forget_time"),
        bad_input=(
            lambda home: pb.RestoreMemoryRequest(request_id="r", id=home.gone_id, etag="e" * 129),
            invalid("etag"),
        ),
        other=lambda home: pb.RestoreMemoryRequest(request_id="r", id=home.old_id, etag="other"),
    ),
    "EraseMemory": Contract(
        request=_erase,
        success=lambda reply, home: (
            reply.erase_id
            and reply.memory.HasField("erase_time")
            and (reply.memory.id, reply.memory.content) == (home.old_id, "")
        ),
        bad_input=(lambda home: _erase(home, "x" * 501), invalid("reason")),
        other=lambda home: _erase(home, "another reason"),
    ),
    "GetEraseReceipt": Contract(
        request=lambda home: pb.GetEraseReceiptRequest(erase_id=home.erase_id),
        success=lambda reply, home: (
            reply.status == FOUND
            and (reply.receipt.memory_id, reply.receipt.edge_count) == (home.erased_id, 2)
            and [c.confirmer for c in reply.receipt.confirmations] == ["graph", "search"]
        ),
        bad_input=(lambda _: pb.GetEraseReceiptRequest(), invalid("by")),
    ),
    "ConfirmErase": Contract(
        request=lambda home: pb.ConfirmEraseRequest(request_id="r", memory_id=home.erased_id),
        success=lambda reply, _: reply.token,
        bad_input=(lambda _: pb.ConfirmEraseRequest(request_id="r"), invalid("memory_id")),
        other=lambda home: pb.ConfirmEraseRequest(request_id="r", memory_id=home.old_id),
        caller=lambda home: Caller(home.space, "search", frozenset({"confirm:write"}), "SYSTEM"),
    ),
    "ListMemories": Contract(
        request=lambda _: pb.ListMemoriesRequest(include_superseded=True, page_size=100),
        success=lambda reply, home: (
            {m.id for m in reply.memories}
            == {*home.turn_ids, home.memory_id, home.old_id, home.creed_id, "shared/one", "heir"}
        ),
        bad_input=(
            lambda _: ParseDict({"filter": {"kinds": [99]}}, pb.ListMemoriesRequest()),
            invalid("filter.kinds[0]"),
        ),
    ),
    "GetMemoryHistory": Contract(
        request=lambda home: pb.GetMemoryHistoryRequest(id=home.gone_id),
        success=lambda reply, _: [each.revision for each in reply.versions] == [2, 1],
        bad_input=(
            lambda home: pb.GetMemoryHistoryRequest(id=home.gone_id, page_token="damaged"),
            invalid("page_token", "PAGE_TOKEN_INVALID"),
        ),
    ),
    "ListTriggers": of_services(
        request=lambda _: pb.ListTriggersRequest(),
        success=lambda reply, _: not reply.memories,
    ),
}
