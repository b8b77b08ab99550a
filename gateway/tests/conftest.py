"""Gives these tests a gateway."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from gateway_echo import Front, front


@pytest_asyncio.fixture
async def door(tmp_path: Path) -> AsyncIterator[Front]:
    """A gateway with every setting at its default, but free ports."""
    async with front(tmp_path) as ready:
        yield ready
