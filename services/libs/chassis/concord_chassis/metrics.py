"""Counts and times of calls, for Prometheus."""

from collections.abc import Callable

import grpc
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The chassis's metrics in one registry; servers of one process may share it."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = CollectorRegistry() if registry is None else registry
        self._handled = Counter(
            "concord_rpc_handled",
            "Calls that ended, by method and code.",
            ["service", "method", "code"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "concord_rpc_seconds",
            "Seconds from a call's arrival to its end.",
            ["service", "method"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._in_flight = Gauge(
            "concord_rpc_in_flight",
            "Calls that have arrived and not ended.",
            ["service", "method"],
            registry=self.registry,
        )

    def of(self, service: str, method: str) -> "MethodMetrics":
        """The metrics of one method, looked up once."""
        return MethodMetrics(
            in_flight=self._in_flight.labels(service, method),
            seconds=self._seconds.labels(service, method),
            handled=lambda code: self._handled.labels(service, method, code.name),
        )


class MethodMetrics:
    """One method's gauge, histogram and counters; a code's counter appears with its first call."""

    def __init__(
        self, in_flight: Gauge, seconds: Histogram, handled: Callable[[grpc.StatusCode], Counter]
    ) -> None:
        self._in_flight = in_flight
        self._seconds = seconds
        self._handled = handled
        self._by_code: dict[grpc.StatusCode, Counter] = {}

    def began(self) -> None:
        """Counts a call in."""
        self._in_flight.inc()

    def ended(self, code: grpc.StatusCode, seconds: float) -> None:
        """Counts a call out, with its outcome and duration."""
        self._in_flight.dec()
        self._seconds.observe(seconds)
        counter = self._by_code.get(code)
        if counter is None:
            counter = self._by_code[code] = self._handled(code)
        counter.inc()
