"""Values put together from several rows, or from rows and pending reads: for every store.

Pending reads are counted, but not stored yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from concord_graph.domain.facts import Support
from concord_graph.domain.relevance import Access
from concord_graph.domain.sessions import Recall
from concord_graph.ports import ReadCounts


def supports_of(rows: Iterable[Sequence[Any]]) -> Sequence[Support]:
    """Return supports from rows (time, memory's id, place, edge's id), sorted.

    The place -1 says that facts ended then; without other rows, no fact of the memory is left.
    """
    found = []
    for (time, memory_id), group in groupby(rows, lambda row: (row[0], row[1])):
        edges = tuple(row[3] for row in group if row[2] >= 0)
        found.append(Support(memory_id, edges, time))
    return found


def recalls_of(rows: Iterable[Sequence[Any]]) -> list[Recall]:
    """Return recalls from rows (query id, principal, session's id, time, memory's id), sorted."""
    return [
        Recall(said[0], said[1], said[2], tuple(row[4] for row in of_one), said[3])
        for said, of_one in groupby(rows, key=lambda row: tuple(row[:4]))
    ]


def with_pending(
    last_time: int, count: int, pending: Sequence[ReadCounts], space: str, item_id: str
) -> Access:
    """Return an item's stored reads together with its pending ones."""
    for counts in pending:
        extra = counts.get((space, item_id))
        if extra is not None:
            last_time, count = max(last_time, extra[1]), count + extra[0]
    return Access(last_time, count)


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
