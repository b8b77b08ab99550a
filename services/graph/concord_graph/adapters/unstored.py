"""Reads that are counted but not stored yet, among those that are: the same for every store."""

from __future__ import annotations

from collections.abc import Sequence

from concord_graph.domain.items import Access
from concord_graph.ports import ReadCounts


def page_of_accesses(
    stored: Sequence[tuple[str, Access]],
    pending: Sequence[ReadCounts],
    space: str,
    after: str,
    limit: int,
) -> list[tuple[str, Access]]:
    """Return the page after an id of what was ever read, by id.

    `stored` is the page of the store alone: a full one says nothing of what comes behind it.
    """
    found = dict(stored)
    last = stored[-1][0] if len(stored) == limit else None
    for counts in pending:
        for (whose, item_id), (count, time) in counts.items():
            if whose == space and item_id > after and (last is None or item_id <= last):
                known = found.get(item_id, Access(time, 0))
                found[item_id] = Access(max(known.last_time, time), known.count + count)
    return sorted(found.items())[:limit]
