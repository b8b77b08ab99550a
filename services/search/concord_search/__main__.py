"""Serve search: `python -m concord_search`, settings from the environment."""

import os

from concord_chassis.call.identity import TokenIssuer
from concord_chassis.observe.log import Logger
from concord_chassis.server import process
from concord_chassis.server.key_files import read_private_key
from concord_chassis.server.starting import run

from concord_search.bootstrap import SearchApp, build
from concord_search.config import SearchConfig, read_qdrant
from concord_search.domain.errors import IndexUnavailable, IndexUnusable


async def _built(config: SearchConfig, log: Logger) -> SearchApp:
    issuer = TokenIssuer(read_private_key(config.key_file), config.issuer_name)
    return build(config, issuer, qdrant=read_qdrant(os.environ), log=log)


if __name__ == "__main__":
    unusable = (IndexUnavailable, IndexUnusable)
    run("search", process.serve("search", SearchConfig, os.environ, _built, *unusable))
