"""Runs the HTTP application with uvicorn inside the gateway's event loop."""

import asyncio
import contextlib
import math
import socket
import ssl
from collections.abc import Iterator
from functools import partial
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from concord_gateway.http.protocol import Connection, ConnectionLimits
from concord_gateway.tls import Tls


class _Guest(uvicorn.Server):
    """A uvicorn server that leaves the process's signals alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none: the process that runs the gateway handles signals."""
        yield


class HttpServer:
    """Serves `app` on a bound socket, which it takes over and closes."""

    def __init__(
        self,
        app: ASGIApp,
        bound: socket.socket,
        limits: ConnectionLimits,
        tls: Tls | None = None,
    ) -> None:
        self.port: int = bound.getsockname()[1]
        self._socket = bound
        self._config = uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            http=cast("type[asyncio.Protocol]", partial(Connection, limits=limits)),
            timeout_keep_alive=math.ceil(limits.header_seconds),
            ssl_certfile=tls.certificate if tls else None,
            ssl_keyfile=tls.key if tls else None,
            ssl_ca_certs=str(tls.client_ca) if tls and tls.client_ca else None,
            ssl_cert_reqs=ssl.CERT_REQUIRED if tls and tls.client_ca else ssl.CERT_NONE,
        )
        self._server = _Guest(self._config)
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Returns when requests are answered."""
        serving = asyncio.create_task(self._server.serve(sockets=[self._socket]), name="http")
        self._serving = serving
        while not self._server.started:
            if serving.done():
                await serving  # raises the error that kept it from starting
                raise RuntimeError("uvicorn ended before it started")
            await asyncio.sleep(0.001)

    async def stop(self, grace: float) -> None:
        """Refuses new requests, gives those under way `grace` seconds, then cancels them.

        uvicorn counts whole seconds, and at least one.
        """
        if self._serving is None:
            self._socket.close()
            return
        self._config.timeout_graceful_shutdown = max(math.ceil(grace), 1)
        self._server.should_exit = True
        await self._serving
        self._serving = None
