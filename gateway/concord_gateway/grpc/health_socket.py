"""The health over a Unix socket, whatever TLS the gateway's own addresses speak."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
from concord_chassis.server import BindError
from grpc_health.v1 import health_pb2_grpc

from concord_gateway.grpc.health import Health


@asynccontextmanager
async def answering(health: Health, path: Path) -> AsyncIterator[None]:
    """Answers at `path` for the length of the block: health alone, and to this process's own user.

    A socket that a killed process left there is replaced. Raises `BindError`.
    """
    server = grpc.aio.server()
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    try:
        server.add_insecure_port(f"unix:{path}")
    except RuntimeError:
        raise BindError(
            f"Cannot listen on {path}: set GATEWAY_HEALTH_SOCKET to a short path in a folder that"
            " is there and can be written to."
        ) from None
    await server.start()
    try:
        yield
    finally:
        await server.stop(0)
