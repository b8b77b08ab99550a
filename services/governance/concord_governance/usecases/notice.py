"""Waking those who wait for something to have happened."""

from __future__ import annotations

import asyncio


class Notice:
    """Wakes all who wait for the next time that something happens.

    They wait with `asyncio.wait([notice.next()], timeout=...)`, which raises nothing when the time
    is over and holds no lock: so neither many who wait nor a slow look between can end a task.
    """

    def __init__(self) -> None:
        self._next: asyncio.Future[None] | None = None

    def next(self) -> asyncio.Future[None]:
        """Return the future that is done when it happens next. Nobody may cancel it."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        return self._next

    def give(self) -> None:
        """Wake all who wait."""
        if self._next is not None:
            self._next.set_result(None)
            self._next = None
