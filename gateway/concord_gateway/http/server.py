"""Runs the HTTP application with uvicorn inside the gateway's event loop."""

import asyncio
import math
import socket
import ssl
from functools import partial
from typing import cast

import uvicorn
from concord_chassis.server.background import Background
from starlette.types import ASGIApp

from concord_gateway.config import Config
from concord_gateway.http.protocol import Connection
from concord_gateway.tls import Tls


class HttpServer:
    """Serves `app` on a bound socket, which it takes over and closes."""

    def __init__(
        self,
        app: ASGIApp,
        bound: socket.socket,
        config: Config,
        background: Background,
        tls: Tls | None = None,
    ) -> None:
        """`background` keeps uvicorn's clock going, which dates replies."""
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
            http=cast("type[asyncio.Protocol]", partial(Connection, settings=config)),
            timeout_keep_alive=math.ceil(config.http_header_seconds),
            ssl_certfile=tls.certificate if tls else None,
            ssl_keyfile=tls.key if tls else None,
            ssl_ca_certs=str(tls.client_ca) if tls and tls.client_ca else None,
            ssl_cert_reqs=ssl.CERT_REQUIRED if tls and tls.client_ca else ssl.CERT_NONE,
        )
        self._server = uvicorn.Server(self._config)
        self._background = background

    async def start(self) -> None:
        """Returns when requests are answered."""
        self._config.load()
        self._server.lifespan = self._config.lifespan_class(self._config)
        await self._server.startup(sockets=[self._socket])
        self._background.start("http", self._server.main_loop)

    async def stop(self, grace: float) -> None:
        """Refuses new requests, gives those under way `grace` seconds, then cancels them.

        uvicorn counts whole seconds, and at least one.
        """
        if not self._server.started:
            self._socket.close()
            return
        self._config.timeout_graceful_shutdown = max(math.ceil(grace), 1)
        self._server.should_exit = True
        self._server.started = False
        await self._server.shutdown(sockets=[self._socket])
