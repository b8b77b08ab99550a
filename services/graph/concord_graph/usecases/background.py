"""Background tasks whose unexpected end is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine


class Background:
    """One background task. Nobody awaits it before `close`, so its owner asks `has_died`."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def has_died(self) -> bool:
        """Whether the task ended by itself, which only a failure makes it do."""
        return self._task is not None and self._task.done()

    async def close(self) -> None:
        """End the task; the next process does the rest. Raises the error that the task died of."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()

    def _begin(self, work: Coroutine[None, None, None], name: str) -> None:
        self._task = asyncio.get_running_loop().create_task(work, name=name)
