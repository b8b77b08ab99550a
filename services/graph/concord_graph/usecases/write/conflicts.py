"""How writes of other items change conflicts (D5).

Such writes are: CONTRADICTS is written or deleted, a resolution's lineage is deleted, a side is
erased.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from concord_graph.domain.conflicts import (
    OPEN,
    Conflict,
    ConflictClass,
    ConflictState,
    Judge,
    Side,
    asserted,
    conflict_of,
    pair_of,
    unasserted,
)
from concord_graph.domain.digests import etag
from concord_graph.domain.items import FOREVER, Edge, Entry, Instant, Item, ItemKind, Relation
from concord_graph.ports import EntryFilter, Reads, Ref

CONFLICT_ID = "conflict_id"
"""The property of a resolution's lineage that names its conflict."""

Following = tuple[Entry | None, Conflict]
"""A conflict's stored entry (None: a new conflict) and its next state."""


async def following(tx: Reads, before: Item | None, edge: Edge, author: str) -> Following | None:
    """Return how the write of a lineage edge changes the conflict of its ends; None: not at all.

    A review writes the conflict before its edge, so the conflict agrees with the edge already.
    """
    was_there = isinstance(before, Edge) and not before.deleted
    is_unclaimed = isinstance(before, Edge) and before.claimed > edge.claimed
    if was_there != edge.deleted and not is_unclaimed:  # neither created, deleted nor agreed to
        return None
    contradicts = edge.relation == Relation.CONTRADICTS
    if not contradicts and not (edge.deleted and edge.properties.get(CONFLICT_ID)):
        return None
    pair = pair_of(edge.source.id, edge.target.id)
    stored = (await tx.conflicts_between([pair])).get(pair)
    if contradicts and not edge.deleted:
        if stored is not None and is_unclaimed and was_there:
            return _agreed_to(stored, edge, author)
        return await _written(tx, stored, edge, author)
    if stored is None or stored.erase_time:
        return None
    return await _deleted(tx, stored, edge, author)


async def _written(tx: Reads, stored: Entry | None, edge: Edge, author: str) -> Following | None:
    known = conflict_of(stored) if stored else None
    if known is not None and known.contradicts_id == edge.id:
        return None
    first, second = sorted((edge.source, edge.target), key=lambda end: end.id)
    opened = Conflict(
        first=Side(first.id, first.kind, await _etag(tx, first.id)),
        second=Side(second.id, second.kind, await _etag(tx, second.id)),
        conflict_class=ConflictClass.CONTRADICTION,
        judge=Judge.CALLER,
        author=author,
    )
    if edge.claimed:  # by somebody below one of the sides: it moves nothing until it is confirmed
        if known is None:
            return None, replace(opened, contradicts_id=edge.id)
        return (stored, known) if known.consented else None  # what both decided is asked for first
    return stored, asserted(known, edge.id, opened, stored.revision.number if stored else 0)


def _agreed_to(stored: Entry, edge: Edge, author: str) -> Following | None:
    """Return the conflict that a lower caller's contradiction opened, now that it counts."""
    known = conflict_of(stored)
    if known.state != ConflictState.POTENTIAL or known.contradicts_id != edge.id:
        return None
    return stored, asserted(known, edge.id, replace(known, author=author), stored.revision.number)


async def _deleted(tx: Reads, stored: Entry, edge: Edge, author: str) -> Following | None:
    known = conflict_of(stored)
    if known.contradicts_id == edge.id:
        return stored, unasserted(known, author, stored.revision.number)
    is_resolved = known.state == ConflictState.RESOLVED and known.resolution is not None
    if is_resolved and known.resolution and known.resolution.record_id == edge.id:
        return stored, await as_before(tx, stored)
    return None


async def as_before(tx: Reads, stored: Entry) -> Conflict:
    """Return a conflict as it was before its last review or resolution."""
    known = conflict_of(stored)
    then = await tx.revision(Ref(ItemKind.CONFLICT, stored.id, known.reopens_at))
    if not isinstance(then, Entry):
        raise TypeError(stored.id)
    return conflict_of(then)


async def ended_by(tx: Reads, item: Item, by: str) -> Sequence[tuple[Entry, Conflict]]:
    """Return the open conflicts that end as a side is forgotten, deleted or erased: dismissed.

    Should the side come back, it is another version, and can be found to disagree anew.
    """
    if not (await tx.open_conflicts([item.id])).get(item.id):
        return ()
    states = tuple(state.name for state in OPEN)
    filter_ = EntryFilter(ItemKind.CONFLICT, shelf=None, shelves=states, sides=(item.id,))
    found, _ = await tx.entries(filter_, Instant(0, FOREVER))
    stored = [(entry, conflict_of(entry)) for entry in found]
    return [
        (
            entry,
            replace(
                known,
                state=ConflictState.DISMISSED,
                reviewed_by=by,
                reopens_at=entry.revision.number,
            ),
        )
        for entry, known in stored
        if not known.consented
    ]


async def with_words(tx: Reads, item: Item) -> Sequence[Entry]:
    """Return the conflicts and claims of an erased item whose words are not erased yet (M4)."""
    found: list[Entry] = []
    for kind in (ItemKind.CONFLICT, ItemKind.CLAIM):
        filter_ = EntryFilter(kind, shelf=None, sides=(item.id,))
        found += (await tx.entries(filter_, Instant(0, FOREVER)))[0]
    return [entry for entry in found if not entry.erase_time]


async def _etag(tx: Reads, item_id: str) -> str:
    item = await tx.memory(item_id) or await tx.edge(item_id)
    return etag(item) if item is not None else ""
