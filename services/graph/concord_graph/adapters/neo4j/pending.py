"""Pending reads, which are counted but not stored yet, and their move into the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from concord_graph.ports import ReadCounts

T = TypeVar("T")
_TRIES = 2


class PendingReads:
    """Adds pending reads to stored ones, so that no answer counts a read twice or not at all.

    A statement during which reads moved into the store runs again; if it is too slow for that, it
    holds the move back.
    """

    def __init__(self) -> None:
        self._counts: Callable[[], Sequence[ReadCounts]] = tuple
        self._moves = 0
        self._moving = asyncio.Lock()

    def show(self, counts: Callable[[], Sequence[ReadCounts]]) -> None:
        """Set the source of the pending reads."""
        self._counts = counts

    async def beside(self, ask: Callable[[], Awaitable[T]]) -> tuple[T, Sequence[ReadCounts]]:
        """Return a statement's answer with the reads that it does not contain."""
        for _ in range(_TRIES):
            async with self._moving:  # no reads are moving inside
                moves, counts = self._moves, self._counts()
            answer = await ask()
            if moves == self._moves:
                return answer, counts
        async with self._moving:
            return await ask(), self._counts()

    @asynccontextmanager
    async def moving(self) -> AsyncIterator[None]:
        """Hold the lock under which the caller commits reads, which then are pending no more."""
        async with self._moving:
            self._moves += 1
            yield
