"""RecordService."""

from __future__ import annotations

from typing import Any

import grpc
from concord.graph.v1 import record_pb2, record_pb2_grpc
from concord_chassis.call.identity import caller

from concord_graph.domain.recalls import Recall
from concord_graph.servicer.outgoing import stamp
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.recalls import Recalls
from concord_graph.usecases.records import Record, Records

MOST_PAIRS = 1_000
"""Pairs of memories in a list of co-reads."""
MOST_RESTATED = 1_000
"""Memories in a list of restated memories."""
MOST_TRIGGERED = 10_000
"""Memories in a list of triggers."""

Context = grpc.aio.ServicerContext[Any, Any]


class RecordServicer(record_pb2_grpc.RecordServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, records: Records, reader: Reader, recalls: Recalls) -> None:
        self._records = records
        self._recalls = recalls
        self._reader = reader

    async def GetRecords(
        self, request: record_pb2.GetRecordsRequest, context: Context
    ) -> record_pb2.GetRecordsResponse:
        names = [(each.kind, each.key) for each in request.names]
        found = await self._records.get(caller().space, names)
        return record_pb2.GetRecordsResponse(
            records=[
                record_pb2.Record(name=name, body=each.body, etag=each.etag)
                for name, each in zip(request.names, found, strict=True)
            ]
        )

    async def PutRecords(
        self, request: record_pb2.PutRecordsRequest, context: Context
    ) -> record_pb2.PutRecordsResponse:
        records = [
            Record(each.name.kind, each.name.key, each.body, each.etag) for each in request.records
        ]
        dropped = request.drop_before
        drop_before = (dropped.kind, dropped.key) if request.HasField("drop_before") else None
        etags = await self._records.put(caller().space, records, drop_before)
        return record_pb2.PutRecordsResponse(etags=etags)

    async def ListCoReads(
        self, request: record_pb2.ListCoReadsRequest, context: Context
    ) -> record_pb2.ListCoReadsResponse:
        found = await self._reader.read(
            caller().space, lambda tx, _: tx.co_reads(request.session_id, MOST_PAIRS)
        )
        return record_pb2.ListCoReadsResponse(
            co_reads=[
                record_pb2.CoRead(
                    memory_id=each.memory_id,
                    other_id=each.other_id,
                    session_count=each.session_count,
                    last_time=stamp(each.last_time),
                )
                for each in found
            ]
        )

    async def ListRestated(
        self, request: record_pb2.ListRestatedRequest, context: Context
    ) -> record_pb2.ListRestatedResponse:
        least = request.least_sessions or 2
        sessions = list(request.session_ids)
        found = await self._reader.read(
            caller().space, lambda tx, _: tx.restated(sessions, least, MOST_RESTATED)
        )
        return record_pb2.ListRestatedResponse(
            memories=[
                record_pb2.Restated(memory_id=each.memory_id, session_ids=each.session_ids)
                for each in found
            ]
        )

    async def ListTriggers(
        self, request: record_pb2.ListTriggersRequest, context: Context
    ) -> record_pb2.ListTriggersResponse:
        found = await self._reader.read(caller().space, lambda tx, _: tx.triggered(MOST_TRIGGERED))
        return record_pb2.ListTriggersResponse(
            memories=[
                record_pb2.MemoryTriggers(memory_id=memory_id, surfaces_when=triggers)
                for memory_id, triggers in found
            ]
        )

    async def AddRecall(
        self, request: record_pb2.AddRecallRequest, context: Context
    ) -> record_pb2.AddRecallResponse:
        said = request.recall
        recall = Recall(said.query_id, said.principal, said.session_id, tuple(said.memory_ids))
        kept = await self._recalls.add(caller().space, recall)
        return record_pb2.AddRecallResponse(kept=kept)
