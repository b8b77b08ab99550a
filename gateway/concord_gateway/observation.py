"""The gateway's metrics and log: counts and times of calls, and a line for each failure.

A call that reaches a service has its canonical line in that service's log, with the same request
id. The lines here are for calls that no service saw.
"""

import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

import grpc
from concord_chassis.observe import log, tracing
from concord_chassis.observe.metrics import BUCKETS
from concord_chassis.observe.tracing import Spans
from prometheus_client import CollectorRegistry, Counter, Histogram

UNKNOWN_METHOD = "unknown"


class Observation:
    """The gateway's metrics in one registry, its logger, and its spans if tracing is on."""

    def __init__(
        self, registry: CollectorRegistry, logger: log.Logger, spans: Spans | None = None
    ) -> None:
        self.logger = logger
        self._spans = spans
        self._handled = Counter(
            "concord_gateway_handled",
            "Calls that ended at the gateway, by protocol, method and code.",
            ["protocol", "path", "code"],
            registry=registry,
        )
        self._seconds = Histogram(
            "concord_gateway_seconds",
            "Seconds from a call's arrival to its end.",
            ["protocol"],
            buckets=BUCKETS,
            registry=registry,
        )

    def under_way(
        self, path: str, metadata: Iterable[tuple[str, str | bytes]]
    ) -> AbstractContextManager[None]:
        """Traces a call while the block runs, if tracing is on."""
        return self._spans.of_call(path, dict(metadata)) if self._spans else nullcontext()

    def ended(self, protocol: str, path: str, code: grpc.StatusCode, started: float) -> None:
        """Counts a call at its end; `started` is `time.perf_counter()` at its arrival.

        `path`: that of a method in the routing table or `UNKNOWN_METHOD`, never a stranger's text.
        """
        tracing.set_code(code.value[0], {"concord.protocol": protocol})
        self._handled.labels(protocol, path, code.name).inc()
        self._seconds.labels(protocol).observe(time.perf_counter() - started)

    def refused(self, protocol: str, path: str, reason: str, request_id: str) -> None:
        """Logs a call that the gateway itself refused."""
        self.logger.info(
            "refused", protocol=protocol, path=path, reason=reason, request_id=request_id
        )

    def upstream_failed(self, path: str, error: grpc.aio.AioRpcError, request_id: str) -> None:
        """Logs in full an error whose text the caller does not get."""
        self.logger.warning(
            "upstream failed",
            path=path,
            code=error.code().name,
            details=error.details(),
            request_id=request_id,
        )

    def bug(self, path: str, request_id: str) -> None:
        """Logs the exception being handled, which no code of ours expected."""
        self.logger.exception("bug", path=path, request_id=request_id)
