"""Gives each of these tests a world."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import neo4j_at_hand
import other_store
import pytest
import pytest_asyncio
from concord_graph.domain.items import Memory
from concord_graph.ports import Author, GraphStore, Writes
from concord_graph.usecases.write.writer import Writer
from graph_world import START, Calls, Clock, Parties, World, opened_store, world


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is the other store's alone, by the one list that says why."""
    left_out = [item for item in items if other_store.why_not(item.nodeid)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not other_store.why_not(item.nodeid)]


@pytest.fixture(scope="session", autouse=True)
def _store_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Neo4j, when it is the store: tests that cannot have it fail."""
    if not neo4j_at_hand.is_chosen():
        yield
        return
    with neo4j_at_hand.server(tmp_path_factory.mktemp("neo4j")):
        yield


@pytest_asyncio.fixture
async def live(tmp_path: Path) -> AsyncIterator[World]:
    """A graph over a fresh store, with a clock that stands still until it is moved."""
    async with world(tmp_path / "graph.db") as running:
        yield running


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[GraphStore]:
    """A bare store, with a memory "m" in the space "home"."""
    opened = await opened_store(tmp_path / "graph.db", Clock())

    async def put(tx: Writes) -> None:
        await Writer(tx, Author("p", "Test", "r"), START).put(None, Memory(id="m", content="x"))

    await opened.write("home", put)
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def home(live: World) -> Calls:
    """An agent's calls in the space "home", with every scope."""
    return live.calls()


@pytest_asyncio.fixture
async def parties(live: World, home: Calls) -> Parties:
    """The agent and the human of the space "home", enrolled, and governance."""
    both = live.parties()
    await both.enrol(home)
    return both
