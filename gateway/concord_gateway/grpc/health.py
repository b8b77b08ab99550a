"""The standard health service of the gateway, which serves only if all services behind it do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import grpc
from concord_chassis.server.background import Background
from concord_chassis.server.health import FAILING_KEY, LIVE
from grpc_health.v1 import health_pb2, health_pb2_grpc

from concord_gateway.routes import Route, Upstream

SERVING: int = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING: int = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN: int = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


class Probe:
    """Asks the services anew each time, so that no cached health can be wrong."""

    def __init__(
        self,
        routes: Iterable[Route],
        *,
        governance: Upstream,
        keys_known: Callable[[], bool],
        background: Background,
        timeout: float,
    ) -> None:
        """`governance` resolves keys; `keys_known` returns whether known keys are let in without
        it. `timeout`: seconds after which a silent service counts as not serving."""
        self._governance = governance
        self._keys_known = keys_known
        self._timeout = timeout
        self._upstreams = {
            route.method.containing_service.full_name: route.upstream for route in routes
        }
        self._draining = asyncio.Event()
        self._background = background
        self._failing: dict[str, Sequence[str]] = {}

    @property
    def failing(self) -> Mapping[str, Sequence[str]]:
        """By upstream's prefix, its failing background tasks as "TASK: CAUSE" when last asked; the
        gateway's own under "gateway". Those without a failing task are left out."""
        own = [f"{name}: {cause}" for name, cause in sorted(self._background.failing.items())]
        found = {**self._failing, "gateway": own}
        return {name: tasks for name, tasks in found.items() if tasks}

    def drain(self) -> None:
        """Ends every watch, and reports from now on that nothing is served."""
        self._draining.set()

    async def drained(self, within: float) -> bool:
        """Whether draining has begun, or begins within so many seconds."""
        try:
            async with asyncio.timeout(within):
                await self._draining.wait()
        except TimeoutError:
            return False
        return True

    def knows(self, service: str) -> bool:
        """Whether `service` is routed; "" is the whole system, `LIVE` the gateway by itself."""
        return service in ("", LIVE) or service in self._upstreams

    async def serving(self, service: str = "") -> bool:
        """Whether the upstream of `service`, or each upstream for "", reports that it serves.

        `LIVE` asks nobody: the gateway serves, whatever is behind it.
        """
        if service == LIVE:
            return not self._draining.is_set() and not self._background.is_stuck
        if not service:
            return all((await self.upstreams()).values())
        return await self._lets_in() and await self._ask(self._upstreams[service])

    async def upstreams(self) -> dict[str, bool]:
        """The upstreams by their prefix, and whether each serves."""
        asked = sorted(set(self._upstreams.values()), key=lambda upstream: upstream.prefix)
        lets_in, *answers = await asyncio.gather(self._lets_in(), *map(self._ask, asked))
        return {
            upstream.prefix: answer and lets_in
            for upstream, answer in zip(asked, answers, strict=True)
        }

    async def services(self) -> dict[str, bool]:
        """The routed services by their full name, and whether each serves."""
        health = await self.upstreams()
        return {name: health[upstream.prefix] for name, upstream in self._upstreams.items()}

    async def _lets_in(self) -> bool:
        """Whether the gateway is not draining and can authenticate callers."""
        if self._draining.is_set():
            return False
        return self._keys_known() or await self._ask(self._governance)

    async def _ask(self, upstream: Upstream) -> bool:
        stub = health_pb2_grpc.HealthStub(upstream.channel)
        try:
            call = stub.Check(health_pb2.HealthCheckRequest(), timeout=self._timeout)
            reply, metadata = await call, await call.trailing_metadata()
        except grpc.aio.AioRpcError:
            self._failing.pop(upstream.prefix, None)
            return False
        self._failing[upstream.prefix] = [str(v) for key, v in metadata if key == FAILING_KEY]
        return bool(reply.status == SERVING)


Context: TypeAlias = (
    "grpc.aio.ServicerContext[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]"
)


class Health:
    """`grpc.health.v1.Health` over the probe."""

    def __init__(self, probe: Probe, *, interval: float) -> None:
        """`interval`: seconds between two health checks for a caller of Watch."""
        self._probe, self._interval = probe, interval

    async def Check(  # noqa: N802 - the contract's name
        self,
        request: health_pb2.HealthCheckRequest,
        context: Context,
    ) -> health_pb2.HealthCheckResponse:
        """The health now, with the failing background tasks in the trailing metadata, as a service
        has its own there. NOT_FOUND for a service that is not routed."""
        if not self._probe.knows(request.service):
            await context.abort(grpc.StatusCode.NOT_FOUND, "No such service here.")
        status = await self._status(request.service)
        context.set_trailing_metadata(
            [
                (FAILING_KEY, f"{name}: {task}")
                for name, tasks in self._probe.failing.items()
                for task in tasks
            ]
        )
        return health_pb2.HealthCheckResponse(status=status)

    async def List(  # noqa: N802 - the contract's name
        self, _request: health_pb2.HealthListRequest, _context: Context
    ) -> health_pb2.HealthListResponse:
        """The health now of the gateway ("") and of every service by its full name."""
        health = await self._probe.services()
        whole = {"": all(health.values()), **health}
        return health_pb2.HealthListResponse(
            statuses={
                name: health_pb2.HealthCheckResponse(status=SERVING if good else NOT_SERVING)
                for name, good in whole.items()
            }
        )

    async def Watch(  # noqa: N802 - the contract's name
        self,
        request: health_pb2.HealthCheckRequest,
        _context: Context,
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """The health now and whenever it changes, until the caller leaves or the gateway drains."""
        sent, leaving = None, False
        while not leaving:
            leaving = await self._probe.drained(within=0 if sent is None else self._interval)
            status = await self._status(request.service)
            if status != sent:
                yield health_pb2.HealthCheckResponse(status=status)
                sent = status

    async def _status(self, service: str) -> int:
        if not self._probe.knows(service):
            return SERVICE_UNKNOWN
        return SERVING if await self._probe.serving(service) else NOT_SERVING
