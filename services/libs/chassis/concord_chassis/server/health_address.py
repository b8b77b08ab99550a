"""The health service alone, at an address of its own: without TLS, for whoever reaches it.

Containers are checked there: a service's own address may demand a certificate of its caller, which
neither Kubernetes nor an image's health check has.
"""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
from grpc_health.v1 import health_pb2_grpc
from pydantic import BaseModel, ConfigDict, Field

from concord_chassis.config import load
from concord_chassis.server.server import BindError

PREFIX = "HEALTH_"
_SOCKET = "unix:"


class HealthConfig(BaseModel):
    """The settings of the health's address, keys HEALTH_..."""

    model_config = ConfigDict(frozen=True)

    address: str = Field(
        default="", pattern=r"^(unix:/.+|(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5})?$"
    )
    """`unix:/path`, for this process's user alone, or `host:port`, where whoever reaches it learns
    the health and nothing else. Empty: the health is told at the service's own address alone."""


def read(environ: Mapping[str, str]) -> HealthConfig:
    """Returns the settings in `environ`. Raises `ConfigError`."""
    return load(HealthConfig, environ, PREFIX)


# `Any`: a generated base class, of which the gateway's own health is none.
@asynccontextmanager
async def answering(servicer: Any, address: str) -> AsyncIterator[None]:
    """Serves health alone at `address`, unless it is empty, while the block runs.

    Replaces the socket of a killed process. Raises `BindError`.
    """
    if not address:
        yield
        return
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    try:
        server.add_insecure_port(address)
    except RuntimeError:
        raise BindError(
            f"Cannot listen on {address}: set HEALTH_ADDRESS to a free port, or to a short path in"
            " a folder that is there and can be written to."
        ) from None
    if address.startswith(_SOCKET):
        # Whatever the umask: the socket asks callers for nothing.
        os.chmod(address.removeprefix(_SOCKET), 0o600)
    await server.start()
    try:
        yield
    finally:
        await server.stop(0)
