"""The standard health service for the whole gateway: it serves only when everything behind does."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TypeAlias

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from concord_gateway.routes import Route, Upstream

SERVING: int = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING: int = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN: int = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


class Probe:
    """Asks the services themselves, each time: there is no remembered health to be wrong."""

    def __init__(self, routes: Iterable[Route], *, timeout: float) -> None:
        """`timeout`: seconds after which a silent service counts as not serving."""
        self._timeout = timeout
        self._upstreams = {
            route.method.containing_service.full_name: route.upstream for route in routes
        }
        self._draining = False

    def drain(self) -> None:
        """Says from now on that nothing is served."""
        self._draining = True

    def knows(self, service: str) -> bool:
        """Whether `service` is routed; "" stands for the whole gateway."""
        return not service or service in self._upstreams

    async def serving(self, service: str = "") -> bool:
        """Whether what is behind `service` (all of it, for "") says that it serves."""
        if self._draining:
            return False
        asked = set(self._upstreams.values()) if not service else {self._upstreams[service]}
        return all(await asyncio.gather(*(self._ask(upstream) for upstream in asked)))

    async def each(self) -> Mapping[str, bool]:
        """The upstreams by their prefix, and whether each serves."""
        asked = sorted(set(self._upstreams.values()), key=lambda upstream: upstream.prefix)
        answers = await asyncio.gather(*(self._ask(upstream) for upstream in asked))
        return {
            upstream.prefix: answer and not self._draining
            for upstream, answer in zip(asked, answers, strict=True)
        }

    async def _ask(self, upstream: Upstream) -> bool:
        stub = health_pb2_grpc.HealthStub(upstream.channel)
        try:
            reply = await stub.Check(health_pb2.HealthCheckRequest(), timeout=self._timeout)
        except grpc.aio.AioRpcError:
            return False
        return bool(reply.status == SERVING)


Context: TypeAlias = (
    "grpc.aio.ServicerContext[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]"
)


class Health:
    """`grpc.health.v1.Health` over the probe."""

    def __init__(self, probe: Probe, *, interval: float) -> None:
        """`interval`: seconds between two looks of a watcher."""
        self._probe, self._interval = probe, interval

    async def Check(  # noqa: N802 - the contract's name
        self,
        request: health_pb2.HealthCheckRequest,
        context: Context,
    ) -> health_pb2.HealthCheckResponse:
        """The health now. NOT_FOUND for a service that is not routed."""
        if not self._probe.knows(request.service):
            await context.abort(grpc.StatusCode.NOT_FOUND, "No such service here.")
        return health_pb2.HealthCheckResponse(status=await self._status(request.service))

    async def Watch(  # noqa: N802 - the contract's name
        self,
        request: health_pb2.HealthCheckRequest,
        _context: Context,
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """The health now and whenever it changes, until the caller leaves."""
        told = None
        while True:
            status = await self._status(request.service)
            if status != told:
                yield health_pb2.HealthCheckResponse(status=status)
                told = status
            await asyncio.sleep(self._interval)

    async def _status(self, service: str) -> int:
        if not self._probe.knows(service):
            return SERVICE_UNKNOWN
        return SERVING if await self._probe.serving(service) else NOT_SERVING
