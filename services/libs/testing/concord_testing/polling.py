"""Waiting in tests for what announces itself to nobody."""

import asyncio
from collections.abc import Callable

SECONDS = 60.0
"""How long tests wait for what normally comes at once: a busy machine may take its time."""


async def until(true: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Polls until something is so. Raises `TimeoutError`."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)
