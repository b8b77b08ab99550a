"""Brings graph's store and the ledger up to date, and ends: `python -m concord_embedded.migrate`.

Graph and governance do the same when they start. Done before an upgrade, a conversion that fails
or takes long leaves the running services as they are. It only adds: processes of the version before
go on, and one that is started after it is refused by name. The settings are the services' own:
GRAPH_STORE, GOVERNANCE_STORE, and those of the stores.
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping

from concord_chassis.config import ConfigError
from concord_governance import bootstrap as governance
from concord_governance import config as governance_config
from concord_graph import bootstrap as graph
from concord_graph import config as graph_config

REFUSALS = (ConfigError, *graph.START_ERRORS, *governance.START_ERRORS)


async def migrate(environ: Mapping[str, str], said: Callable[[str], object] = print) -> None:
    """Opens both stores, which converts what an earlier version wrote, and closes them.

    `said` gets a line for each. Raises one of `REFUSALS`, whose texts say what to do.
    """
    of_graph, of_ledger = graph_config.read_store(environ), governance_config.read_store(environ)

    async def open_graph() -> None:
        await (await graph.opened(of_graph, graph.system_clock)).close()

    async def open_ledger() -> None:
        await (await governance.opened(of_ledger, governance.system_clock)).close()

    for name, opened in (("graph's store", open_graph), ("the ledger", open_ledger)):
        said(f"{name} is up to date, after {await _seconds(opened):.1f} s")


async def _seconds(work: Callable[[], Awaitable[None]]) -> float:
    begun = time.monotonic()
    await work()
    return time.monotonic() - begun


if __name__ == "__main__":
    try:
        asyncio.run(migrate(os.environ))
    except REFUSALS as error:
        sys.exit(f"the stores cannot be brought up to date: {error}")
