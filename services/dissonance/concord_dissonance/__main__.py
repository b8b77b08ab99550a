"""Serve dissonance: `python -m concord_dissonance`, settings from the environment."""

import os

from concord_chassis import metrics_server, trace_exporter
from concord_chassis.config import load
from concord_chassis.identity import TokenIssuer, TokenVerifier
from concord_chassis.key_files import read_private_key, read_public_key
from concord_chassis.log import json_lines
from concord_chassis.metrics import Metrics
from concord_chassis.server import Server, serve_until_signal
from concord_chassis.starting import run

from concord_dissonance.bootstrap import build
from concord_dissonance.config import PREFIX, DissonanceConfig
from concord_dissonance.domain.errors import JudgeUnavailable
from concord_dissonance.ports import PRINCIPAL


async def _main() -> None:
    config = load(DissonanceConfig, os.environ, PREFIX)
    watched, traces = metrics_server.read(os.environ), trace_exporter.read(os.environ)
    log = json_lines("dissonance")
    app = build(config, TokenIssuer(read_private_key(config.key_file), PRINCIPAL), log=log)
    metrics = Metrics(log=log)
    app.measure(metrics)
    async with (
        metrics_server.exported(metrics.registry, watched),
        trace_exporter.exported(traces, log) as spans_of,
    ):
        server = Server(
            name="dissonance",
            registrations=app.registrations,
            verifier=TokenVerifier({n: read_public_key(p) for n, p in config.issuer_keys.items()}),
            translate=app.translate,
            listen=config.listen,
            ready=app.ready,
            reflection=config.reflection,
            metrics=metrics,
            spans=spans_of("dissonance"),
            log=log,
        )
        await app.start()
        await serve_until_signal([server], app.close)


if __name__ == "__main__":
    run("dissonance", _main(), JudgeUnavailable)
