"""Serve graph: `python -m concord_graph`, settings from the environment."""

import os

from concord_chassis.call.identity import TokenVerifier
from concord_chassis.channel import services_tls
from concord_chassis.config import load
from concord_chassis.observe.log import json_lines
from concord_chassis.server import process
from concord_chassis.server.key_files import read_public_key
from concord_chassis.server.starting import run, until_usable

from concord_graph.bootstrap import START_ERRORS, GraphApp, build_on
from concord_graph.config import GraphConfig, read_enrolment, read_store


async def _main() -> None:
    config = load(GraphConfig, os.environ, "GRAPH_")
    store = read_store(os.environ)
    observation = process.Observation.read(os.environ)
    services_tls.enter(os.environ)
    enrolment = read_enrolment(config.enrolment_file)
    verifier = TokenVerifier({n: read_public_key(p) for n, p in config.issuer_keys.items()})
    log = json_lines("graph")

    async def begun() -> GraphApp:
        app = await build_on(
            store,
            enrolment=enrolment,
            working_capacity=config.working_memory_capacity,
            exporters=config.exporters,
            confirmers=config.erase_confirmers,
            log=log,
        )
        await app.start()
        return app

    app = await until_usable(begun, log, *START_ERRORS)
    await process.serve("graph", app, config, verifier, observation, log=log)


if __name__ == "__main__":
    run("graph", _main())
