"""Changes as they are applied: together in slices, with the states that they made."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from concord_search.domain.changes import ChangeKind
from concord_search.domain.memory import Touch
from concord_search.ports.graph import Change, Hydrated

SLICE = 512
"""Changes applied together: enough to batch texts of like length, few enough to be found soon."""

States = Sequence[tuple[Change, Hydrated | None]]
"""Changes of items with the states they made; None for an item that is gone."""


def touches(found: States) -> list[Touch]:
    """The last access data of each memory that was only read."""
    newest = {
        change.item_id: Touch(h.state.id, h.state.access_count, h.state.last_access)
        for change, h in found
        if h is not None and change.kind == ChangeKind.TOUCHED and not h.state.forgotten
    }
    return list(newest.values())


async def slices(changes: asyncio.Queue[Sequence[Change]]) -> AsyncIterator[list[Change]]:
    """Joins queued changes into slices, without waiting to fill one."""
    while True:
        pending = list(await changes.get())
        while len(pending) < SLICE and not changes.empty():
            pending += changes.get_nowait()
        for start in range(0, len(pending), SLICE):
            yield pending[start : start + SLICE]
