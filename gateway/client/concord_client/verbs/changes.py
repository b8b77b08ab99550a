"""The verbs that change one memory: by what was read of it, or by its id."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import grpc
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask

from concord_client.refusal import NotFound
from concord_client.verbs import read_reply, things
from concord_client.verbs.arguments import stamp, value_of
from concord_client.verbs.steps import Step, Steps, taken
from concord_client.verbs.things import Importance, Kind


def update(
    memory: things.Memory | str,
    *,
    content: str | None = None,
    kind: Kind | None = None,
    importance: Importance | None = None,
    tags: Sequence[str] | None = None,
    domain: str | None = None,
    surfaces_when: Sequence[str] | None = None,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    etag: str = "",
) -> Steps[things.WrittenMemory]:
    """Correct a memory. If the world has changed instead, add a memory that supersedes it.

    `memory`: as it was read, or its id. `content`: the whole content; a line of links
    (`Supersedes: …`) that is left out no longer holds. `tags` and `surfaces_when` (see `add`): all
    of them, none for an empty list. Raises `EtagMismatch` if somebody else has changed the memory
    since it was read; with an id alone, the one that is there now is changed.
    """
    stated: dict[str, Any] = {
        "content": content,
        "kind": None if kind is None else value_of(type_pb2.MemoryKind, kind, "kind"),
        "importance": None
        if importance is None
        else value_of(type_pb2.Importance, importance, "importance"),
        "tags": tags,
        "domain": domain,
        "surfaces_when": surfaces_when,
        "valid_from": stamp(valid_from),
        "valid_until": stamp(valid_until),
    }
    given = {name: value for name, value in stated.items() if value is not None}
    changed = type_pb2.Memory(**given)
    changed.id, changed.etag = yield from _version(memory, etag)
    request = memory_pb2.UpdateMemoryRequest(memory=changed, update_mask=FieldMask(paths=[*given]))
    return (yield from taken(Step(request, _written)))


def forget(memory: things.Memory | str, *, etag: str = "") -> Steps[things.WrittenMemory]:
    """Forget a memory: reads and searches leave it out, but its history stays.

    `memory`: as it was read, or its id; see `update`.
    """
    named, version = yield from _version(memory, etag)
    request = memory_pb2.ForgetMemoryRequest(id=named, etag=version)
    return (yield from taken(Step(request, _written)))


def restore(memory: things.Memory | str, *, etag: str = "") -> Steps[things.WrittenMemory]:
    """Bring a forgotten memory back. `memory`: as it was read, or its id; see `update`."""
    named, version = yield from _version(memory, etag)
    request = memory_pb2.RestoreMemoryRequest(id=named, etag=version)
    return (yield from taken(Step(request, _written)))


def erase(
    memory: things.Memory | str, *, reason: str = "", etag: str = ""
) -> Steps[things.WrittenMemory]:
    """Erase for good what a memory says: every version, in every store. Nothing undoes it.

    `memory`: as it was read, or its id; see `update`. `reason`: kept in the receipt, which
    `receipt` reads: it says when every store has confirmed.
    """
    named, version = yield from _version(memory, etag)
    request = memory_pb2.EraseMemoryRequest(id=named, etag=version, reason=reason)
    return (yield from taken(Step(request, _written)))


def receipt(memory_id: str) -> Step[things.Receipt | None]:
    """The receipt of a memory's erasure; None if no memory with this id was erased."""
    request = memory_pb2.GetEraseReceiptRequest(memory_id=memory_id)

    def read(reply: memory_pb2.GetEraseReceiptResponse) -> things.Receipt | None:
        return read_reply.receipt(reply.receipt) if reply.HasField("receipt") else None

    return Step(request, read)


def _written(
    reply: memory_pb2.UpdateMemoryResponse
    | memory_pb2.ForgetMemoryResponse
    | memory_pb2.RestoreMemoryResponse
    | memory_pb2.EraseMemoryResponse,
) -> things.WrittenMemory:
    return read_reply.written_memory(reply)


def _version(memory: things.Memory | str, etag: str) -> Steps[tuple[str, str]]:
    """The id and the etag of the version to change; one that is not given is read."""
    if not isinstance(memory, str):
        return memory.id, etag or memory.etag
    if etag:
        return memory, etag
    request = memory_pb2.GetMemoryRequest(id=memory, peek=True)
    reply: memory_pb2.GetMemoryResponse = yield Step(request, lambda message: message)
    if not reply.HasField("memory"):
        alike = f" Similar ids: {', '.join(reply.near_names)}." if reply.near_names else ""
        raise NotFound(
            grpc.StatusCode.NOT_FOUND,
            "ERROR_REASON_ITEM_NOT_FOUND",
            f"There is no memory {memory!r}.{alike}",
            metadata={"item_id": memory},
        )
    return memory, reply.memory.etag
