"""A server's health: SERVING only while the service's store answers and no drain has begun."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from grpc_health.v1 import health_pb2
from grpc_health.v1.health import aio as health_aio

from concord_chassis.call.call import Context
from concord_chassis.call.drain import Drain
from concord_chassis.call.failure import Failure
from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

Ready = Callable[[], Awaitable[bool]]
Parts = Callable[[], Mapping[str, bool]]

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


LIVE = "live"
"""The name of the process's own health: SERVING from its start on, whatever its store or other
services do, until a drain begins or a background task is stuck. A restart may help only then."""
FAILING_KEY = "concord-failing-task"
"""The trailing metadata of a health check: an entry "TASK: CAUSE" for each failing task."""


class _Servicer(health_aio.HealthServicer):  # type: ignore[misc]  # an untyped library
    """grpc_health's servicer, whose `Check` also names the background tasks that fail.

    A drain ends its `Watch` calls, which would delay a stop.
    """

    def __init__(self, drain: Drain, background: Background) -> None:
        super().__init__()
        self._drain, self._background = drain, background

    async def Check(  # noqa: N802 - named by the contract
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        failing = sorted(self._background.failing.items())
        context.set_trailing_metadata(
            tuple((FAILING_KEY, f"{name}: {cause}") for name, cause in failing)
        )
        return await super().Check(request, context)

    async def Watch(  # noqa: N802 - named by the contract
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> None:
        try:
            async with self._drain.following():
                await super().Watch(request, context)
        except Failure as failure:
            await context.abort(failure.code, failure.message)


class Health:
    """The health of one server: of each service by its full name, and of the whole server as "".

    `parts` has, by service, a function that returns by name whether each optional part answers. A
    part's health is under SERVICE/NAME, and does not change its service's health. That of a task of
    `background` is under background/NAME; one that is stuck makes the whole server NOT_SERVING.
    """

    def __init__(
        self,
        parts: Mapping[str, Parts],
        ready: Ready,
        drain: Drain,
        background: Background,
        *,
        log: Logger,
        on_change: Callable[[bool], None],
        on_deaths: Callable[[Mapping[str, int]], None],
    ) -> None:
        """`on_change` is called with whether the server serves: at start, at each change, and when
        the drain begins; `on_deaths` at each look with each background task's deaths in a row."""
        self.servicer = _Servicer(drain, background)
        self._services = ("", *parts)
        self._parts = parts
        self._ready = ready
        self._background = background
        self._log = log
        self._on_change, self._on_deaths = on_change, on_deaths
        self._serving = asyncio.Event()
        self._polling: asyncio.Task[None] | None = None

    async def start(self, interval: float) -> None:
        """Sets NOT_SERVING, and begins to call `ready` every `interval` seconds.

        Until `ready` first returns True the pause is shorter: it doubles up to `interval`. If
        `ready` raises, or takes longer than the greater of `interval` and 1 second, that counts as
        False.
        """
        await self._set_status(_NOT_SERVING)
        await self._set(LIVE, is_serving=True)
        self._polling = self._background.start("health", partial(self._poll, interval))

    async def until_serving(self) -> None:
        """Waits until the health is SERVING."""
        await self._serving.wait()

    async def drain(self) -> None:
        """Sets NOT_SERVING, for good."""
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.wait([self._polling])
            self._polling = None
        self._serving.clear()
        self._on_change(False)
        await self.servicer.enter_graceful_shutdown()

    async def _poll(self, interval: float) -> None:
        pause = min(0.02, interval)
        while True:
            ready = await self._is_ready(interval)
            if ready != self._serving.is_set():
                await self._set_status(_SERVING if ready else _NOT_SERVING)
                self._log.info("health", serving=ready)
            await self._set(LIVE, is_serving=not self._background.is_stuck)
            await self._set_parts()
            pause = interval if ready else min(interval, pause * 2)
            await asyncio.sleep(pause)

    async def _set_parts(self) -> None:
        for service, parts in self._parts.items():
            for name, is_serving in parts().items():
                await self._set(f"{service}/{name}", is_serving)
        deaths = self._background.deaths
        self._on_deaths({name: deaths.get(name, 0) for name in self._background.names})
        for name in self._background.names:
            await self._set(f"background/{name}", name not in deaths)

    async def _set(self, name: str, is_serving: bool) -> None:
        await self.servicer.set(name, _SERVING if is_serving else _NOT_SERVING)

    async def _is_ready(self, interval: float) -> bool:
        if self._background.is_stuck:
            return False
        try:
            async with asyncio.timeout(max(1.0, interval)):
                return await self._ready()
        except Exception as error:  # noqa: BLE001 - a store that fails in any way does not answer
            self._log.warning("not ready", error=type(error).__name__)
            return False

    async def _set_status(self, status: health_pb2.HealthCheckResponse.ServingStatus) -> None:
        for service in self._services:
            await self.servicer.set(service, status)
        self._on_change(status == _SERVING)
        if status == _SERVING:
            self._serving.set()
        else:
            self._serving.clear()
