"""Rows of the outbox beside those of revisions."""

from __future__ import annotations

from typing import Any

from concord_graph.domain.items import ItemKind
from concord_graph.ports import NOBODY, Author, Change, ChangeType, Writes


async def log(
    tx: Writes,
    type_: ChangeType,
    author: Author = NOBODY,
    *,
    item_id: str = "",
    item_kind: ItemKind = ItemKind.GHOST,
    revision: int = 0,
    **more: Any,
) -> Change:
    """Append the next change to the record; `more`: further fields of it."""
    seq, time = tx.tick()
    change = Change(seq, time, item_id, item_kind, type_, revision, author=author, **more)
    await tx.append(change)
    return change
