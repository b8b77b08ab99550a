"""Fixtures of a governed space: import them into a conftest."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import chosen_store
import pytest
import pytest_asyncio
from concord_governance.usecases import execution, graph_feed
from governed_world import SECONDS, Party, World, world


@pytest.fixture(scope="session", autouse=True)
def _ledger_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Neo4j, when it is the ledger's store: tests that cannot have it fail."""
    with chosen_store.LEDGER.server(tmp_path_factory.mktemp("neo4j")):
        yield


@pytest.fixture(scope="session", autouse=True)
def _graph_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Neo4j, when it is graph's store."""
    with chosen_store.GRAPH.server(tmp_path_factory.mktemp("neo4j-graph")):
        yield


@pytest.fixture(autouse=True)
def _patient_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of decisions wait for graph's own entries for as long as these tests do; what was
    decided and is not done is looked at every twentieth of a second."""
    monkeypatch.setattr(graph_feed, "_REACH_SECONDS", SECONDS)
    monkeypatch.setattr(execution, "_ROUND_SECONDS", 0.05)


@pytest_asyncio.fixture(loop_scope="function")
async def live(tmp_path: Path) -> AsyncIterator[World]:
    """Graph and governance, running."""
    async with world(tmp_path) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="function")
async def party(live: World) -> Party:
    """A space whose genesis is done."""
    parties = live.party()
    await parties.enrol()
    return parties
