"""Serve graph: `python -m concord_graph`, settings from the environment."""

import asyncio
import os

from concord_chassis.config import load
from concord_chassis.identity import TokenVerifier
from concord_chassis.key_files import read_public_key
from concord_chassis.server import Server, serve_until_signal

from concord_graph.bootstrap import build_on
from concord_graph.config import GraphConfig, read_enrolment, read_store


async def _main() -> None:
    config = load(GraphConfig, os.environ, "GRAPH_")
    app = await build_on(
        read_store(os.environ),
        enrolment=read_enrolment(config.enrolment_file),
        working_capacity=config.working_memory_capacity,
        exporters=config.exporters,
        confirmers=config.erase_confirmers,
    )
    server = Server(
        name="graph",
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
