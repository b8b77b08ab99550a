"""Serve governance: `python -m concord_governance`, settings from the environment."""

import os

from concord_chassis.call.identity import TokenIssuer, TokenVerifier
from concord_chassis.channel import services_tls
from concord_chassis.config import load
from concord_chassis.observe.log import json_lines
from concord_chassis.server import process
from concord_chassis.server.key_files import read_private_key, read_public_key
from concord_chassis.server.starting import run, until_usable

from concord_governance.adapters.graph.client import PRINCIPAL
from concord_governance.bootstrap import START_ERRORS, GovernanceApp, build
from concord_governance.config import PREFIX, GovernanceConfig, read_store


async def _main() -> None:
    config = load(GovernanceConfig, os.environ, PREFIX)
    store = read_store(os.environ)
    observation = process.Observation.read(os.environ)
    services_tls.enter(os.environ)
    issuer = TokenIssuer(read_private_key(config.key_file), PRINCIPAL)
    grant_key = read_private_key(config.grant_key_file)
    log_key = read_private_key(config.log_key_file)
    verifier = TokenVerifier({n: read_public_key(p) for n, p in config.issuer_keys.items()})
    log = json_lines("governance")

    async def begun() -> GovernanceApp:
        app = await build(config, store, issuer, grant_key, log_key, log=log)
        await app.start()
        return app

    app = await until_usable(begun, log, *START_ERRORS)
    await process.serve(
        "governance", app, config, verifier, observation, log=log, measure=app.measure
    )


if __name__ == "__main__":
    run("governance", _main())
