"""Runs a service as a process: its app behind one server, with metrics and traces."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from concord_chassis.call.identity import TokenVerifier
from concord_chassis.observe import trace_exporter
from concord_chassis.observe.log import Logger
from concord_chassis.observe.metrics import Metrics
from concord_chassis.observe.trace_exporter import TracingConfig
from concord_chassis.server import metrics_server
from concord_chassis.server.background import Background
from concord_chassis.server.metrics_server import MetricsConfig
from concord_chassis.server.server import Registration, Server, serve_until_signal

STOP_SECONDS = 10.0
"""Seconds for the calls under way when the process stops."""


class App(Protocol):
    """A service as its `bootstrap` module builds it."""

    registrations: Sequence[Registration]
    background: Background
    """Its background tasks."""

    async def start(self) -> None:
        """Begins the service's work in the background."""

    async def ready(self) -> bool:
        """Returns whether the service can answer; its health is SERVING while it can."""

    async def close(self) -> None:
        """Writes what is not yet written, and closes stores and channels."""


class ServerConfig(Protocol):
    """The settings of the server that every service has."""

    @property
    def listen(self) -> Sequence[str]:
        """The addresses to listen on: `unix:/path` or `host:port`."""

    @property
    def reflection(self) -> bool:
        """Whether the server offers gRPC reflection, which needs no credential."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The settings of a process's metrics and traces."""

    metrics: MetricsConfig
    traces: TracingConfig

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> "Observation":
        """Returns the settings METRICS_... and OTEL_EXPORTER_OTLP_... in `environ`.

        Raises `ConfigError`.
        """
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
    """Serves an app until SIGTERM or SIGINT, then closes the app. The caller has started it.

    `measure` registers the service's own figures.

    Raises `BindError` when the server or the metrics cannot listen on an address.
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
            listen=config.listen,
            ready=app.ready,
            reflection=config.reflection,
            metrics=metrics,
            spans=spans_of(name),
            log=log,
            background=app.background,
        )

        async def stop() -> None:
            await server.stop(STOP_SECONDS)
            await app.close()

        await serve_until_signal(server.start, stop)
