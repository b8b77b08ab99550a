"""What an id names now, whatever its kind."""

from __future__ import annotations

from concord_graph.domain.items import DeclaredRelation, Item, ItemKind, Record
from concord_graph.ports import Reads, Ref


async def item_by_id(tx: Reads, item_id: str) -> Item | None:
    """Return an item as it is now; None when there never was one."""
    return await tx.memory(item_id) or await tx.edge(item_id) or await tx.node(item_id)


async def record_by_id(tx: Reads, item_id: str) -> Record | None:
    """Return an item, a conflict or a declared relation as it is now; None: there never was one."""
    item = await item_by_id(tx, item_id)
    if item is not None:
        return item
    entry = await tx.entry(item_id)
    if entry is not None:
        return entry if entry.kind == ItemKind.CONFLICT else None
    first = await tx.revision(Ref(ItemKind.RELATION, item_id, 1))
    return await tx.relation(first.name) if isinstance(first, DeclaredRelation) else None
