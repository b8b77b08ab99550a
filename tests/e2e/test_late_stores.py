"""Services that start before their stores: each says which is missing, and recovers by itself."""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from composed_processes import SERVICES, composed
from concord_chassis.server.probe import serves
from concord_testing import neo4j_server, qdrant_server
from concord_testing.relay import relay
from concord_testing.scraping import free_port

SAYS = {
    "graph": ("waiting for the store", "NEO4J_URI"),
    "governance": ("waiting for the store", "NEO4J_URI"),
    "search": ("waiting for the store", "QDRANT_URL"),
    "dissonance": ("feed lost", "DISSONANCE_GRAPH_ADDRESS"),
}
"""What each logs, and the setting that it names."""


@pytest.mark.neo4j
@pytest.mark.timeout(300)
async def test_all_services_start_before_their_stores_and_recover_by_themselves(
    tmp_path: Path,
) -> None:
    """Must hold (issue 17): each stays not ready while its store or service is away, says which
    setting to look at, and is ready when it comes: nobody is started again."""
    qdrant = qdrant_server.local(tmp_path / "qdrant", os.environ)
    port = free_port()
    stores = {
        "GRAPH_STORE": "neo4j",
        "GOVERNANCE_STORE": "neo4j",
        "NEO4J_URI": f"bolt://127.0.0.1:{port}",
        "INDEX_STORE": "qdrant",
        "QDRANT_URL": qdrant.url,
        "QDRANT_API_KEY_FILE": "",
        "NEO4J_PASSWORD_FILE": "",
    }
    with neo4j_server.running(tmp_path / "neo4j", os.environ) as neo4j, qdrant:
        stores |= {"NEO4J_USER": neo4j.user, "NEO4J_PASSWORD": neo4j.password}
        qdrant.kill()
        async with composed(tmp_path, settings=stores) as system, AsyncExitStack() as stack:
            for service, (event, setting) in SAYS.items():
                await system.until_logged(service, event)
                await system.until_logged(service, setting)
                assert not await asyncio.to_thread(serves, system.address(service))
            assert not await asyncio.to_thread(serves, system.address("gateway"))
            started = {each: system.running[each].pid for each in SERVICES}

            behind = neo4j.uri.removeprefix("bolt://")
            await stack.enter_async_context(relay(behind, port))  # it is where they look for it
            await asyncio.to_thread(qdrant.start)
            await system.until_serving()

            assert {each: system.running[each].pid for each in SERVICES} == started
            assert all(each.returncode is None for each in system.running.values())
            assert await system.found() == ["tea"]
