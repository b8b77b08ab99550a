"""The current item of an id, whatever its kind."""

from __future__ import annotations

from concord_graph.domain.items import DeclaredRelation, Item, ItemKind, Record
from concord_graph.ports import Reads, Ref


async def item_by_id(tx: Reads, item_id: str) -> Item | None:
    """Return an item's newest revision, a deleted one too; None if the id is unknown."""
    return await tx.memory(item_id) or await tx.edge(item_id) or await tx.node(item_id)


async def record_by_id(tx: Reads, item_id: str) -> Record | None:
    """Return the newest revision of an item, a conflict or a declared relation; None: unknown."""
    item = await item_by_id(tx, item_id)
    if item is not None:
        return item
    entry = await tx.entry(item_id)
    if entry is not None:
        return entry if entry.kind == ItemKind.CONFLICT else None
    first = await tx.revision(Ref(ItemKind.RELATION, item_id, 1))
    return await tx.relation(first.name) if isinstance(first, DeclaredRelation) else None
