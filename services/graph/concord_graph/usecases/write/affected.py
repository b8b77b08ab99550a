"""The other items whose supersession a write changes: each of them is announced (T2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from concord_graph.domain.errors import TooManyAffected
from concord_graph.domain.items import (
    REPLACING,
    DeclaredRelation,
    Edge,
    EdgeType,
    Item,
    ItemKind,
    Memory,
    Node,
)
from concord_graph.ports import Reads

MOST_AFFECTED = 100_000

Affected = Mapping[str, ItemKind]


async def by_item(tx: Reads, before: Item | None, after: Item) -> Affected:
    """Return the other items whose supersession changed as `before` became `after`.

    In a succession of values only the neighbours are affected: values further away keep the
    successor that they had.
    """
    affected: dict[str, ItemKind] = {}
    if not isinstance(after, Node) and _weight(before) != _weight(after):
        affected = await _around(tx, before, after)
    edges = [item_id for item_id, kind in affected.items() if kind == ItemKind.EDGE]
    if isinstance(after, Edge) and _interval(before) != _interval(after):
        edges.append(after.id)
    affected |= await _stating(tx, edges)
    affected.pop(after.id, None)
    return affected


def is_drawn(before: Item | None, after: Item) -> bool:
    """Return whether this write drew the item's id: then no other item can name it yet."""
    return before is None and not (isinstance(after, Memory) and after.id_stated)


async def _around(tx: Reads, before: Item | None, after: Item) -> dict[str, ItemKind]:
    affected: dict[str, ItemKind] = {}
    around: set[str] = set()  # lineage at these takes effect, or loses it
    for version in (before, after):
        if isinstance(version, Edge):
            around |= await _pinned_by(tx, version)
            if not version.is_lineage:
                affected |= {edge.id: ItemKind.EDGE for edge in await tx.beside(version)}
    if not isinstance(after, Edge) or not after.is_lineage:
        if not is_drawn(before, after):
            around.add(after.id)
    elif after.relation in REPLACING:
        affected |= await _replaced(tx, after)
    for edge in await tx.lineage_edges(around) if around else ():
        if edge.relation in REPLACING:
            affected |= await _replaced(tx, edge)
    return affected


async def _replaced(tx: Reads, lineage: Edge) -> dict[str, ItemKind]:
    """Return the ends of lineage, and the neighbours of the older one in its succession.

    A value that an earlier one replaced leaves its succession, and returns with that lineage's end.
    """
    affected = {end.id: end.kind for end in (lineage.source, lineage.target)}
    older = await tx.edge(lineage.target.id) if lineage.target.kind == ItemKind.EDGE else None
    if older is not None:
        affected |= {edge.id: ItemKind.EDGE for edge in await tx.beside(older)}
    return affected


async def _stating(tx: Reads, edge_ids: Sequence[str]) -> dict[str, ItemKind]:
    """Return the memories that state these edges: they are superseded with them (M1)."""
    stating = await tx.stating(edge_ids) if edge_ids else ()
    return {memory_id: ItemKind.MEMORY for memory_id, _ in stating}


async def _pinned_by(tx: Reads, edge: Edge) -> set[str]:
    """Return the items that this edge pins while it is live (G4)."""
    if edge.edge_type == EdgeType.CONSTITUTIVE:
        return {edge.source.id, edge.target.id}
    if not edge.governed:
        return set()
    newer = await tx.edge(edge.source.id)
    ends = {newer.source.id, newer.target.id} if newer else set()
    return {edge.source.id} | ends


async def by_declaration(
    tx: Reads, before: DeclaredRelation | None, after: DeclaredRelation
) -> Affected:
    """Return the items whose supersession changed with the declaration of their relation."""
    if (before is not None and before.functional) == after.functional:
        return {}
    rivals = await tx.rivals(after.name, MOST_AFFECTED + 1)
    if len(rivals) > MOST_AFFECTED:
        raise TooManyAffected(MOST_AFFECTED)
    affected = dict.fromkeys(rivals, ItemKind.EDGE) | await _stating(tx, rivals)
    if len(affected) > MOST_AFFECTED:
        raise TooManyAffected(MOST_AFFECTED)
    return affected


def _weight(item: Item | None) -> object:
    """Return the fields of an item on which the supersession of other items depends."""
    if item is None or isinstance(item, Node):
        return None
    triple = (item.source, item.target) if isinstance(item, Edge) else None
    return (item.deleted, item.effective_from, item.edge_type == EdgeType.CONSTITUTIVE, triple)


def _interval(item: Item | None) -> object:
    """Return the fields of an edge on which the supersession of its memories depends."""
    return (_weight(item), item.valid_until) if isinstance(item, Edge) else None
