"""Where spans go: an OpenTelemetry collector, or nowhere unless one is set."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from concord_chassis.config import load
from concord_chassis.log import Logger
from concord_chassis.tracing import Spans

PREFIX = "OTEL_EXPORTER_OTLP_"
EXPORT_SECONDS = 5
"""For a batch of spans to be taken, also at the end."""


class TracingConfig(BaseModel):
    """Where traces go, keys OTEL_EXPORTER_OTLP_..."""

    model_config = ConfigDict(frozen=True)

    endpoint: str = Field(default="", pattern=r"^(https?://[^/@]+/?)?$")
    """Where an OpenTelemetry collector takes traces over gRPC, e.g. "http://127.0.0.1:4317"; https
    for TLS. Empty: there are no traces, and nothing leaves."""


def read(environ: Mapping[str, str]) -> TracingConfig:
    """The settings in `environ`. Raises `ConfigError`."""
    return load(TracingConfig, environ, PREFIX)


SpansOf = Callable[[str], Spans | None]
"""What makes the spans of a service, by its name; None where there are none."""


@asynccontextmanager
async def exported(config: TracingConfig, log: Logger) -> AsyncIterator[SpansOf]:
    """Sends what services of this process trace within the block to the collector.

    No call waits for it: what a collector that is away or slow does not take is dropped.
    """
    if not config.endpoint:
        yield lambda _: None
        return
    # Loading them takes a third of a second, which a start without them need not pay.
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # Nothing goes where the setting does not say, not to the machine's web proxy either.
    direct: Any = (("grpc.enable_http_proxy", 0),)  # gRPC wants a number, their types a text
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
    """Writes what the exporter reports into our log."""

    def __init__(self, log: Logger) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.warning("traces", problem=record.getMessage())
