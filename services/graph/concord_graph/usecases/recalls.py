"""The recall log of a space, and the erasure of a query's text (W8, S7).

Recalls are collected here and written five times a second, so that no answer waits for the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol
from uuid import UUID

from concord_graph.domain.errors import (
    Overloaded,
    SpaceDeleted,
    StoreCorrupt,
    StoreUnavailable,
)
from concord_graph.domain.relevance import MICROSECONDS_PER_DAY
from concord_graph.domain.sessions import KEPT_DAYS, Recall, RecallFilter
from concord_graph.ports import Clock, GraphStore, Reads, ServiceRecord, Writes
from concord_graph.usecases.read.states import keeps_recalls
from concord_graph.usecases.records import demand_space

RECALLS = "write recalls"
"""The name of the task that does it."""
FLUSH_SECONDS = 0.2
"""Between two writes of recalls; a crash may lose those of this time."""

_REFUSALS = (Overloaded, StoreUnavailable, StoreCorrupt)
MOST_WAITING = 1_000
"""Unwritten recalls of all spaces; beyond that, an answer waits for the write."""


class Tried(Protocol):
    """Does a piece of work in a space, and deals with what nobody expects that it raises."""

    async def __call__(
        self,
        space: str,
        work: Callable[[], Coroutine[None, None, None]],
        *,
        passing: tuple[type[Exception], ...],
    ) -> float:
        """Return 0.0 if it was done. Raises what work raises of `passing`."""
        ...


class Recalls:
    """Reads and writes the recall logs: which memories a search returned to whom.

    `run` it as a task, which ends with `close`.
    """

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._waiting: dict[str, list[Recall]] = {}
        self._flushing = asyncio.Lock()
        self._stopping = asyncio.Event()

    async def close(self) -> None:
        """Write the waiting recalls; they are lost only if the store refuses them."""
        self._stopping.set()
        with contextlib.suppress(*_REFUSALS):  # the other tasks must be closed, too
            await self.flush()

    async def add(self, space: str, recall: Recall) -> bool:
        """Store a recall if the space's log is on; return whether it is on.

        Waits for a write only if `MOST_WAITING` recalls are unwritten.
        """
        if not await self._store.read(space, keeps_recalls, brief=True):
            return False
        if sum(map(len, self._waiting.values())) >= MOST_WAITING:
            await self.flush()
        self._waiting.setdefault(space, []).append(replace(recall, time=self._clock()))
        return True

    async def flush(self) -> None:
        """Write the waiting recalls; those that cannot be written go on waiting."""
        for space in list(self._waiting):
            await self._flush(space)

    async def _flush(self, space: str) -> None:
        async with self._flushing:
            if recalls := tuple(self._waiting.get(space, ())):
                await self._write(space, recalls)
                del self._waiting[space][: len(recalls)]
                if not self._waiting[space]:
                    del self._waiting[space]

    async def _write(self, space: str, recalls: Sequence[Recall]) -> None:
        """Write recalls, and drop those that are too old; in a deleted space do nothing."""
        oldest = first_id(self._clock() - KEPT_DAYS * MICROSECONDS_PER_DAY)

        async def work(tx: Writes) -> None:
            demand_space(tx)
            await tx.drop_recalls(oldest)
            for each in recalls:
                await tx.put_recall(each)

        with contextlib.suppress(SpaceDeleted):
            await self._store.write(space, work)

    async def run(self, tried: Tried) -> None:
        """Write the waiting recalls five times a second, until `close`.

        `tried`: does the work of one space, whose bugs then end no other space's.
        """
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    await self._stopping.wait()
            for space in list(self._waiting):
                with contextlib.suppress(*_REFUSALS):
                    await tried(space, partial(self._flush, space), passing=_REFUSALS)

    async def list(
        self, space: str, filter_: RecallFilter, before: str, limit: int
    ) -> tuple[Sequence[Recall], bool]:
        """Return recalls older than a query id, the newest first; and whether the log is on.

        Waiting recalls are written first. Recalls that are too old are left out, dropped or not.
        """
        await self.flush()
        oldest = first_id(self._clock() - KEPT_DAYS * MICROSECONDS_PER_DAY)

        async def work(tx: Reads) -> tuple[Sequence[Recall], bool]:
            found = await tx.recalls(filter_, before, limit)
            return [each for each in found if each.query_id >= oldest], await keeps_recalls(tx)

        return await self._store.read(space, work)

    async def turn(self, space: str, *, on: bool) -> None:
        """Turn the log on or off."""

        async def work(tx: Writes) -> None:
            demand_space(tx)
            await tx.put_service_record(ServiceRecord.RECALL_LOG, json.dumps({"on": on}))

        await self._store.write(space, work)

    async def erase_text(self, space: str, query_id: str) -> bool:
        """Erase a query's text and its votes' reasons; return whether there were any."""

        async def work(tx: Writes) -> bool:
            demand_space(tx)
            asked = await tx.service_record(ServiceRecord.RANKED_QUERY, query_id)
            if asked:
                body = json.dumps({**json.loads(asked), "text": ""})
                await tx.put_service_record(ServiceRecord.RANKED_QUERY, body, query_id)
            votes = await tx.service_records(ServiceRecord.FEEDBACK, f"{query_id}/")
            for key, vote in votes.items():
                body = json.dumps({**json.loads(vote), "text": "", "reason": ""})
                await tx.put_service_record(ServiceRecord.FEEDBACK, body, key)
            return bool(asked or votes)

        return await self._store.write(space, work)


def first_id(time: int) -> str:
    """Return the text that sorts before every UUIDv7 of this time (µs) and after earlier ones."""
    return str(UUID(int=max(time, 0) // 1000 << 80))
