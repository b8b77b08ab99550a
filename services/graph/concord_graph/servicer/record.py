"""RecordService."""

from __future__ import annotations

from concord.graph.v1 import record_pb2, record_pb2_grpc
from concord_chassis.call.identity import caller

from concord_graph.servicer.calls import Context
from concord_graph.usecases.records import Record, Records


class RecordServicer(record_pb2_grpc.RecordServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, records: Records) -> None:
        self._records = records

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
