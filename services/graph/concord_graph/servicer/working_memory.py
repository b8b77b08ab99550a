"""WorkingMemoryService."""

from __future__ import annotations

from functools import partial

from concord.graph.v1 import working_memory_pb2, working_memory_pb2_grpc

from concord_graph.domain.items import Entry, Importance, ItemKind
from concord_graph.ports import EntryFilter
from concord_graph.servicer import calls, outgoing
from concord_graph.usecases.memory.entries import STALE, WorkingMemory
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.write.commands import Commands


class WorkingMemoryServicer(working_memory_pb2_grpc.WorkingMemoryServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, commands: Commands, reader: Reader, working: WorkingMemory) -> None:
        self._commands = commands
        self._reader = reader
        self._working = working

    async def PutWorkingMemory(
        self, request: working_memory_pb2.PutWorkingMemoryRequest, context: calls.Context
    ) -> working_memory_pb2.PutWorkingMemoryResponse:
        done = await calls.execute(
            self._commands,
            request,
            partial(
                self._working.put,
                content=request.content,
                importance=Importance(request.importance),
                session_id=request.session_id,
            ),
        )
        entry, *evicted = map(_entry, done.entries)
        return calls.reply(
            working_memory_pb2.PutWorkingMemoryResponse, done, entry=entry, evicted=evicted
        )

    async def ListWorkingMemory(
        self, request: working_memory_pb2.ListWorkingMemoryRequest, context: calls.Context
    ) -> working_memory_pb2.ListWorkingMemoryResponse:
        filter_ = EntryFilter(
            ItemKind.WORKING_MEMORY,
            shelf=STALE if request.stale else "",
            session_id=request.session_id,
        )
        page, total, next_token = await calls.entry_page(self._reader, request, filter_)
        return working_memory_pb2.ListWorkingMemoryResponse(
            entries=map(_entry, page),
            next_page_token=next_token,
            total_count=total,
            capacity=self._working.capacity,
        )

    async def RemoveWorkingMemory(
        self, request: working_memory_pb2.RemoveWorkingMemoryRequest, context: calls.Context
    ) -> working_memory_pb2.RemoveWorkingMemoryResponse:
        done = await calls.execute(
            self._commands,
            request,
            partial(self._working.remove, entry_id=request.id),
        )
        return calls.reply(working_memory_pb2.RemoveWorkingMemoryResponse, done)

    async def ClearWorkingMemory(
        self, request: working_memory_pb2.ClearWorkingMemoryRequest, context: calls.Context
    ) -> working_memory_pb2.ClearWorkingMemoryResponse:
        done = await calls.execute(
            self._commands,
            request,
            partial(
                self._working.clear,
                session_id=request.session_id,
                include_stale=request.include_stale,
            ),
        )
        return calls.reply(
            working_memory_pb2.ClearWorkingMemoryResponse,
            done,
            removed_count=done.result.count,
            left_count=done.result.left,
        )


def _entry(entry: Entry) -> working_memory_pb2.WorkingEntry:
    put_time = entry.body.get("put_time")
    last = entry.revision.record_from
    return working_memory_pb2.WorkingEntry(
        id=entry.id,
        content=entry.body["content"],
        importance=entry.rank,  # type: ignore[arg-type] # numbers are the contract's
        session_id=entry.session_id,
        create_time=outgoing.stamp(entry.create_time),
        put_time=outgoing.stamp(last if put_time is None else put_time),
        evict_time=None if put_time is None else outgoing.stamp(last),
    )
