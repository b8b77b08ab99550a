"""Reads conflicts with both sides as of an instant (D5), and the items that depend on a side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from concord_graph.domain.conflicts import Conflict, Side, conflict_of, pair_of
from concord_graph.domain.digests import etag
from concord_graph.domain.items import FOREVER, Edge, Entry, Instant, ItemKind, Memory, Source
from concord_graph.ports import EntryFilter, Reads, View, Walk
from concord_graph.usecases.read.shown import with_heads

MOST_SOURCES = 20
MOST_DIGITS = 15
"""Digits of the largest number of a conflict."""
MOST_DEPENDENTS = 50


@dataclass(frozen=True, slots=True)
class ShownSide:
    """A side with its item as of the instant; `view` is None if it was not known then.

    `sources`: the item's sources; of an edge, the memories that state it, then their sources.
    """

    side: Side
    view: View | None
    sources: tuple[Source, ...] = ()

    @property
    def is_as_judged(self) -> bool:
        """Whether the item still has the version that was judged."""
        return self.view is not None and etag(self.view.item) == self.side.etag


@dataclass(frozen=True, slots=True)
class ShownConflict:
    """A conflict with both sides; `valid` (µs): the instant that the reader asked about."""

    entry: Entry
    conflict: Conflict
    first: ShownSide
    second: ShownSide
    valid: int


async def get_conflict(
    tx: Reads, at: Instant, *, conflict_id: str = "", pair: tuple[str, str] = ("", "")
) -> ShownConflict | None:
    """Return a live conflict by its id or number, or by its two sides."""
    if conflict_id:
        entry = await named_conflict(tx, conflict_id, at.record)
    else:
        wanted = pair_of(*pair)
        entry = (await tx.conflicts_between([wanted], at.record)).get(wanted)
    if entry is None:
        return None
    return (await shown_conflicts(tx, [entry], at))[0]


async def named_conflict(tx: Reads, name: str, record: int = FOREVER) -> Entry | None:
    """Return a live conflict by its id, or by its number in decimal."""
    if not name.isdecimal() or len(name) > MOST_DIGITS:
        entry = await tx.entry(name, record)
    else:
        filter_ = EntryFilter(ItemKind.CONFLICT, shelf=None)
        at = Instant(0, record)
        found, _ = await tx.entries(filter_, at, before=(int(name), FOREVER), limit=1)
        entry = next((each for each in found if each.rank == int(name)), None)
    if entry is None or entry.deleted or entry.kind != ItemKind.CONFLICT:
        return None
    return entry


async def list_conflicts(
    tx: Reads, filter_: EntryFilter, at: Instant, before: Sequence[int] | None, limit: int
) -> tuple[list[ShownConflict], int]:
    """Return conflicts, newest first, and how many match in all.

    `before`: (rank, time in µs) of the last one of the page before.
    """
    start = (before[0], before[1]) if before else None
    recorded = replace(at, stated=False)  # a conflict has no valid time
    found, total = await tx.entries(filter_, recorded, before=start, limit=limit)
    return await shown_conflicts(tx, found, at), total


async def shown_conflicts(tx: Reads, entries: Sequence[Entry], at: Instant) -> list[ShownConflict]:
    """Return conflicts with their sides, which are read with one query a kind."""
    conflicts = [conflict_of(entry) for entry in entries]
    sides = [side for conflict in conflicts for side in conflict.sides]
    views: dict[str, View] = {}
    for kind in (ItemKind.EDGE, ItemKind.MEMORY):
        found = await tx.views(kind, {side.id for side in sides if side.kind == kind}, at)
        views |= {view.item.id: view for view in await with_heads(tx, list(found.values()), at)}
    stating = await _stating(tx, views.values(), at)
    shown = {side.id: (views.get(side.id), _sources(views.get(side.id), stating)) for side in sides}
    return [
        ShownConflict(
            entry,
            conflict,
            ShownSide(conflict.first, *shown[conflict.first.id]),
            ShownSide(conflict.second, *shown[conflict.second.id]),
            at.valid,
        )
        for entry, conflict in zip(entries, conflicts, strict=True)
    ]


async def dependents(
    tx: Reads, item_id: str, other_id: str, kind: ItemKind, at: Instant
) -> Sequence[str]:
    """Return the ids of items that depend on one side of a conflict, without the other side (D12).

    First the memories that are derived from it, or, for an edge, from the memories that state it;
    then the edges of the same subject.
    """
    view = (await tx.views(kind, [item_id], at)).get(item_id)
    if view is None:
        return ()
    memories = [item_id] if kind == ItemKind.MEMORY else view.sources
    edge_ids = [item_id] if kind == ItemKind.EDGE else await tx.facts_of(item_id)
    found = list(await tx.derived_from(memories, MOST_DEPENDENTS)) if memories else []
    edges = (await tx.views(ItemKind.EDGE, edge_ids, at)).values()
    subjects = {view.item.source.id for view in edges if isinstance(view.item, Edge)}
    if subjects and len(found) < MOST_DEPENDENTS:
        most = MOST_DEPENDENTS + len(edge_ids) + 1
        steps = await tx.steps(subjects, Walk(at, incoming=False), most)
        found += sorted({step.id for step in steps} - set(edge_ids))
    return [each for each in found if each != other_id][:MOST_DEPENDENTS]


async def _stating(tx: Reads, views: Collection[View], at: Instant) -> Mapping[str, View]:
    """Return the memories that state the edges among the views, of each at most MOST_SOURCES."""
    ids = {memory_id for view in views for memory_id in view.sources[:MOST_SOURCES]}
    return await tx.views(ItemKind.MEMORY, ids, at) if ids else {}


def _sources(view: View | None, stating: Mapping[str, View]) -> tuple[Source, ...]:
    if view is None:
        return ()
    items = [view.item, *(stating[each].item for each in view.sources if each in stating)]
    every = [source for item in items if isinstance(item, Memory) for source in item.sources]
    if view.sources:  # stating memories count even if they name no source
        every.insert(0, Source(memory_ids=tuple(view.sources[:MOST_SOURCES])))
    return tuple(dict.fromkeys(every))[:MOST_SOURCES]
