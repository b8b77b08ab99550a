"""Builds the gateway from its configuration: the only module that connects its parts."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass

import grpc
from concord_chassis.call.failure import Failure
from concord_chassis.call.identity import TokenIssuer
from concord_chassis.observe import log
from concord_chassis.observe.tracing import Spans
from concord_chassis.server import health_address as beside_the_doors
from concord_chassis.server.background import Background
from concord_chassis.server.workers import Workers
from google.protobuf.descriptor import ServiceDescriptor
from prometheus_client import CollectorRegistry
from starlette.routing import Route as HttpRoute

from concord_gateway import addresses, contracts, issuer, tls
from concord_gateway import routes as routing
from concord_gateway.admission import AUTHORIZATION, GOVERNANCE_ALONE, Gate, Tokens
from concord_gateway.callers import Callers
from concord_gateway.config import Config
from concord_gateway.governance import CREATE_SESSION, Governance
from concord_gateway.governance import SERVICE as GOVERNANCE
from concord_gateway.grpc import server as grpc_server
from concord_gateway.grpc.health import Health, Probe
from concord_gateway.grpc.proxy import Proxy
from concord_gateway.http import app, page
from concord_gateway.http.answers import Answers
from concord_gateway.http.mcp import McpDoor
from concord_gateway.http.server import HttpServer
from concord_gateway.http.session import Sessions
from concord_gateway.in_flight import InFlight
from concord_gateway.observation import Observation
from concord_gateway.routes import Route, Upstream


def build(
    config: Config,
    *,
    services: Sequence[ServiceDescriptor] | None = None,
    registry: CollectorRegistry | None = None,
    spans: Spans | None = None,
    logger: log.Logger | None = None,
    health_address: str = "",
) -> "Gateway":
    """A gateway that is ready to start. Reads the key files, opens no socket.

    `services` are those of the contracts unless given; at `health_address`, unless it is empty,
    health is told without TLS. Raises `IssuerKeyError`, `NoUpstreamError`,
    `TlsRefused`.
    """
    offered = contracts.services() if services is None else tuple(services)
    prefixes = {prefix: prefix for prefix in config.upstreams}
    for name in (GOVERNANCE, *(service.full_name for service in offered)):
        routing.longest_prefix(name, prefixes)
    return Gateway(
        config,
        services=offered,
        issuer=issuer.read(config.issuer_key_file, config.issuer_name),
        observation=Observation(
            CollectorRegistry() if registry is None else registry,
            log.json_lines("gateway") if logger is None else logger,
            spans,
        ),
        health_address=health_address,
    )


@dataclass(frozen=True)
class _Running:
    """The parts that exist between start and stop."""

    grpc: grpc.aio.Server
    http: HttpServer
    gate: Gate
    access: Governance
    probe: Probe
    undo: AsyncExitStack


class Gateway:
    """The gRPC and HTTP servers. `grpc_port` and `http_port` are 0 until it has started."""

    def __init__(
        self,
        config: Config,
        *,
        services: Sequence[ServiceDescriptor],
        issuer: TokenIssuer,
        observation: Observation,
        health_address: str,
    ) -> None:
        self._health_address = health_address
        self.grpc_port = 0
        self.http_port = 0
        self._config, self._services = config, services
        self._issuer = issuer
        self._in_flight = InFlight(config.in_flight)
        self._observation = observation
        self._tls = tls.of(config)
        self.background = Background(observation.logger)
        self._running: _Running | None = None

    async def start(self) -> None:
        """Listens on both addresses; the services need not run yet.

        Raises `PortInUse` or another `BindError`, and then leaves nothing open.
        """
        async with AsyncExitStack() as undo:
            upstreams = self._channels(undo)
            routes = routing.table(self._services, upstreams)
            governance = routing.longest_prefix(GOVERNANCE, upstreams)
            access = Governance(governance.channel, self._issuer, self._observation.logger)
            callers = Callers(access.ask)
            undo.push_async_callback(callers.close)
            probe = Probe(
                routes.values(),
                governance=governance,
                keys_known=callers.recently_answered,
                background=self.background,
                timeout=self._config.health_timeout,
            )
            gate = Gate(callers, Tokens(self._issuer, self._config.token_ttl))
            agents = McpDoor(
                routes,
                gate,
                self._in_flight,
                Answers(self._observation),
                config=self._config,
                background=self.background,
            )
            beside = agents.http_routes
            if self._config.page:
                beside += page.http_routes(routes.values())
                beside += Sessions(
                    gate,
                    access,
                    self._in_flight,
                    Answers(self._observation),
                    config=self._config,
                    counted_as=Route(CREATE_SESSION, governance),
                ).http_routes
            http = self._http(routes, gate, probe, beside, undo)
            health = Health(probe, interval=self._config.health_interval)
            await undo.enter_async_context(beside_the_doors.answering(health, self._health_address))
            server, grpc_port = self._grpc(routes, gate, health)
            await server.start()
            undo.push_async_callback(server.stop, 0)
            await agents.start()
            undo.push_async_callback(agents.stop)
            await http.start()
            self._running = _Running(server, http, gate, access, probe, undo.pop_all())
        self.grpc_port, self.http_port = grpc_port, http.port
        self._observation.logger.info("listening", grpc=grpc_port, http=http.port)

    @property
    def encrypted(self) -> bool:
        """Whether both addresses speak TLS."""
        return self._tls is not None

    async def sign_in_code(self, api_key: str) -> str:
        """A one-time code that opens a session of a key at the page; empty if the page is off, or
        if no such code is made now."""
        if self._running is None or not self._config.page:
            return ""
        try:
            admitted = await self._running.gate.admit([(AUTHORIZATION, f"Bearer {api_key}")])
            token = admitted.authorization(GOVERNANCE_ALONE)
            return await self._running.access.create_sign_in(token)
        except (Failure, grpc.aio.AioRpcError):
            return ""

    async def ready(self) -> bool:
        """Whether the gateway and every service behind it serve."""
        return self._running is not None and await self._running.probe.serving()

    async def stop(self, grace: float) -> None:
        """Reports NOT_SERVING, refuses new calls, and gives those under way `grace` seconds."""
        running, self._running = self._running, None
        if running is None:
            return
        async with running.undo:
            running.probe.drain()
            await asyncio.gather(running.http.stop(grace), running.grpc.stop(grace))
            await self.background.close()
        self._observation.logger.info("stopped")

    def _channels(self, undo: AsyncExitStack) -> dict[str, Upstream]:
        upstreams = {}
        for prefix, target in self._config.upstreams.items():
            channel = addresses.channel(target)
            undo.push_async_callback(channel.close)
            upstreams[prefix] = Upstream(prefix, channel)
        return upstreams

    def _http(
        self,
        routes: dict[str, Route],
        gate: Gate,
        probe: Probe,
        beside: Sequence[HttpRoute],
        undo: AsyncExitStack,
    ) -> HttpServer:
        config = self._config
        bound = addresses.bound(config.http_listen, "GATEWAY_HTTP_LISTEN")
        undo.enter_context(closing(bound))
        workers = Workers(1, "gateway-json")
        undo.callback(workers.close)
        application = app.build(
            routes,
            gate,
            self._in_flight,
            self._observation,
            workers,
            health=probe,
            config=config,
            beside=beside,
        )
        return HttpServer(application, bound, config, self.background, self._tls)

    def _grpc(
        self, routes: dict[str, Route], gate: Gate, health: Health
    ) -> tuple[grpc.aio.Server, int]:
        config = self._config
        addresses.bound(config.grpc_listen, "GATEWAY_GRPC_LISTEN").close()
        proxy = Proxy(routes, gate, self._in_flight, self._observation, config)
        return grpc_server.build(proxy, health, config, self._services, self._tls)
