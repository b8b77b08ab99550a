"""Counts reads (G6) without delaying replies: collected here, stored together once a second."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from functools import partial

from concord_graph.domain.errors import Overloaded, StoreCorrupt, StoreUnavailable
from concord_graph.domain.items import ItemKind
from concord_graph.ports import Change, ChangeType, Clock, Expected, GraphStore, SessionUse, Writes

FLUSH_SECONDS = 1.0
ANNOUNCE_EVERY_FLUSHES = 30


_Counts = dict[tuple[str, str], tuple[int, int]]


class Touches:
    """Reads that are not stored yet: collected ones, and those being written to the store.

    `run` it as a task, which ends with `close`.
    """

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.pending: tuple[_Counts, _Counts] = ({}, {})
        self._uses: dict[tuple[str, str], SessionUse] = {}
        self._flushing = asyncio.Lock()
        self._stopping = asyncio.Event()

    def add(self, space: str, ids: Iterable[str]) -> None:
        """Count one read of each item. Never waits."""
        now = self._clock()
        collected, _ = self.pending
        for item_id in ids:
            _add(collected, (space, item_id), 1, now)

    def use(self, space: str, session_id: str, memories: Iterable[str] = ()) -> None:
        """Note that a session was used, and which memories it read. Never waits."""
        if session_id:
            now = self._clock()
            self._keep_use((space, session_id), SessionUse(now, now, dict.fromkeys(memories, now)))

    async def close(self) -> None:
        """Store and announce the remaining reads: none is lost."""
        self._stopping.set()
        await self.flush()
        with contextlib.suppress(Overloaded, StoreUnavailable, StoreCorrupt):
            await self._announce()  # if this fails, the next start does it

    async def flush(self) -> None:
        """Store the collected reads; they stay visible as pending until then."""
        async with self._flushing:
            collected, _ = self.pending
            uses, self._uses = self._uses, {}
            self.pending = ({}, collected)
            try:
                await self._store.touch(collected, uses, self._stored)
            except BaseException:
                for key, use in uses.items():
                    self._keep_use(key, use)
                raise
            finally:
                self._keep_unstored()

    def _stored(self) -> None:
        self.pending = (self.pending[0], {})

    def _keep_use(self, key: tuple[str, str], use: SessionUse) -> None:
        if (known := self._uses.setdefault(key, use)) is not use:
            known.add(use)

    def _keep_unstored(self) -> None:
        collected, unstored = self.pending
        for key, (count, last) in unstored.items():
            _add(collected, key, count, last)
        self.pending = (collected, {})

    async def run(self) -> None:
        """Store the reads once a second, until `close`."""
        flushes = 0
        while not self._stopping.is_set():
            try:
                async with asyncio.timeout(FLUSH_SECONDS):
                    await self._stopping.wait()
            except TimeoutError:
                flushes += 1
                await self._flush_and_announce(announce=flushes % ANNOUNCE_EVERY_FLUSHES == 0)

    async def _flush_and_announce(self, *, announce: bool) -> None:
        try:
            await self.flush()
            if announce:
                await self._announce()
        except (Overloaded, StoreUnavailable):
            return  # kept, and tried again a second later

    async def _announce(self) -> None:
        """Append one TOUCHED change for each memory read since the last call."""
        for space, ids in (await self._store.newly_read()).items():
            await self._store.write(space, partial(_touched, ids=ids))


async def _touched(tx: Writes, ids: Sequence[str]) -> None:
    await tx.expect(lambda: Expected(ids=tuple(ids)))
    for item_id in ids:
        memory = await tx.memory(item_id)
        if memory is not None:
            seq, time = tx.tick()
            touched = ChangeType.TOUCHED
            number = memory.revision.number
            await tx.append(Change(seq, time, item_id, ItemKind.MEMORY, touched, number))


def _add(counts: _Counts, key: tuple[str, str], count: int, last: int) -> None:
    known, before = counts.get(key, (0, last))
    counts[key] = (known + count, max(before, last))
