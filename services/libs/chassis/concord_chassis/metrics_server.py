"""Where Prometheus reads the metrics: an HTTP address of their own, off unless it is set."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address

from prometheus_client import CollectorRegistry, start_http_server
from pydantic import BaseModel, ConfigDict, Field

from concord_chassis.config import ConfigError, load
from concord_chassis.server import BindError

PREFIX = "METRICS_"


class MetricsConfig(BaseModel):
    """Where the metrics are read, keys METRICS_..."""

    model_config = ConfigDict(frozen=True)

    address: str = Field(default="", pattern=r"^((\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5})?$")
    """`host:port` where Prometheus reads the metrics, over HTTP without a key; port 0 takes any.
    Empty: nobody reads them."""
    plain_text_network: bool = False
    """Whether that may be beyond loopback: whoever reaches it sees how much is done, never what."""


def read(environ: Mapping[str, str]) -> MetricsConfig:
    """The settings in `environ`.

    Raises `ConfigError` when one is invalid, or when strangers could reach the address and nobody
    said that they may.
    """
    config = load(MetricsConfig, environ, PREFIX)
    if config.address and not config.plain_text_network and not _is_loopback(_host(config)):
        raise ConfigError(
            f"METRICS_ADDRESS: {config.address} can be reached from other machines, without a key: "
            "set a loopback address, or METRICS_PLAIN_TEXT_NETWORK=true where they may"
        )
    return config


@asynccontextmanager
async def exported(registry: CollectorRegistry, config: MetricsConfig) -> AsyncIterator[int]:
    """Serves a registry within the block, on threads of its own; yields the port, 0 for none.

    Raises `BindError` when the address is taken.
    """
    if not config.address:
        yield 0
        return
    port = int(config.address.rpartition(":")[2])
    try:
        server, thread = start_http_server(port, _host(config), registry)
    except (OSError, OverflowError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise BindError(
            f"Cannot listen on {config.address}: {why}. Set METRICS_ADDRESS to another address."
        ) from error
    try:
        yield server.server_port
    finally:
        await asyncio.to_thread(server.shutdown)  # a scrape under way may need the event loop
        server.server_close()
        thread.join()


def _host(config: MetricsConfig) -> str:
    return config.address.rpartition(":")[0].strip("[]")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
