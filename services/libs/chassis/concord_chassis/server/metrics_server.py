"""Serves the metrics to Prometheus over HTTP, on an address of their own; off by default."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry, start_http_server
from pydantic import BaseModel, ConfigDict, Field

from concord_chassis.channel.addresses import is_loopback
from concord_chassis.config import ConfigError, load
from concord_chassis.server.server import BindError

PREFIX = "METRICS_"


class MetricsConfig(BaseModel):
    """The settings of the metrics' address, keys METRICS_..."""

    model_config = ConfigDict(frozen=True)

    address: str = Field(default="", pattern=r"^((\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5})?$")
    """`host:port` for Prometheus, over HTTP without a credential; port 0 takes any free port.
    Empty: the metrics are not served."""
    plain_text_network: bool = False
    """Whether the address may be another than loopback. Whoever reaches the address sees counts,
    times and figures, never content."""


def read(environ: Mapping[str, str]) -> MetricsConfig:
    """Returns the settings in `environ`.

    Raises `ConfigError` when a setting is invalid, or when the address is not loopback and
    `plain_text_network` is not set.
    """
    config = load(MetricsConfig, environ, PREFIX)
    if config.address and not config.plain_text_network and not is_loopback(_host(config)):
        raise ConfigError(
            f"METRICS_ADDRESS: {config.address} can be reached from other machines, without a key: "
            "set a loopback address, or METRICS_PLAIN_TEXT_NETWORK=true where they may"
        )
    return config


@asynccontextmanager
async def exported(registry: CollectorRegistry, config: MetricsConfig) -> AsyncIterator[int]:
    """Serves a registry within the block, in threads of its own.

    Yields the port; 0 if no address is set. Raises `BindError` when the server cannot listen on the
    address.
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
