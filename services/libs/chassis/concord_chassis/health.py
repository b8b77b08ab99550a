"""Health that tells the truth: SERVING only while the store answers, and not while draining."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from grpc_health.v1 import health_pb2
from grpc_health.v1.health import aio as health_aio

from concord_chassis.call import Context
from concord_chassis.drain import Drain
from concord_chassis.failure import Failure
from concord_chassis.log import Logger

Ready = Callable[[], Awaitable[bool]]
Parts = Callable[[], Mapping[str, bool]]

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class _DrainedServicer(health_aio.HealthServicer):  # type: ignore[misc]  # it ships no types
    """The kept servicer, whose watchers do not hold up a stop."""

    def __init__(self, drain: Drain) -> None:
        super().__init__()
        self._drain = drain

    async def Watch(  # noqa: N802 - named by the contract
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> None:
        try:
            async with self._drain.following():
                await super().Watch(request, context)
        except Failure as failure:
            await context.abort(failure.code, failure.message)


class Health:
    """The health of one server: of each service by name, and of all of them as "".

    `parts`: of each service, whether its parts answer, without which it serves all the same.
    """

    def __init__(
        self,
        parts: Mapping[str, Parts],
        ready: Ready,
        drain: Drain,
        log: Logger,
        on_change: Callable[[bool], None],
    ) -> None:
        """`on_change` hears whether the server serves whenever that changes."""
        self.servicer = _DrainedServicer(drain)
        self._services = ("", *parts)
        self._parts = parts
        self._ready = ready
        self._log = log
        self._on_change = on_change
        self._serving = asyncio.Event()
        self._polling: asyncio.Task[None] | None = None

    async def start(self, interval: float) -> None:
        """Says NOT_SERVING, then asks `ready` every `interval` seconds (sooner until it is)."""
        await self._tell(_NOT_SERVING)
        self._polling = asyncio.create_task(self._poll(interval), name="health")

    async def until_serving(self) -> None:
        """Waits until the server is ready."""
        await self._serving.wait()

    async def drain(self) -> None:
        """Says NOT_SERVING for good."""
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
            ready = await self._answers(interval)
            if ready != self._serving.is_set():
                await self._tell(_SERVING if ready else _NOT_SERVING)
                self._log.info("health", serving=ready)
            await self._tell_of_parts()
            pause = interval if ready else min(interval, pause * 2)
            await asyncio.sleep(pause)

    async def _tell_of_parts(self) -> None:
        for service, parts in self._parts.items():
            for name, answers in parts().items():
                status = _SERVING if answers else _NOT_SERVING
                await self.servicer.set(f"{service}/{name}", status)

    async def _answers(self, interval: float) -> bool:
        try:
            async with asyncio.timeout(max(1.0, interval)):
                return await self._ready()
        except Exception as error:  # noqa: BLE001 - however the store fails, it does not answer
            self._log.warning("not ready", error=type(error).__name__)
            return False

    async def _tell(self, status: health_pb2.HealthCheckResponse.ServingStatus) -> None:
        for service in self._services:
            await self.servicer.set(service, status)
        self._on_change(status == _SERVING)
        if status == _SERVING:
            self._serving.set()
        else:
            self._serving.clear()
