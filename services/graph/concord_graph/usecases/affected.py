"""Whose standing a write changes besides the written item's own: each of them is announced (T2)."""

from __future__ import annotations

from collections.abc import Mapping

from concord_graph.domain.exceptions import TooManyAffected
from concord_graph.domain.items import (
    REPLACING,
    DeclaredRelation,
    Edge,
    EdgeType,
    Item,
    ItemKind,
    Node,
)
from concord_graph.ports import Reads

MOST_AFFECTED = 100_000

Affected = Mapping[str, ItemKind]


async def by_item(tx: Reads, before: Item | None, after: Item) -> Affected:
    """Return the other items whose standing changed as `before` became `after`.

    Of what follows one another in time these are the neighbours only: what stands further off is
    replaced by the same one as before.
    """
    if isinstance(after, Node) or _weight(before) == _weight(after):
        return {}
    affected: dict[str, ItemKind] = {}
    around: set[str] = set()  # lineage at these counts from now on, or no longer
    for version in (before, after):
        if isinstance(version, Edge):
            around |= await _held_by(tx, version)
            if not version.is_lineage:
                affected |= {edge.id: ItemKind.EDGE for edge in await tx.beside(version)}
    if not isinstance(after, Edge) or not after.is_lineage:
        around.add(after.id)
    elif after.relation in REPLACING:
        affected |= {end.id: end.kind for end in (after.source, after.target)}
    for edge in await tx.lineage_edges(around) if around else ():
        if edge.relation in REPLACING:
            affected |= {end.id: end.kind for end in (edge.source, edge.target)}
    affected.pop(after.id, None)
    return affected


async def _held_by(tx: Reads, edge: Edge) -> set[str]:
    """Return the items that are held while this edge is there (G4)."""
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
    """Return the items whose standing changed with what is declared about their relation."""
    if (before is not None and before.functional) == after.functional:
        return {}
    rivals = await tx.rivals(after.name, MOST_AFFECTED + 1)
    if len(rivals) > MOST_AFFECTED:
        raise TooManyAffected(MOST_AFFECTED)
    return dict.fromkeys(rivals, ItemKind.EDGE)


def _weight(item: Item | None) -> object:
    """Return what of an item the standing of others depends on."""
    if item is None or isinstance(item, Node):
        return None
    triple = (item.source, item.target) if isinstance(item, Edge) else None
    return (item.deleted, item.effective_from, item.edge_type == EdgeType.CONSTITUTIVE, triple)
