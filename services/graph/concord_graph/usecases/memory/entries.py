"""Listing entries: episodes and working memory (M2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from concord_graph.domain.items import Entry, Instant
from concord_graph.ports import EntryFilter, Reads


@dataclass(frozen=True, slots=True)
class EntryPage:
    """A page of entries, how many match in all, and whether more pages follow."""

    entries: tuple[Entry, ...]
    total: int
    has_more: bool


async def list_entries(
    tx: Reads,
    filter_: EntryFilter,
    at: Instant,
    *,
    before: Sequence[int] | None,
    skip: int = 0,
    limit: int,
) -> EntryPage:
    """Return a page of entries; `before`: (rank, time in µs) of the previous page's last entry."""
    start = (before[0], before[1]) if before else None
    found, total = await tx.entries(filter_, at, before=start, skip=skip, limit=limit + 1)
    return EntryPage(tuple(found[:limit]), total, len(found) > limit)
