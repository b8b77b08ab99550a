"""Sends spans to an OpenTelemetry collector, if one is set."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from concord_chassis.config import load
from concord_chassis.observe.log import Logger
from concord_chassis.observe.tracing import Spans

PREFIX = "OTEL_EXPORTER_OTLP_"
EXPORT_SECONDS = 5
"""Seconds for the collector to accept a batch of spans, also when the exporter closes."""


class TracingConfig(BaseModel):
    """The settings of the collector, keys OTEL_EXPORTER_OTLP_..."""

    model_config = ConfigDict(frozen=True)

    endpoint: str = Field(default="", pattern=r"^(https?://[^/@]+/?)?$")
    """The collector's address for traces over gRPC, e.g. "http://127.0.0.1:4317"; https for TLS.
    Empty: no spans are made and nothing is sent."""


def read(environ: Mapping[str, str]) -> TracingConfig:
    """Returns the settings in `environ`. Raises `ConfigError`."""
    return load(TracingConfig, environ, PREFIX)


SpansOf = Callable[[str], Spans | None]
"""Returns the `Spans` of the service of this name; None if no collector is set."""


@asynccontextmanager
async def exported(config: TracingConfig, log: Logger) -> AsyncIterator[SpansOf]:
    """Sends the spans that this process's services make within the block to the collector.

    No call waits for the collector: the spans that it does not accept in time are dropped.
    """
    if not config.endpoint:
        yield lambda _: None
        return
    # Loading these packages takes a third of a second, which a start without a collector saves.
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # Spans go to the set collector only, not through the machine's web proxy.
    direct: Any = (("grpc.enable_http_proxy", 0),)  # gRPC takes a number; the annotation has str
    processor = BatchSpanProcessor(
        OTLPSpanExporter(config.endpoint, timeout=EXPORT_SECONDS, channel_options=direct)
    )

    def spans_of(service: str) -> Spans:
        resource = Resource.create({"service.name": f"concord-{service}"})
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(processor)
        return Spans(provider.get_tracer("concord"))

    logger, handler = logging.getLogger("opentelemetry"), _ToLog(log)
    logger.addHandler(handler)
    try:
        yield spans_of
    finally:
        await asyncio.to_thread(processor.shutdown)
        logger.removeHandler(handler)


class _ToLog(logging.Handler):
    """Writes the exporter's warnings and errors into our log."""

    def __init__(self, log: Logger) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.warning("traces", problem=record.getMessage())
