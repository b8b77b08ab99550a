"""`python -m concord_gateway`: the gateway as its own process, configured by the environment."""

import os
import sys

import uvloop
from concord_chassis.channel import services_tls
from concord_chassis.config import ConfigError
from concord_chassis.observe import trace_exporter
from concord_chassis.observe.log import json_lines
from concord_chassis.server import health_address, metrics_server
from concord_chassis.server.process import Observation
from concord_chassis.server.server import BindError, serve_until_signal
from prometheus_client import CollectorRegistry

from concord_gateway import bootstrap, config
from concord_gateway.errors import IssuerKeyError, NoUpstreamError, TlsRefused


async def _serve() -> None:
    settings = config.read(os.environ)
    observation = Observation.read(os.environ)
    health = health_address.read(os.environ)
    services_tls.enter(os.environ)
    log, registry = json_lines("gateway"), CollectorRegistry()
    async with (
        metrics_server.exported(registry, observation.metrics),
        trace_exporter.exported(observation.traces, log) as spans_of,
    ):
        gateway = bootstrap.build(
            settings,
            registry=registry,
            spans=spans_of("gateway"),
            logger=log,
            health_address=health.address,
        )
        await serve_until_signal(gateway.start, lambda: gateway.stop(settings.grace))


_START_ERRORS = (BindError, ConfigError, IssuerKeyError, NoUpstreamError, TlsRefused)

if __name__ == "__main__":
    try:
        uvloop.run(_serve())
    except _START_ERRORS as error:
        sys.exit(str(error))
