"""Serve search: `python -m concord_search`, settings from the environment."""

import os

from concord_chassis import metrics_server, trace_exporter
from concord_chassis.config import load
from concord_chassis.identity import TokenIssuer, TokenVerifier
from concord_chassis.key_files import read_private_key, read_public_key
from concord_chassis.log import json_lines
from concord_chassis.metrics import Metrics
from concord_chassis.server import Server, serve_until_signal
from concord_chassis.starting import run, until_usable

from concord_search.bootstrap import SearchApp, build
from concord_search.config import PREFIX, SearchConfig, read_qdrant
from concord_search.domain.errors import IndexUnavailable, IndexUnusable


async def _main() -> None:
    config = load(SearchConfig, os.environ, PREFIX)
    qdrant = read_qdrant(os.environ)
    watched, traces = metrics_server.read(os.environ), trace_exporter.read(os.environ)
    issuer = TokenIssuer(read_private_key(config.key_file), config.issuer_name)
    issuers = {name: read_public_key(path) for name, path in config.issuer_keys.items()}
    log = json_lines("search")

    async def begun() -> SearchApp:
        app = build(config, issuer, qdrant=qdrant, log=log)
        await app.start()
        return app

    app = await until_usable(begun, log, IndexUnavailable, IndexUnusable)
    metrics = Metrics(log=log)
    app.measure(metrics)
    async with (
        metrics_server.exported(metrics.registry, watched),
        trace_exporter.exported(traces, log) as spans_of,
    ):
        server = Server(
            name="search",
            registrations=app.registrations,
            verifier=TokenVerifier(issuers),
            translate=app.translate,
            listen=config.listen,
            ready=app.ready,
            reflection=config.reflection,
            metrics=metrics,
            spans=spans_of("search"),
            log=log,
        )
        await serve_until_signal([server], app.close)


if __name__ == "__main__":
    run("search", _main())
