"""Lets these tests import `graph_world`, which stands beside them, and gives each a world."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

sys.path.insert(0, str(Path(__file__).parent))

from graph_world import Calls, World, world


@pytest_asyncio.fixture
async def live(tmp_path: Path) -> AsyncIterator[World]:
    """A graph over a fresh store, with a clock that stands still until it is moved."""
    async with world(tmp_path / "graph.db") as running:
        yield running


@pytest_asyncio.fixture
async def home(live: World) -> Calls:
    """An agent's calls in the space "home", with every scope."""
    return live.calls()
