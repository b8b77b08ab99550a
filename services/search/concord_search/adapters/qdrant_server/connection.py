"""Calls of a Qdrant server from the index's threads, on the event loop's one connection."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import version
from math import inf
from typing import Any
from urllib.parse import urlsplit

import grpc
from concord_chassis.observe import tracing
from qdrant_client import grpc as wire
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.common.version_check import is_compatible
from qdrant_client.connection import get_async_channel

from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.domain.errors import (
    IndexCorrupt,
    IndexDiskFull,
    IndexUnavailable,
    IndexUnusable,
    NotTheWriter,
    SearchError,
)

DEFAULT_PORT = 6334
stubs: Any = wire  # its constructors have no types
LONGEST_PAUSE = 1_000
"""Most milliseconds between two attempts to reconnect; gRPC's default is two minutes."""


class Connection:
    """The connection to a server. `open` it on the loop that the index lives on."""

    def __init__(self, settings: QdrantConfig) -> None:
        self.settings = settings
        self.writes_until = inf
        """The time of `time.monotonic` until which this process may write."""
        self._channel: grpc.aio.Channel | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self) -> None:
        """Connects, once. Raises `IndexUnavailable`, or `IndexUnusable` for another version."""
        if self._channel is None:
            self._channel, self._loop = _channel(self.settings), asyncio.get_running_loop()
            self.points = stubs.PointsStub(self._channel)
            self.collections = stubs.CollectionsStub(self._channel)
        asked = partial(stubs.QdrantStub(self._channel).HealthCheck, wire.HealthCheckRequest())
        theirs = await self._asked(partial(asked, timeout=self.settings.timeout))
        ours = version("qdrant-client")
        if not is_compatible(ours, theirs.version):
            raise IndexUnusable(
                f"The Qdrant server at {self.settings.url} is of version {theirs.version}, and the "
                f"client, {ours}, speaks to its own minor version and the two beside it."
            )

    def reply(self, method: Any, request: Any) -> Any:
        """The reply to a request, from a thread other than the loop's.

        Raises `IndexUnavailable`, `IndexDiskFull` or, if no retry can help, `IndexCorrupt`.
        """
        return self._run(partial(method, request, timeout=self.settings.timeout))

    def write(self, method: Any, request: Any) -> Any:
        """The reply to a request that writes, as `reply`; it ends with the right to write.

        Raises `NotTheWriter` without that.
        """

        def call() -> Awaitable[Any]:
            left = self.writes_until - time.monotonic()
            if left <= 0:
                raise NotTheWriter
            reply: Awaitable[Any] = method(request, timeout=min(self.settings.timeout, left))
            return reply

        return self._run(call)

    def _run(self, call: Callable[[], Awaitable[Any]]) -> Any:
        assert self._loop is not None  # noqa: S101 - a bug of ours, not a state to handle
        return asyncio.run_coroutine_threadsafe(self._asked(call), self._loop).result()

    async def _asked(self, call: Callable[[], Awaitable[Any]]) -> Any:
        try:
            with tracing.span("qdrant"):
                return await call()
        except ResourceExhaustedResponse as busy:
            raise IndexUnavailable(f"the Qdrant server at {self.settings.url} is busy") from busy
        except grpc.aio.AioRpcError as error:
            raise self._translated(error) from error

    def _translated(self, error: grpc.aio.AioRpcError) -> SearchError:
        code, said = error.code(), error.details() or ""
        where = f"the Qdrant server at {self.settings.url}"
        if "No space left" in said or "disk space" in said:
            return IndexDiskFull(f"the disk of {where} has no room: make some")
        match code:
            case grpc.StatusCode.INVALID_ARGUMENT | grpc.StatusCode.UNIMPLEMENTED:
                return IndexCorrupt(f"{where} refused a call as wrong: {said}")
            case grpc.StatusCode.DEADLINE_EXCEEDED:
                return IndexUnavailable(f"{where} gave no answer in {self.settings.timeout:g} s")
            case grpc.StatusCode.UNAUTHENTICATED | grpc.StatusCode.PERMISSION_DENIED:
                return IndexUnavailable(f"{where} refuses the key: see QDRANT_API_KEY")
            case grpc.StatusCode.NOT_FOUND:
                return IndexUnavailable(f"{where} has lost a collection")
        return IndexUnavailable(f"{where} does not answer ({code.name}): see QDRANT_URL")

    async def close(self) -> None:
        if self._channel is not None:
            await self._channel.close()


def _channel(settings: QdrantConfig) -> grpc.aio.Channel:
    """A channel of the client library, whose `AsyncQdrantClient` takes .3 s for an HTTP client."""
    key = settings.api_key.get_secret_value()
    there = urlsplit(settings.url)
    channel: grpc.aio.Channel = get_async_channel(
        host=there.hostname or "",
        port=there.port or DEFAULT_PORT,
        ssl=there.scheme == "https",
        metadata=[("api-key", key)] if key else [],
        options={"grpc.max_reconnect_backoff_ms": LONGEST_PAUSE},
    )
    return channel
