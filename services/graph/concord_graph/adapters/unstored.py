"""Pending reads, counted but not stored yet, merged with stored ones: for every store."""

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
    """Return the page, after an id, of all items that were ever read, by id.

    `stored` is the store's own page. If it is full, pending reads past its last id wait for the
    next page.
    """
    found = dict(stored)
    last = stored[-1][0] if len(stored) == limit else None
    for counts in pending:
        for (whose, item_id), (count, time) in counts.items():
            if whose == space and item_id > after and (last is None or item_id <= last):
                known = found.get(item_id, Access(time, 0))
                found[item_id] = Access(max(known.last_time, time), known.count + count)
    return sorted(found.items())[:limit]
