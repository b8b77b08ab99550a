"""Waiting in tests for conditions that nothing announces."""

import asyncio
from collections.abc import Callable

SECONDS = 60.0
"""How long tests wait for a condition that is normally true at once: a machine may be busy."""


async def until(true: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Polls until `true` returns True. Raises `TimeoutError`."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)
