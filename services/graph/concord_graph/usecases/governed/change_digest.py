"""Marks of changes: what tells one from any other that another copy of the store may record under
the same number. A follower that keeps the mark of the last change it applied notices when the store
was put back from an older copy, also when that went on past the place since."""

from __future__ import annotations

from hashlib import sha256

from concord_graph.domain.errors import RolledBack
from concord_graph.ports import Change, ChangeType, GraphStore, OperationFilter, Reads

_ALL = OperationFilter(types=tuple(ChangeType), oldest_first=True)


def mark_of(epoch: str, change: Change) -> str:
    """Return a change's mark: the hex SHA-256 of the store's epoch and of what the change tells.

    Its digest is salted anew for each revision, and its record time is never another's.
    """
    told = (
        *(epoch, change.seq, change.record_time, change.item_id, int(change.type)),
        *(change.revision, change.digest),
    )
    return sha256("\n".join(map(str, told)).encode()).hexdigest()


async def mark_at(store: GraphStore, space: str, seq: int) -> str:
    """Return the mark of a change; empty when the store has none of that number."""
    found = await store.changes(space, seq - 1, 1)
    return mark_of(store.epoch, found[0]) if found and found[0].seq == seq else ""


async def demand_known(tx: Reads, seq: int, mark: str) -> None:
    """Demand that the store holds a change that a follower has from it; seq 0 = none.

    Raises:
        RolledBack: it does not, or another one under that number.
    """
    if not seq:
        return
    found = await tx.operations(_ALL, seq - 1, 1)
    if not found or found[0].seq != seq or (mark and mark_of(tx.epoch, found[0]) != mark):
        raise RolledBack
