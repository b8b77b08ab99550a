"""A system in the test's own process, or a governed space of graph and governance alone."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from concord_embedded import Running, running

sys.path.insert(0, str(Path(__file__).parents[1] / "governed"))

from governed_fixtures import _ledger_server, _patient_answers, live, party

__all__ = ["_ledger_server", "_patient_answers", "live", "party", "system"]


@pytest_asyncio.fixture(loop_scope="function")
async def system(tmp_path: Path) -> AsyncIterator[Running]:
    """A running system of the test's own."""
    async with running(tmp_path / "data", environ={}, grace=1.0) as live:
        yield live
