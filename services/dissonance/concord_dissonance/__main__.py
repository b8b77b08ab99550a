"""Serve dissonance: `python -m concord_dissonance`, settings from the environment."""

import os
import secrets

from concord_chassis.call.identity import TokenIssuer, TokenVerifier
from concord_chassis.channel import services_tls
from concord_chassis.config import load
from concord_chassis.observe.log import json_lines
from concord_chassis.server import process
from concord_chassis.server.key_files import read_private_key, read_public_key
from concord_chassis.server.starting import run

from concord_dissonance.bootstrap import START_ERRORS, build
from concord_dissonance.config import PREFIX, DissonanceConfig
from concord_dissonance.ports.calls import PRINCIPAL


async def _main() -> None:
    config = load(DissonanceConfig, os.environ, PREFIX)
    observation = process.Observation.read(os.environ)
    services_tls.enter(os.environ)
    verifier = TokenVerifier({n: read_public_key(p) for n, p in config.issuer_keys.items()})
    log = json_lines("dissonance")
    issuer = TokenIssuer(read_private_key(config.key_file), PRINCIPAL)
    app = build(config, issuer, holder=secrets.token_hex(16), log=log)
    await app.start()
    await process.serve(
        "dissonance", app, config, verifier, observation, log=log, measure=app.measure
    )


if __name__ == "__main__":
    run("dissonance", _main(), *START_ERRORS)
