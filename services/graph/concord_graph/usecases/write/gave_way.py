"""What gives way by a write: items that its lineage or its values replace or amend (W9).

Found from what the write wrote, and how the affected items stand after it: a look at how they stood
before would cost a read of the past in each write, which Neo4j plans for seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
from concord_graph.domain.protection import is_constitutive
from concord_graph.ports import GaveWay, GivenWay, Reads, Ref, View
from concord_graph.usecases.read.shown import with_ends
from concord_graph.usecases.read.succession import amending

MOST_LISTED = 1_000
MOST_LOOKED_AT = 10_000


@dataclass(slots=True)
class Moved:
    """What a write wrote that can supersede or amend, and the items that it affects.

    `lineage`: by the older end, the SUPERSEDES, DEPRECATES or AMENDS that began. `values`: edges
    that took a place in a succession; `returned`: ids of such that come back to theirs, as lineage
    that had taken them out ends, or as its newer side, one of `gone`, does. `freed`: ids at which
    lineage that was there has effect now. `declared`: relations now functional.
    """

    items: dict[str, ItemKind] = field(default_factory=dict)
    lineage: dict[str, Edge] = field(default_factory=dict)
    values: list[Edge] = field(default_factory=list)
    returned: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    freed: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)

    def note(self, before: Item | None, item: Item, affected: Mapping[str, ItemKind]) -> None:
        """Note that an item was written, which affects others."""
        begins = not item.deleted and (before is None or before.deleted)
        if affected:
            self.items |= {**affected, item.id: item.kind}
        if isinstance(item, Memory) and begins and (affected or before is not None):
            self.freed.add(item.id)  # restored, or a ghost before
        if isinstance(item, Edge):
            self._note_edge(before, item, begins=begins, affects=bool(affected))
        elif is_constitutive(before) and not is_constitutive(item):
            self.freed.add(item.id)

    def _note_edge(self, before: Item | None, edge: Edge, *, begins: bool, affects: bool) -> None:
        if edge.claimed:
            return
        begins |= isinstance(before, Edge) and before.claimed
        if edge.relation in HIDING and begins:
            self.lineage[edge.target.id] = edge
        elif edge.relation in REPLACING and edge.deleted:
            self.returned.add(edge.target.id)
        elif not edge.is_lineage and affects:
            self.gone.add(edge.id) if edge.deleted else self.values.append(edge)
        was_agreed = is_constitutive(before) or (isinstance(before, Edge) and before.governed)
        if was_agreed and (edge.deleted or not is_constitutive(edge)):
            self.freed |= {edge.id, edge.source.id, edge.target.id}


async def gave_way(
    tx: Reads, moved: Moved, shown: Collection[Ref], now: int, author: str
) -> GaveWay:
    """Return what gave way by a principal's write at `now` (µs), but for what its reply shows."""
    if not (moved.items or moved.lineage or moved.freed):
        return GaveWay()
    at = moved.freed | moved.gone
    for edge in await tx.lineage_edges(at) if at else ():
        if edge.relation in REPLACING and edge.source.id in moved.gone:
            moved.returned.add(edge.target.id)
        elif (
            edge.relation in HIDING
            and not edge.claimed
            and {edge.source.id, edge.target.id} & moved.freed
        ):
            moved.lineage.setdefault(edge.target.id, edge)
    returned = [await tx.edge(edge_id) for edge_id in sorted(moved.returned)]
    moved.values += [edge for edge in returned if edge is not None and not edge.deleted]
    own = {ref.id for ref in shown}
    kinds = {older_id: edge.target.kind for older_id, edge in moved.lineage.items()} | moved.items
    looked_at = dict(islice(sorted(kinds.items()), MOST_LOOKED_AT))
    found: dict[str, GivenWay] = {}
    for kind in (ItemKind.EDGE, ItemKind.MEMORY):  # a memory gives way with the edges it states
        ids = [item_id for item_id, its_kind in looked_at.items() if its_kind == kind]
        if ids:
            views = await tx.views(kind, ids, Instant(now))
            found |= await _superseded(tx, moved, views, found, Instant(now), author=author)
            left = [view for item_id, view in views.items() if item_id not in found]
            found |= await _amended(tx, kind, left, moved, Instant(now))
    listed = [item_id for item_id in sorted(found) if item_id not in own]
    items = tuple(found[item_id] for item_id in listed[:MOST_LISTED])
    return GaveWay(len(listed), items, truncated=len(kinds) > MOST_LOOKED_AT)


async def _superseded(
    tx: Reads,
    moved: Moved,
    looked_at: Mapping[str, View],
    ended: Mapping[str, GivenWay],
    at: Instant,
    *,
    author: str,
) -> dict[str, GivenWay]:
    found: dict[str, GivenWay] = {}
    ends: list[View] = []
    declared: dict[str, str] = {}
    for item_id, view in looked_at.items():
        kind = view.item.kind
        if view.item.deleted or view.supersession.superseded_from == FOREVER:
            continue
        lineage, value = moved.lineage.get(item_id), _next_value(view, moved.values)
        if lineage is not None and lineage.relation in REPLACING:
            relation = Relation(lineage.relation)
            found[item_id] = GivenWay(item_id, kind, relation, lineage.source.id)
        elif value is not None:
            by = await _declarer(tx, value.relation)
            by = "" if by == author else by
            found[item_id] = GivenWay(item_id, kind, Relation.SUPERSEDES, value.id, by)
        elif (own := await _ended(tx, view.item, moved, ended)) is not None:
            ends.append(view)
            declared[item_id] = next((e.declared_by for e in own if e.declared_by), "")
    for view in await with_ends(tx, ends, at) if ends else ():
        item, head = view.item, next(iter(view.supersession.head_ids), "")
        by = declared[item.id]
        found[item.id] = GivenWay(item.id, item.kind, Relation.SUPERSEDES, head, by)
    return found


async def _declarer(tx: Reads, relation: str) -> str:
    """Return who last wrote the declaration of a relation; empty without one."""
    declaration = await tx.relation(relation)
    return declaration.revision.principal if declaration is not None else ""


def _next_value(view: View, values: Collection[Edge]) -> Edge | None:
    """Return the written edge that follows an edge in its succession."""
    edge = view.item
    if not isinstance(edge, Edge):
        return None
    row = (each for each in values if (each.source, each.relation) == (edge.source, edge.relation))
    following = (e for e in row if e.target != edge.target and not e.ends_none)
    since = view.supersession.superseded_from
    return next((each for each in following if each.effective_from == since), None)


async def _ended(
    tx: Reads, item: Item, moved: Moved, ended: Mapping[str, GivenWay]
) -> Sequence[GivenWay] | None:
    """Return the edges of a memory that ended, none for an edge whose relation became functional;
    None: neither is so."""
    if isinstance(item, Edge):
        return () if item.relation in moved.declared else None
    own = [ended[each] for each in await tx.facts_of(item.id) if each in ended] if ended else []
    return own or None


async def _amended(
    tx: Reads, kind: ItemKind, views: list[View], moved: Moved, at: Instant
) -> dict[str, GivenWay]:
    lineage = ((view.item.id, moved.lineage.get(view.item.id)) for view in views)
    by = {i: edge for i, edge in lineage if edge and edge.relation == Relation.AMENDS}
    found = await amending(tx, [view for view in views if view.item.id in by], at) if by else {}
    return {
        item_id: GivenWay(item_id, kind, Relation.AMENDS, edge.source.id)
        for item_id, edge in by.items()
        if edge.source.id in found.get(item_id, ())
    }
