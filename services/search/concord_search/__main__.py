"""Serve search: `python -m concord_search`, settings from the environment."""

import asyncio
import os

from concord_chassis.config import load
from concord_chassis.identity import TokenIssuer, TokenVerifier
from concord_chassis.key_files import read_private_key, read_public_key
from concord_chassis.metrics import Metrics
from concord_chassis.server import Server, serve_until_signal

from concord_search.bootstrap import build
from concord_search.config import PREFIX, SearchConfig, read_qdrant


async def _main() -> None:
    config = load(SearchConfig, os.environ, PREFIX)
    issuer = TokenIssuer(read_private_key(config.key_file), config.issuer_name)
    app = build(config, issuer, qdrant=read_qdrant(os.environ))
    metrics = Metrics()
    app.measure(metrics.registry)
    server = Server(
        name="search",
        registrations=app.registrations,
        verifier=TokenVerifier({n: read_public_key(p) for n, p in config.issuer_keys.items()}),
        translate=app.translate,
        listen=config.listen,
        ready=app.ready,
        reflection=config.reflection,
        metrics=metrics,
    )
    await app.start()
    await serve_until_signal([server], app.close)


if __name__ == "__main__":
    asyncio.run(_main())
