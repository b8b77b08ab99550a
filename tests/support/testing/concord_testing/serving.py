"""A real server in the test's own process, on a Unix socket, with a real issuer.

A server and its first call cost about 11 ms: there is no reason to fake a stub or a context.
"""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
from concord_chassis.call.identity import Caller, RenewedToken, TokenIssuer, TokenVerifier
from concord_chassis.channel.channel import connect
from concord_chassis.channel.keepalive import SERVER_KEEPALIVE, Keepalive
from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.observe.metrics import Metrics
from concord_chassis.observe.tracing import Spans
from concord_chassis.server.background import Background
from concord_chassis.server.health import Ready
from concord_chassis.server.server import Registration, Server
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DEFAULT_CAP = 30.0
METRICS = Metrics()
"""The metrics of all servers whose tests do not read them."""


def new_issuer(name: str = "test-issuer") -> TokenIssuer:
    """An issuer with a key of its own, made now."""
    return TokenIssuer(Ed25519PrivateKey.generate(), name)


async def always_ready() -> bool:
    """The `ready` of a server without a store."""
    return True


class Serving:
    """A server under test and the channels opened to it."""

    def __init__(
        self,
        server: Server,
        address: str,
        issuer: TokenIssuer,
    ) -> None:
        self.server = server
        self.address = address
        self.issuer = issuer
        self._channels: list[grpc.aio.Channel] = []

    def channel(
        self,
        caller: Caller | None,
        *,
        cap: float | None = DEFAULT_CAP,
    ) -> grpc.aio.Channel:
        """A channel that speaks for `caller`, or without a credential; closed with the server."""
        token = None if caller is None else self.token(caller)
        return self._kept(connect(self.address, token=token, cap=cap))

    def token(self, caller: Caller) -> RenewedToken:
        """A token source for `caller`, signed by the test's issuer."""
        return RenewedToken(self.issuer, caller)

    def channel_with(self, token: str) -> grpc.aio.Channel:
        """A channel that sends `token`, whatever it is; closed with the server."""
        return self._kept(connect(self.address, token=lambda: token))

    def _kept(self, channel: grpc.aio.Channel) -> grpc.aio.Channel:
        self._channels.append(channel)
        return channel

    async def close_channels(self) -> None:
        """Closes every channel that this opened."""
        for channel in self._channels:
            await channel.close()


@asynccontextmanager
async def serving(
    registrations: Sequence[Registration],
    *,
    issuer: TokenIssuer | None = None,
    ready: Ready = always_ready,
    wait_until_ready: bool = True,
    reflection: bool = False,
    metrics: Metrics | None = None,
    spans: Spans | None = None,
    log: Logger | None = None,
    health_interval: float = 1.0,
    verifier: TokenVerifier | None = None,
    grace: float = 0.5,
    keepalive: Keepalive = SERVER_KEEPALIVE,
    address: str = "",
    background: Background | None = None,
) -> AsyncIterator[Serving]:
    """A running server with `registrations`, on a Unix socket in a new folder, or at `address`,
    which another server may have had before.

    It logs errors only unless `log` is given. On leaving, calls get `grace` seconds to end.
    """
    known = new_issuer() if issuer is None else issuer
    with tempfile.TemporaryDirectory(prefix="concord-") as folder:
        address = address or f"unix:{Path(folder) / 'sock'}"
        server = Server(
            name="test",
            registrations=registrations,
            verifier=verifier or TokenVerifier({known.name: known.public_key}),
            listen=[address],
            ready=ready,
            reflection=reflection,
            metrics=METRICS if metrics is None else metrics,
            spans=spans,
            log=json_lines("test", level="error") if log is None else log,
            health_interval=health_interval,
            keepalive=keepalive,
            background=background,
        )
        await server.start()
        live = Serving(server, address, known)
        try:
            if wait_until_ready:
                await server.until_ready()
            yield live
        finally:
            await live.close_channels()
            await server.stop(grace)
