"""Runs reads of one store on consistent views, and counts what they returned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from concord_graph.domain.items import is_erased
from concord_graph.ports import Clock, GraphStore, Reads
from concord_graph.usecases.read.shown import Shown
from concord_graph.usecases.read.touches import Touches

T = TypeVar("T")


class Reader:
    """Reads of one store. What counts as access is noted after the read, and stored later."""

    def __init__(self, store: GraphStore, touches: Touches, clock: Clock) -> None:
        self._store = store
        self._touches = touches
        self._clock = clock

    async def read(
        self, space: str, work: Callable[[Reads, int], Awaitable[T]], *, brief: bool = False
    ) -> T:
        """Run work on a consistent view; its "now" (µs) is not before any record.

        `brief`: the work looks at some hundred rows at most.
        """
        return await self._store.read(
            space, lambda tx: work(tx, max(self._clock(), tx.last_time)), brief=brief
        )

    def count_item(self, space: str, shown: Shown | None, session_id: str, *, peek: bool) -> None:
        """Count a read of an item, unless it is a peek, or there is none or it is erased."""
        if shown and not peek and not is_erased(shown.view.item):
            self.count(space, [shown.view.item.id], session_id, of_session=True)

    def count(
        self, space: str, ids: Iterable[str], session_id: str, *, of_session: bool = False
    ) -> None:
        """Count a read of each item, and the use of a session.

        `of_session`: the session read these; what a walk passes is read by no session.
        """
        read = list(ids)
        self._touches.add(space, read)
        self._touches.use(space, session_id, read if of_session else ())

    async def flush(self) -> None:
        """Store the reads and uses of sessions that were noted so far."""
        await self._touches.flush()
