"""Serve governance: `python -m concord_governance`, settings from the environment."""

import os

from concord_chassis.call.identity import TokenIssuer
from concord_chassis.observe.log import Logger
from concord_chassis.server import process
from concord_chassis.server.key_files import read_private_key
from concord_chassis.server.starting import run

from concord_governance.adapters.graph.client import PRINCIPAL
from concord_governance.bootstrap import START_ERRORS, GovernanceApp, build
from concord_governance.config import GovernanceConfig, read_store


async def _built(config: GovernanceConfig, log: Logger) -> GovernanceApp:
    store = read_store(os.environ)
    issuer = TokenIssuer(read_private_key(config.key_file), PRINCIPAL)
    grant_key = read_private_key(config.grant_key_file)
    log_key = read_private_key(config.log_key_file)
    return await build(config, store, issuer, grant_key, log_key, log=log)


if __name__ == "__main__":
    run(
        "governance",
        process.serve("governance", GovernanceConfig, os.environ, _built, *START_ERRORS),
    )
