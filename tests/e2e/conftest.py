"""A system in the test's own process, shared by the tests that do not stop it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from concord_embedded import Running, running


@pytest_asyncio.fixture(loop_scope="function")
async def system(tmp_path: Path) -> AsyncIterator[Running]:
    """A running system of the test's own."""
    async with running(tmp_path / "data", environ={}, grace=1.0) as live:
        yield live
