"""MemoryService."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from functools import partial

from concord.graph.v1 import memory_pb2, memory_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import translate
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor
from concord_chassis.observe import tracing

from concord_graph.domain.drafts import MemoryDraft
from concord_graph.domain.errors import FieldInvalid, TooManyFacts
from concord_graph.domain.items import is_erased
from concord_graph.domain.spelling import NameKind
from concord_graph.ports import BatchAdded
from concord_graph.servicer import calls, incoming, outgoing
from concord_graph.servicer.actions import Actions
from concord_graph.usecases.read.items import get_memory, history, list_memories
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.write.commands import BatchRefused, Commands, Done

_ERASED = type_pb2.LOOKUP_STATUS_ERASED

MOST_FACTS = 50
"""Facts of a batch's memories together. Each is some ten statements in one transaction, for which
the writes of other spaces wait on an embedded store."""

MOST_TRIGGERED = 10_000
"""Memories in a list of triggers."""


def _noted(memory: type_pb2.Memory) -> type_pb2.Memory:
    """Return the memory, after noting its id in the call's span."""
    tracing.note({"gen_ai.memory.record.id": memory.id})
    return memory


class MemoryServicer(memory_pb2_grpc.MemoryServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(
        self,
        commands: Commands,
        reader: Reader,
        actions: Actions,
        erased: Callable[[], None],
    ) -> None:
        """`erased` runs after each erasure."""
        self._commands = commands
        self._reader = reader
        self._actions = actions
        self._erased = erased

    async def AddMemory(
        self, request: memory_pb2.AddMemoryRequest, context: calls.Context
    ) -> memory_pb2.AddMemoryResponse:
        done = await calls.execute(self._commands, request, self._actions.add_memory(request))
        return calls.reply(
            memory_pb2.AddMemoryResponse,
            done,
            memory=_noted(outgoing.done_memory(done)),
            created=done.result.is_new,
        )

    async def BatchAddMemories(
        self,
        request_iterator: AsyncIterator[memory_pb2.BatchAddMemoriesRequest],
        context: calls.Context,
    ) -> memory_pb2.BatchAddMemoriesResponse:
        header, drafts, compared = await _read_batch(request_iterator)
        tracing.note({"gen_ai.memory.record.count": len(drafts)})
        try:
            done = await calls.execute_as(
                self._commands,
                "BatchAddMemories",
                header,
                compared,
                partial(
                    self._actions.memories.add_many,
                    drafts=drafts,
                    update_existing=header.update_existing,
                    extracted=header.extracted,
                ),
            )
        except BatchRefused as refused:
            return memory_pb2.BatchAddMemoriesResponse(errors=self._errors(refused))
        return _batch_reply(done)

    def _errors(self, refused: BatchRefused) -> list[memory_pb2.BatchError]:
        errors = []
        for refusal in refused.refusals:
            failure = translate(refusal.cause)
            if failure is None:
                raise refusal.cause
            errors.append(
                memory_pb2.BatchError(
                    index=refusal.index, reason=failure.reason, message=failure.message
                )
            )
        return errors

    async def GetMemory(
        self, request: memory_pb2.GetMemoryRequest, context: calls.Context
    ) -> memory_pb2.GetMemoryResponse:
        as_of, external_id = incoming.as_of(request), incoming.text(request.external_id)
        shown = await self._reader.read(
            caller().space,
            lambda tx, now: get_memory(
                tx, as_of.at(now), now, memory_id=request.id, external_id=external_id
            ),
            brief=True,
        )
        if shown is None:
            kind = NameKind.MEMORY_ID if request.id else NameKind.EXTERNAL_ID
            names = await calls.near(self._reader, kind, request.id or external_id)
            return memory_pb2.GetMemoryResponse(status=calls.NOT_FOUND, near_names=names)
        self._reader.count_item(caller().space, shown, request.session_id, peek=request.peek)
        memory = outgoing.memory(shown, shown.valid)
        status = _ERASED if is_erased(shown.view.item) else calls.FOUND
        return memory_pb2.GetMemoryResponse(status=status, memory=memory)

    async def UpdateMemory(
        self, request: memory_pb2.UpdateMemoryRequest, context: calls.Context
    ) -> memory_pb2.UpdateMemoryResponse:
        done = await calls.execute(self._commands, request, self._actions.update_memory(request))
        return calls.reply(
            memory_pb2.UpdateMemoryResponse, done, memory=_noted(outgoing.done_memory(done))
        )

    async def ForgetMemory(
        self, request: memory_pb2.ForgetMemoryRequest, context: calls.Context
    ) -> memory_pb2.ForgetMemoryResponse:
        done = await calls.execute(self._commands, request, self._actions.forget_memory(request))
        return calls.reply(
            memory_pb2.ForgetMemoryResponse, done, memory=_noted(outgoing.done_memory(done))
        )

    async def RestoreMemory(
        self, request: memory_pb2.RestoreMemoryRequest, context: calls.Context
    ) -> memory_pb2.RestoreMemoryResponse:
        done = await calls.execute(self._commands, request, self._actions.restore_memory(request))
        return calls.reply(
            memory_pb2.RestoreMemoryResponse, done, memory=outgoing.done_memory(done)
        )

    async def EraseMemory(
        self, request: memory_pb2.EraseMemoryRequest, context: calls.Context
    ) -> memory_pb2.EraseMemoryResponse:
        done = await calls.execute(self._commands, request, self._actions.erase_memory(request))
        self._erased()
        return calls.reply(
            memory_pb2.EraseMemoryResponse,
            done,
            erase_id=done.result.erase_id,
            memory=_noted(outgoing.done_memory(done)),
        )

    async def GetEraseReceipt(
        self, request: memory_pb2.GetEraseReceiptRequest, context: calls.Context
    ) -> memory_pb2.GetEraseReceiptResponse:
        erasure = await self._reader.read(
            caller().space,
            lambda tx, _: tx.erasure(erase_id=request.erase_id, memory_id=request.memory_id),
        )
        if erasure is None:
            return memory_pb2.GetEraseReceiptResponse(status=calls.NOT_FOUND)
        receipt = outgoing.erase_receipt(erasure)
        return memory_pb2.GetEraseReceiptResponse(status=calls.FOUND, receipt=receipt)

    async def ConfirmErase(
        self, request: memory_pb2.ConfirmEraseRequest, context: calls.Context
    ) -> memory_pb2.ConfirmEraseResponse:
        done = await calls.execute(
            self._commands,
            request,
            partial(self._actions.erasing.confirm, memory_id=request.memory_id),
        )
        return calls.reply(memory_pb2.ConfirmEraseResponse, done)

    async def ListTriggers(
        self, request: memory_pb2.ListTriggersRequest, context: calls.Context
    ) -> memory_pb2.ListTriggersResponse:
        found = await self._reader.read(caller().space, lambda tx, _: tx.triggered(MOST_TRIGGERED))
        return memory_pb2.ListTriggersResponse(
            memories=[
                memory_pb2.MemoryTriggers(memory_id=memory_id, surfaces_when=triggers)
                for memory_id, triggers in found
            ]
        )

    async def ListMemories(
        self, request: memory_pb2.ListMemoriesRequest, context: calls.Context
    ) -> memory_pb2.ListMemoriesResponse:
        cursor = page_cursor(request, (int, str))
        before = (int(cursor[0]), str(cursor[1])) if cursor else None
        filter_ = incoming.memory_filter(request)
        as_of, limit = incoming.as_of(request), calls.page_limit(request)
        found = await self._reader.read(
            caller().space,
            lambda tx, now: list_memories(
                tx, filter_, as_of.at(now), now, before=before, limit=limit
            ),
        )
        shown, token = calls.one_page(
            request, found, lambda last: [last.view.item.create_time, last.view.item.id]
        )
        return memory_pb2.ListMemoriesResponse(
            memories=[outgoing.memory(one, one.valid) for one in shown], next_page_token=token
        )

    async def GetMemoryHistory(
        self, request: memory_pb2.GetMemoryHistoryRequest, context: calls.Context
    ) -> memory_pb2.GetMemoryHistoryResponse:
        before = page_cursor(request, int) or 2**62
        as_of, limit = incoming.as_of(request), calls.page_limit(request)
        found = await self._reader.read(
            caller().space,
            lambda tx, now: history(
                tx, request.id, as_of.at(now), before_revision=before, limit=limit
            ),
        )
        versions, token = calls.one_page(request, found, lambda last: last.revision.number)
        return memory_pb2.GetMemoryHistoryResponse(
            versions=map(outgoing.version, versions), next_page_token=token
        )


async def _read_batch(
    messages: AsyncIterator[memory_pb2.BatchAddMemoriesRequest],
) -> tuple[memory_pb2.BatchHeader, list[MemoryDraft], bytes]:
    """Return the header, the drafts, and the digest that a repeated request is compared with."""
    header: memory_pb2.BatchHeader | None = None
    drafts: list[MemoryDraft] = []
    facts = 0
    compared = hashlib.sha256()
    async for message in messages:
        if (message.WhichOneof("part") == "header") != (header is None):
            raise FieldInvalid("part", "the header comes first, and only first")
        if header is None:
            header = message.header
        elif len(drafts) == header.memory_count:
            raise FieldInvalid("part", "more memories than the header says")
        else:
            drafts.append(incoming.memory_draft(message.memory))
            facts += len(drafts[-1].facts)
            if facts > MOST_FACTS:
                raise TooManyFacts(MOST_FACTS)
        compared.update(hashlib.sha256(message.SerializeToString(deterministic=True)).digest())
    if header is None or header.memory_count != len(drafts):
        raise FieldInvalid("part", "a batch is a header and as many memories as it says")
    return header, drafts, compared.digest()


def _batch_reply(done: Done[BatchAdded]) -> memory_pb2.BatchAddMemoriesResponse:
    results = [
        memory_pb2.BatchResult(
            memory_id=one.ref.id,
            outcome=int(one.outcome),  # type: ignore[arg-type] # numbers are the contract's
        )
        for one in done.result.memories
    ]
    return calls.reply(memory_pb2.BatchAddMemoriesResponse, done, results=results)
