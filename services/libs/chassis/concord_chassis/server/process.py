"""Runs a service as a process: its app behind one server, with metrics and traces."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from concord_chassis.call.identity import Claims, TokenVerifier
from concord_chassis.channel import services_tls
from concord_chassis.config import load
from concord_chassis.observe import trace_exporter
from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.observe.metrics import Metrics
from concord_chassis.observe.trace_exporter import TracingConfig
from concord_chassis.server import health_address, metrics_server
from concord_chassis.server.background import Background
from concord_chassis.server.key_files import read_public_key
from concord_chassis.server.metrics_server import MetricsConfig
from concord_chassis.server.server import Registration, Server, serve_until_signal
from concord_chassis.server.starting import until_usable

STOP_SECONDS = 10.0
"""Seconds for the calls under way when the process stops."""


class App(Protocol):
    """A service as its `bootstrap` module builds it."""

    registrations: Sequence[Registration]
    background: Background
    """Its background tasks."""
    claims: Claims
    """What the services that call it may claim with keys of their own."""

    async def start(self) -> None:
        """Begins the service's work in the background."""

    async def ready(self) -> bool:
        """Returns whether the service can answer; its health is SERVING while it can."""

    async def close(self) -> None:
        """Writes what is not yet written, and closes stores and channels."""


@runtime_checkable
class Measured(Protocol):
    """A service with figures of its own."""

    def measure(self, metrics: Metrics) -> None:
        """Registers them."""


class ServiceConfig(BaseModel):
    """The settings that every service has as a process of its own."""

    model_config = ConfigDict(frozen=True)

    listen: list[str] = Field(min_length=1)
    """Addresses: unix:/path or host:port."""
    issuer_keys: dict[str, Path]
    """Issuer name to the file of its Ed25519 public key (PEM)."""
    reflection: bool = False
    """Whether to serve gRPC reflection, which needs no credential."""


C = TypeVar("C", bound=ServiceConfig)


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
    model: type[C],
    environ: Mapping[str, str],
    build: Callable[[C, Logger], Awaitable[App]],
    *unusable: type[Exception],
) -> None:
    """Serves the app that `build` makes of the settings, until SIGTERM or SIGINT; then closes it.

    While building or starting it raises one of `unusable`, whose texts say what to do, waits and
    does both again: `build` and the app's `start` must leave nothing open when they raise.

    Raises `ConfigError`; `BindError` when the server or the metrics cannot listen on an address.
    """
    config = load(model, environ, f"{name.upper()}_")
    observation = Observation.read(environ)
    health = health_address.read(environ)
    services_tls.enter(environ)
    keys = {issuer: read_public_key(path) for issuer, path in config.issuer_keys.items()}
    log = json_lines(name)

    async def started() -> App:
        app = await build(config, log)
        await app.start()
        return app

    app = await until_usable(started, log, *unusable)
    metrics = Metrics(log=log)
    if isinstance(app, Measured):
        app.measure(metrics)
    async with (
        metrics_server.exported(metrics.registry, observation.metrics),
        trace_exporter.exported(observation.traces, log) as spans_of,
    ):
        server = Server(
            name=name,
            registrations=app.registrations,
            verifier=TokenVerifier(keys, service=name, claims=app.claims),
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

        async with health_address.answering(server.health, health.address):
            await serve_until_signal(server.start, stop)
