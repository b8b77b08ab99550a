"""Serve dissonance: `python -m concord_dissonance`, settings from the environment."""

import os
import secrets

from concord_chassis.call.identity import TokenIssuer
from concord_chassis.observe.log import Logger
from concord_chassis.server import process
from concord_chassis.server.key_files import read_private_key
from concord_chassis.server.starting import run

from concord_dissonance.bootstrap import START_ERRORS, DissonanceApp, build
from concord_dissonance.config import DissonanceConfig
from concord_dissonance.ports.calls import PRINCIPAL


async def _built(config: DissonanceConfig, log: Logger) -> DissonanceApp:
    issuer = TokenIssuer(read_private_key(config.key_file), PRINCIPAL)
    return build(config, issuer, holder=secrets.token_hex(16), log=log)


if __name__ == "__main__":
    served = process.serve("dissonance", DissonanceConfig, os.environ, _built)
    run("dissonance", served, *START_ERRORS)
