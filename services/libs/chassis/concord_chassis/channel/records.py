"""Small records that a service keeps in graph: read, and stored if nobody changed them since."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import grpc
from concord.graph.v1 import record_pb2, record_pb2_grpc

from concord_chassis.call.failure import from_rpc_error

if TYPE_CHECKING:  # the name exists for type checkers only
    from concord.graph.v1.record_pb2_grpc import RecordServiceAsyncStub

MOST_TRIES = 100
"""Times that a change is tried; each failure is a success of somebody else."""

Name = tuple[str, str]
"""The kind and key of a record."""
Body = Mapping[str, Any]
Metadata = tuple[tuple[str, str], ...]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Record:
    """A record; without one in graph, `body` and `etag` are empty."""

    name: Name
    body: Body
    etag: str = ""


class SmallRecords:
    """The records of graph, over a channel. Every method raises grpc's errors."""

    def __init__(self, channel: grpc.aio.Channel, metadata: Callable[[str], Metadata]) -> None:
        """`metadata`: of a call about a space."""
        self._stub: RecordServiceAsyncStub = record_pb2_grpc.RecordServiceStub(channel)
        self._metadata = metadata

    async def get(self, space: str, *names: Name) -> list[Record]:
        """Return the records of these names."""
        request = record_pb2.GetRecordsRequest(names=[_message(name) for name in names])
        reply = await self._stub.GetRecords(request, metadata=self._metadata(space))
        return [
            Record(name, json.loads(each.body or "{}"), each.etag)
            for name, each in zip(names, reply.records, strict=True)
        ]

    async def put(
        self, space: str, *records: Record, drop_before: Name | None = None
    ) -> Sequence[str]:
        """Store all of the records or, after a change of one since it was read, none.

        Return their new etags. `drop_before`: the kind and the key before which records go.
        """
        request = record_pb2.PutRecordsRequest(
            records=[
                record_pb2.Record(
                    name=_message(each.name), body=json.dumps(dict(each.body)), etag=each.etag
                )
                for each in records
            ],
            drop_before=_message(drop_before) if drop_before else None,
        )
        reply = await self._stub.PutRecords(request, metadata=self._metadata(space))
        return reply.etags

    async def change(
        self,
        space: str,
        names: Sequence[Name],
        decide: Callable[[Sequence[Body]], tuple[T, Sequence[Body | None]]],
    ) -> T:
        """Store what `decide` makes of the records' bodies, and return its result.

        A body that is None is not stored. Decides again after a change by somebody else.
        """
        for tries_left in reversed(range(MOST_TRIES)):
            records = await self.get(space, *names)
            result, bodies = decide([each.body for each in records])
            changed = [
                replace(record, body=body)
                for record, body in zip(records, bodies, strict=bool(bodies))
                if body is not None
            ]
            if not changed:
                break
            try:
                await self.put(space, *changed)
                break
            except grpc.aio.AioRpcError as error:
                if not tries_left or not is_changed(error):
                    raise
        return result


def is_changed(error: grpc.aio.AioRpcError) -> bool:
    """Whether records were not stored because one was changed since it was read."""
    return from_rpc_error(error).reason == "ERROR_REASON_ETAG_MISMATCH"


def _message(name: Name) -> record_pb2.RecordName:
    kind, key = name
    return record_pb2.RecordName(kind=kind, key=key)
