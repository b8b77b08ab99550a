"""Serve governance: `python -m concord_governance`, settings from the environment."""

import asyncio
import os

from concord_chassis.config import load
from concord_chassis.identity import TokenIssuer, TokenVerifier
from concord_chassis.key_files import read_private_key, read_public_key
from concord_chassis.server import Server, serve_until_signal

from concord_governance.adapters.graph.client import PRINCIPAL
from concord_governance.bootstrap import build
from concord_governance.config import PREFIX, GovernanceConfig, read_store


async def _main() -> None:
    config = load(GovernanceConfig, os.environ, PREFIX)
    app = await build(
        config,
        read_store(os.environ),
        TokenIssuer(read_private_key(config.key_file), PRINCIPAL),
        read_private_key(config.grant_key_file),
        read_private_key(config.log_key_file),
    )
    server = Server(
        name="governance",
        registrations=app.registrations,
        verifier=TokenVerifier({n: read_public_key(p) for n, p in config.issuer_keys.items()}),
        translate=app.translate,
        listen=config.listen,
        ready=app.ready,
        reflection=config.reflection,
    )
    await app.start()
    await serve_until_signal([server], app.close)


if __name__ == "__main__":
    asyncio.run(_main())
