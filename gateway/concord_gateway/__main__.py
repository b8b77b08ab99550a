"""`python -m concord_gateway`: the gateway as a process of its own, told by its environment."""

import os
import sys

import uvloop
from concord_chassis.config import ConfigError
from concord_chassis.server import BindError, serve_until_signal

from concord_gateway import bootstrap, config
from concord_gateway.issuer import IssuerKeyError
from concord_gateway.routes import NoUpstreamError
from concord_gateway.tls import TlsRefused


async def _serve() -> None:
    settings = config.read(os.environ)
    gateway = bootstrap.build(settings)
    await gateway.start()
    await serve_until_signal((), lambda: gateway.stop(settings.grace))


_SENTENCES = (
    BindError,
    ConfigError,
    IssuerKeyError,
    NoUpstreamError,
    TlsRefused,
)

if __name__ == "__main__":
    try:
        uvloop.run(_serve())
    except _SENTENCES as error:
        sys.exit(str(error))
