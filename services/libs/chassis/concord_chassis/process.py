"""A service as a process of its own: its app behind one server, with its metrics and traces."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from concord_chassis import metrics_server, trace_exporter
from concord_chassis.failure import Translate
from concord_chassis.identity import TokenVerifier
from concord_chassis.log import Logger
from concord_chassis.metrics import Metrics
from concord_chassis.metrics_server import MetricsConfig
from concord_chassis.server import Registration, Server, serve_until_signal
from concord_chassis.trace_exporter import TracingConfig


class App(Protocol):
    """A service as its bootstrap builds it."""

    registrations: Sequence[Registration]
    translate: Translate

    async def start(self) -> None:
        """Begins its work in the background."""

    async def ready(self) -> bool:
        """Whether it can answer."""

    async def close(self) -> None:
        """Writes down what waits and frees what it holds."""


class ServerConfig(Protocol):
    """What the settings of every service say of its server."""

    @property
    def listen(self) -> Sequence[str]:
        """Its addresses."""

    @property
    def reflection(self) -> bool:
        """Whether strangers may ask for its contract."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Where a process shows its metrics, and where its traces go."""

    metrics: MetricsConfig
    traces: TracingConfig

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> "Observation":
        """From METRICS_... and OTEL_EXPORTER_OTLP_... Raises `ConfigError`."""
        return cls(metrics_server.read(environ), trace_exporter.read(environ))


async def serve(
    name: str,
    app: App,
    config: ServerConfig,
    verifier: TokenVerifier,
    observation: Observation,
    *,
    log: Logger,
    measure: Callable[[Metrics], None] | None = None,
) -> None:
    """Serves an app that has started, until the process is told to stop; then closes it.

    `measure` registers the service's own figures. Raises `BindError`.
    """
    metrics = Metrics(log=log)
    if measure is not None:
        measure(metrics)
    async with (
        metrics_server.exported(metrics.registry, observation.metrics),
        trace_exporter.exported(observation.traces, log) as spans_of,
    ):
        server = Server(
            name=name,
            registrations=app.registrations,
            verifier=verifier,
            translate=app.translate,
            listen=config.listen,
            ready=app.ready,
            reflection=config.reflection,
            metrics=metrics,
            spans=spans_of(name),
            log=log,
        )
        await serve_until_signal([server], app.close)
