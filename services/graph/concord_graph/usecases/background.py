"""Work that goes on beside the calls, and is seen when it has died."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine


class Background:
    """One task. Who owns it asks whether it has died: nobody awaits it before the end."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def has_died(self) -> bool:
        """Whether the work ended by itself, which it never does while all is well."""
        return self._task is not None and self._task.done()

    async def close(self) -> None:
        """End; what is not done yet is done by the next life. Raises what the work failed with."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()

    def _begin(self, work: Coroutine[None, None, None], name: str) -> None:
        self._task = asyncio.get_running_loop().create_task(work, name=name)
