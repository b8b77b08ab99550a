"""Counting reads off the reply's path (G6): collected here, flushed in one statement a second."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

from concord_graph.domain.exceptions import Overloaded, StoreCorrupt, StoreUnavailable
from concord_graph.ports import Clock, GraphStore

FLUSH_SECONDS = 1.0
ANNOUNCE_EVERY_FLUSHES = 30


class Touches:
    """Reads not yet stored. `pending` maps (space, id) to (how many, last time µs)."""

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.pending: dict[tuple[str, str], tuple[int, int]] = {}
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    def add(self, space: str, ids: Iterable[str]) -> None:
        """Count one read of each item. Never waits."""
        now = self._clock()
        for item_id in ids:
            key = (space, item_id)
            count, _ = self.pending.get(key, (0, 0))
            self.pending[key] = (count + 1, now)

    def start(self) -> None:
        """Begin to flush in the background."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name="touches")

    async def close(self) -> None:
        """Flush and announce what is left; nothing read before is lost."""
        self._stopping.set()
        if self._task is not None:
            await self._task
        await self.flush()
        with contextlib.suppress(Overloaded, StoreUnavailable, StoreCorrupt):
            await self._store.announce_touches()  # else after the next start: the store remembers

    async def flush(self) -> None:
        """Store what was collected. Pending reads stay visible until they are stored."""
        batch = dict(self.pending)
        if not batch:
            return
        await self._store.touch(batch)
        for key, (count, _) in batch.items():
            now_count, now_last = self.pending[key]
            if now_count == count:
                del self.pending[key]
            else:
                self.pending[key] = (now_count - count, now_last)

    async def _run(self) -> None:
        flushes = 0
        while not self._stopping.is_set():
            try:
                await asyncio.wait_for(self._stopping.wait(), FLUSH_SECONDS)
            except TimeoutError:
                flushes += 1
                await self._flush_and_announce(announce=flushes % ANNOUNCE_EVERY_FLUSHES == 0)

    async def _flush_and_announce(self, *, announce: bool) -> None:
        try:
            await self.flush()
            if announce:
                await self._store.announce_touches()
        except (Overloaded, StoreUnavailable):
            return  # kept, and tried again a second later
