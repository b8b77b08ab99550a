"""Serve governance: `python -m concord_governance`, settings from the environment."""

import os

from concord_chassis import metrics_server, trace_exporter
from concord_chassis.config import load
from concord_chassis.identity import TokenIssuer, TokenVerifier
from concord_chassis.key_files import read_private_key, read_public_key
from concord_chassis.log import json_lines
from concord_chassis.metrics import Metrics
from concord_chassis.server import Server, serve_until_signal
from concord_chassis.starting import run, until_usable
from concord_stores.neo4j_config import ServerUnusable
from concord_stores.sqlite_file import FileUnusable

from concord_governance.adapters.graph.client import PRINCIPAL
from concord_governance.bootstrap import GovernanceApp, build
from concord_governance.config import PREFIX, GovernanceConfig, read_store


async def _main() -> None:
    config = load(GovernanceConfig, os.environ, PREFIX)
    store = read_store(os.environ)
    watched, traces = metrics_server.read(os.environ), trace_exporter.read(os.environ)
    issuer = TokenIssuer(read_private_key(config.key_file), PRINCIPAL)
    grant_key = read_private_key(config.grant_key_file)
    log_key = read_private_key(config.log_key_file)
    issuers = {name: read_public_key(path) for name, path in config.issuer_keys.items()}
    log = json_lines("governance")

    async def begun() -> GovernanceApp:
        app = await build(config, store, issuer, grant_key, log_key, log=log)
        await app.start()
        return app

    app = await until_usable(begun, log, FileUnusable, ServerUnusable)
    metrics = Metrics(log=log)
    app.measure(metrics)
    async with (
        metrics_server.exported(metrics.registry, watched),
        trace_exporter.exported(traces, log) as spans_of,
    ):
        server = Server(
            name="governance",
            registrations=app.registrations,
            verifier=TokenVerifier(issuers),
            translate=app.translate,
            listen=config.listen,
            ready=app.ready,
            reflection=config.reflection,
            metrics=metrics,
            spans=spans_of("governance"),
            log=log,
        )
        await serve_until_signal([server], app.close)


if __name__ == "__main__":
    run("governance", _main())
