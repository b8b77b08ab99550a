"""Changes as they are applied: together in slices, with the states that they made."""

from collections.abc import AsyncIterator, Sequence

from concord_search.domain.changes import ChangeKind
from concord_search.domain.memory import Touch
from concord_search.ports.graph import Change, Changes, Feed, Hydrated

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


async def listed(graph: Feed, space: str, after_seq: int) -> AsyncIterator[Changes]:
    """Pages of a space's changes after one of them, up to its newest."""
    while True:
        page = await graph.changes(space, after_seq)
        if not page.changes:
            return
        yield page
        after_seq = page.changes[-1].seq
