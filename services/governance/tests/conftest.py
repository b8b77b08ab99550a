"""Gives each of these tests a ledger."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import ledger_world
import other_ledger
import pytest
import pytest_asyncio
from concord_governance.adapters.neo4j.ledger import open_ledger as open_neo4j
from concord_governance.adapters.sqlite.ledger import open_ledger as open_sqlite
from concord_governance.ports.ledger import Ledger
from concord_testing.neo4j_server import OneStore, one_store


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is the other store's alone, by the one list that says why."""
    left_out = [item for item in items if other_ledger.why_not(item.nodeid)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not other_ledger.why_not(item.nodeid)]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OneStore]:
    """A Neo4j: tests that cannot have it fail."""
    with one_store(tmp_path_factory.mktemp("neo4j"), os.environ) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="function")
async def opened(
    tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[ledger_world.Opened]:
    """Opens ledgers of the chosen store."""
    async with AsyncExitStack() as stack:

        async def open_it(name: str, clock: ledger_world.Clock) -> Ledger:
            ledger: Ledger
            path = tmp_path / f"{name}.db"
            if ledger_world.is_neo4j():
                found: OneStore = request.getfixturevalue("server")
                ledger = await open_neo4j(ledger_world.settings(found, path), clock)
            else:
                ledger = open_sqlite(path, clock)
            stack.push_async_callback(ledger.close)
            return ledger

        yield open_it


@pytest_asyncio.fixture(loop_scope="function")
async def ledger(opened: ledger_world.Opened) -> Ledger:
    """An empty ledger."""
    return await opened("ledger", ledger_world.Clock())
