"""Digests of changes: they differ if two copies of a store recorded other changes at one number.

A follower that keeps the digest of the last change it applied notices that the store was restored
from an older copy, even after that copy has recorded as many changes again.
"""

from __future__ import annotations

from hashlib import sha256

from concord_graph.domain.errors import RolledBack
from concord_graph.ports import Change, ChangeType, GraphStore, OperationFilter, Reads

ALL = OperationFilter(types=tuple(ChangeType), oldest_first=True)
"""All changes, in sequence."""


def digest_of(epoch: str, change: Change) -> str:
    """Return a change's digest: the hex SHA-256 of the store's epoch and the change's fields.

    No two changes share one: the digest of a revision is salted anew, and record times are unique.
    """
    fields = (
        *(epoch, change.seq, change.record_time, change.item_id, int(change.type)),
        *(change.revision, change.digest),
    )
    return sha256("\n".join(map(str, fields)).encode()).hexdigest()


async def digest_at(store: GraphStore, space: str, seq: int) -> str:
    """Return the digest of the change with this number; empty if the store has no such change."""
    found = await store.changes(space, seq - 1, 1)
    return digest_of(store.epoch, found[0]) if found and found[0].seq == seq else ""


async def demand_expected_state(tx: Reads, seq: int, change_digest: str) -> None:
    """Demand that the store still holds the last change that a follower read; seq 0 = none yet.

    Raises:
        RolledBack: the store holds no change of that number, or another one.
    """
    if not seq:
        return
    found = await tx.operations(ALL, seq - 1, 1)
    if not found or found[0].seq != seq:
        raise RolledBack
    if change_digest and digest_of(tx.epoch, found[0]) != change_digest:
        raise RolledBack
