"""The health service on a Unix socket, without TLS even if the gateway's addresses use it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
from concord_chassis.server.server import BindError
from grpc_health.v1 import health_pb2_grpc

from concord_gateway.grpc.health import Health


@asynccontextmanager
async def answering(health: Health, path: Path) -> AsyncIterator[None]:
    """Serves health alone at `path` while the block runs, to this process's own user alone.

    Replaces the socket of a killed process. Raises `BindError`.
    """
    server = grpc.aio.server()
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    _listen(server, path)
    await server.start()
    try:
        yield
    finally:
        await server.stop(0)


def _listen(server: grpc.aio.Server, path: Path) -> None:
    try:
        server.add_insecure_port(f"unix:{path}")
    except RuntimeError:
        raise BindError(
            f"Cannot listen on {path}: set GATEWAY_HEALTH_SOCKET to a short path in a folder that"
            " is there and can be written to."
        ) from None
    path.chmod(0o600)  # whatever the umask: the socket asks callers for nothing
