"""An OpenTelemetry collector in the test's own process: a real gRPC server that keeps spans."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1 import trace_pb2


@dataclass(frozen=True)
class TakenSpan:
    """A span as it arrived."""

    service: str
    raw: trace_pb2.Span

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.raw.name)

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes: words and whole numbers."""
        return {
            each.key: getattr(each.value, each.value.WhichOneof("value") or "")
            for each in self.raw.attributes
        }


@dataclass
class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """The collector's address and the spans that it received."""

    endpoint: str = ""
    spans: list[TakenSpan] = field(default_factory=list)
    wire: bytes = b""
    """All received requests, as bytes."""

    async def Export(  # noqa: N802 - named by the contract
        self, request: trace_service_pb2.ExportTraceServiceRequest, context: object
    ) -> trace_service_pb2.ExportTraceServiceResponse:
        """Keep a batch."""
        del context
        self.wire += request.SerializeToString()
        for of_resource in request.resource_spans:
            named = {each.key: each.value.string_value for each in of_resource.resource.attributes}
            for scope in of_resource.scope_spans:
                self.spans += [TakenSpan(named["service.name"], each) for each in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """A collector on loopback."""
    collector, server = Collector(), grpc.aio.server()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, server)  # type: ignore[no-untyped-call]  # generated
    collector.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield collector
    finally:
        await server.stop(0)
