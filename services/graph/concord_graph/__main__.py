"""Serve graph: `python -m concord_graph`, settings from the environment."""

import os

from concord_chassis.observe.log import Logger
from concord_chassis.server import process
from concord_chassis.server.starting import run

from concord_graph.bootstrap import START_ERRORS, GraphApp, build_on
from concord_graph.config import GraphConfig, read_enrolment, read_store


async def _built(config: GraphConfig, log: Logger) -> GraphApp:
    return await build_on(
        read_store(os.environ),
        enrolment=read_enrolment(config.enrolment_file),
        working_capacity=config.working_memory_capacity,
        exporters=config.exporters,
        partitions=config.partitions,
        confirmers=config.erase_confirmers,
        backups_file=config.backups_file,
        log=log,
    )


if __name__ == "__main__":
    run("graph", process.serve("graph", GraphConfig, os.environ, _built, *START_ERRORS))
