"""What gives way by a write: items that another one supersedes, deprecates or amends since (W9)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import islice

from concord_graph.domain.items import (
    FOREVER,
    HIDING,
    REPLACING,
    Edge,
    Instant,
    Item,
    ItemKind,
    Memory,
    Relation,
)
from concord_graph.ports import GaveWay, GivenWay, Reads, Ref, View
from concord_graph.usecases.read.shown import with_ends

MOST_LISTED = 1_000
MOST_LOOKED_AT = 10_000


@dataclass(slots=True)
class Moved:
    """The items whose supersession a write may have changed, and the lineage that it wrote.

    `lineage`: by the older end, the last live SUPERSEDES, DEPRECATES or AMENDS. `restored`: ids of
    memories whose lineage has effect again.
    """

    items: dict[str, ItemKind] = field(default_factory=dict)
    lineage: dict[str, Edge] = field(default_factory=dict)
    restored: set[str] = field(default_factory=set)

    def note(self, before: Item | None, item: Item, affected: Mapping[str, ItemKind]) -> None:
        """Note that an item was written, which may have changed the affected ones."""
        if affected:
            self.items |= {**affected, item.id: item.kind}
        if isinstance(item, Memory) and before is not None and before.deleted and not item.deleted:
            self.restored.add(item.id)
        begins = not item.deleted and (before is None or before.deleted)
        if isinstance(item, Edge) and item.relation in HIDING and begins:
            self.lineage[item.target.id] = item

    def __bool__(self) -> bool:
        """Whether anything can have given way."""
        return bool(self.items or self.lineage or self.restored)


async def gave_way(
    tx: Reads, moved: Moved, shown: Collection[Ref], times: tuple[Instant, Instant]
) -> GaveWay:
    """Return what gave way from one instant of record time to another; not what the reply shows."""
    if not moved:
        return GaveWay()
    for edge in await tx.lineage_edges(moved.restored) if moved.restored else ():
        if edge.source.id in moved.restored and edge.relation in HIDING:
            moved.lineage.setdefault(edge.target.id, edge)
    own = {ref.id for ref in shown}
    kinds = {older_id: edge.target.kind for older_id, edge in moved.lineage.items()} | moved.items
    looked_at = dict(islice(sorted(kinds.items()), MOST_LOOKED_AT))
    found: dict[str, GivenWay] = {}
    for kind in (ItemKind.EDGE, ItemKind.MEMORY):
        ids = [i for i, its_kind in looked_at.items() if its_kind == kind and i not in own]
        if ids:
            found |= await _superseded(tx, kind, ids, moved, times)
            found |= await _amended(tx, kind, [i for i in ids if i not in found], moved)
    items = tuple(found[item_id] for item_id in sorted(found)[:MOST_LISTED])
    return GaveWay(len(found), items, truncated=len(kinds) > MOST_LOOKED_AT)


async def _superseded(
    tx: Reads, kind: ItemKind, ids: list[str], moved: Moved, times: tuple[Instant, Instant]
) -> dict[str, GivenWay]:
    before, after = times
    were, are = await tx.views(kind, ids, before), await tx.views(kind, ids, after)
    new = [view for item_id, view in are.items() if _has_given_way(were.get(item_id), view, after)]
    by_lineage = {
        item_id: GivenWay(item_id, kind, Relation(edge.relation), edge.source.id)
        for item_id, edge in moved.lineage.items()
        if edge.relation in REPLACING
    }
    others = [view for view in new if view.item.id not in by_lineage]
    by_time = {
        view.item.id: GivenWay(view.item.id, kind, Relation.SUPERSEDES, _head(view))
        for view in (await with_ends(tx, others, after) if others else ())
    }
    return by_time | {i: by_lineage[i] for view in new if (i := view.item.id) in by_lineage}


def _has_given_way(was: View | None, view: View, at: Instant) -> bool:
    until = was.supersession.superseded_from if was is not None else FOREVER
    return not view.item.deleted and at.valid < until > view.supersession.superseded_from


def _head(view: View) -> str:
    return next(iter(view.supersession.head_ids), "")


async def _amended(tx: Reads, kind: ItemKind, ids: list[str], moved: Moved) -> dict[str, GivenWay]:
    by = {
        i: edge for i in ids if (edge := moved.lineage.get(i)) and edge.relation == Relation.AMENDS
    }
    amending = await tx.amending(kind, by) if by else {}
    live = await tx.kinds(by) if by else {}
    return {
        item_id: GivenWay(item_id, kind, Relation.AMENDS, edge.source.id)
        for item_id, edge in by.items()
        if item_id in live and edge.source.id in amending.get(item_id, ())
    }
