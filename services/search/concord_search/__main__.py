"""Serve search: `python -m concord_search`, settings from the environment."""

import os

from concord_chassis.call.identity import TokenIssuer, TokenVerifier
from concord_chassis.channel import services_tls
from concord_chassis.config import load
from concord_chassis.observe.log import json_lines
from concord_chassis.server import process
from concord_chassis.server.key_files import read_private_key, read_public_key
from concord_chassis.server.starting import run, until_usable

from concord_search.bootstrap import SearchApp, build
from concord_search.config import PREFIX, SearchConfig, read_qdrant
from concord_search.domain.errors import IndexUnavailable, IndexUnusable


async def _main() -> None:
    config = load(SearchConfig, os.environ, PREFIX)
    qdrant = read_qdrant(os.environ)
    observation = process.Observation.read(os.environ)
    services_tls.enter(os.environ)
    issuer = TokenIssuer(read_private_key(config.key_file), config.issuer_name)
    verifier = TokenVerifier({n: read_public_key(p) for n, p in config.issuer_keys.items()})
    log = json_lines("search")

    async def begun() -> SearchApp:
        app = build(config, issuer, qdrant=qdrant, log=log)
        await app.start()
        return app

    app = await until_usable(begun, log, IndexUnavailable, IndexUnusable)
    await process.serve("search", app, config, verifier, observation, log=log, measure=app.measure)


if __name__ == "__main__":
    run("search", _main())
