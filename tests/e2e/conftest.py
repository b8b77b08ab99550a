"""A system in the test's own process or one that runs already, or a governed space of graph and
governance alone."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from access_world import OPERATING, AccessClient
from concord_embedded import Running
from concord_embedded import running as whole_system
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.ports.embedder import Embedder
from concord_testing import qdrant_server
from concord_testing.embedders import Shared
from concord_testing.up_process import spawned
from dissonance_over_graph import Dissonant, Space, dissonant
from governed_fixtures import _graph_server, _ledger_server, _patient_answers, live, party
from governed_world import World, world
from running_system import fresh_spaces
from search_over_graph import TwoServers, run

__all__ = ["_graph_server", "_ledger_server", "_patient_answers", "live", "party"]


@pytest.fixture(scope="session", autouse=True)
def _index_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Qdrant server, when it keeps the index: tests that cannot have it fail."""
    with qdrant_server.chosen(tmp_path_factory.mktemp("qdrant")):
        yield


@pytest.fixture(scope="session")
def shared_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of credentials of a system that runs already: the one that CONCORD_SYSTEM names,
    or one of this run's own."""
    if folder := os.environ.get("CONCORD_SYSTEM"):
        yield Path(folder)
        return
    with spawned(tmp_path_factory.mktemp("system") / "data") as server:
        yield server.data


@pytest_asyncio.fixture(loop_scope="function")
async def system(shared_system: Path) -> Running:
    """A running system in which two spaces, by the names of an own one's, are the test's own."""
    return await fresh_spaces(shared_system)


@pytest_asyncio.fixture(loop_scope="function")
async def own_system(tmp_path: Path) -> AsyncIterator[Running]:
    """A system in the test's own process."""
    async with whole_system(tmp_path / "data", environ={}, grace=1.0) as live:
        yield live


@pytest.fixture(scope="session")
def minilm() -> Iterator[Embedder]:
    """The real model, loaded once."""
    model = MiniLm()
    asyncio.run(model.open())
    yield Shared(model)
    asyncio.run(model.close())


@pytest.fixture
async def running(tmp_path: Path, minilm: Embedder) -> AsyncIterator[TwoServers]:
    """Graph and search over an empty data directory, with the real model."""
    async with run(tmp_path, minilm) as system:
        yield system


@pytest_asyncio.fixture(loop_scope="function")
async def ops(live: World) -> AccessClient:
    """An operator, and a space called `team`."""
    client = AccessClient(live, OPERATING)
    await client.space("team")
    return client


@pytest_asyncio.fixture(loop_scope="function")
async def works(live: World) -> AsyncIterator[Dissonant]:
    """Every service; dissonance does what it is asked to, and nothing by itself."""
    async with dissonant(live, follow=False) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="function")
async def home(works: Dissonant) -> Space:
    """A space as its agent sees it."""
    return works.space()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def lasting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Graph and governance, for all tests of a module."""
    async with world(tmp_path_factory.mktemp("lasting")) as running:
        yield running
