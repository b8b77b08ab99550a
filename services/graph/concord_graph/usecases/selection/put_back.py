"""Bringing one item back to what it said before (W9)."""

from __future__ import annotations

from dataclasses import replace

from concord_graph.domain.claims import ClaimState, claim_of
from concord_graph.domain.digests import stated
from concord_graph.domain.items import Edge, Entry, ItemKind, Memory, Record
from concord_graph.ports import Reads, Ref
from concord_graph.usecases.governed.revert import gone, put_as_before
from concord_graph.usecases.governed.undo_conflicts import Planned, in_the_way
from concord_graph.usecases.items.lineage import refuse_descent
from concord_graph.usecases.memory.facts import settle
from concord_graph.usecases.memory.memories import Memories
from concord_graph.usecases.read.items import item_at, record_by_id
from concord_graph.usecases.write.writer import Writer

_ENTRIES = frozenset({ItemKind.EPISODE, ItemKind.WORKING_MEMORY, ItemKind.CONFLICT, ItemKind.CLAIM})


async def newest(tx: Reads, kind: ItemKind, item_id: str) -> Record | None:
    """Return the newest revision of whatever the record of operations names."""
    return await tx.entry(item_id) if kind in _ENTRIES else await record_by_id(tx, item_id)


def as_before(stored: Record, before: Record | None) -> Record:
    """Return an item as it was; without an earlier revision it was not there.

    A claim that was not there is withdrawn.
    """
    if before is not None:
        return before
    if isinstance(stored, Entry) and stored.kind == ItemKind.CLAIM:
        return replace(stored, shelf=ClaimState.WITHDRAWN.name)
    return gone(stored)


def is_as_before(stored: Record, after: Record) -> bool:
    """Return whether nothing is left to bring back: the item says the same, or is not there, too.

    A settled claim stays settled.
    """
    if isinstance(stored, Entry) and stored.kind == ItemKind.CLAIM:
        return claim_of(stored).state != ClaimState.OPEN
    both_gone = not_there(stored) and not_there(after)
    return both_gone or stated(stored) == stated(after)


def not_there(record: Record) -> bool:
    """Return whether an item is deleted or forgotten."""
    return bool(getattr(record, "deleted", False))


async def is_possible(tx: Reads, stored: Record, after: Record) -> bool:
    """Return whether nothing that others have stands in the way now."""
    planned = Planned(stored, after, stored.revision)
    if await in_the_way(tx, planned, {stored.id: planned}):
        return False
    if isinstance(after, Edge) and not after.deleted:
        ends = [await item_at(tx, end) for end in (after.source, after.target)]
        return after.is_lineage or all(end is not None and not end.deleted for end in ends)
    return True


async def put_back(writer: Writer, memories: Memories, stored: Record, after: Record) -> None:
    """Write an item as it was before.

    Raises:
        GraphError: it is protected, it stands above the author, or something is in the way.
    """
    match stored, after:
        case (Memory(), Memory()) if after.deleted:
            async with writer.together():
                await writer.put(stored, after)
                for edge_id in await writer.tx.facts_of(stored.id):
                    await settle(writer, edge_id)
        case (Memory(), Memory()):
            async with writer.together():
                await _revive_facts(writer, after)
                await memories.put(writer, stored, after)
        case (Entry(kind=ItemKind.CLAIM), _):
            await writer.settle_claim(stored, ClaimState.WITHDRAWN)
        case (Entry(kind=ItemKind.EPISODE | ItemKind.WORKING_MEMORY), Entry()):
            await writer.keep(stored, after)
        case (Edge(), Edge()) if not after.deleted and after.is_lineage:
            await refuse_descent(writer, after.source.id, after.target.id)
            await put_as_before(writer, stored, after)
        case (Edge(), Edge()) if not after.deleted:
            await put_as_before(writer, stored, after)
            await refuse_descent(writer, after.id, after.id)
        case _:
            await put_as_before(writer, stored, after)


async def _revive_facts(writer: Writer, memory: Memory) -> None:
    """Bring back the deleted edges that a memory stated, so that it states the same ones again."""
    tx = writer.tx
    for edge_id in await tx.facts_of(memory.id, memory.revision.record_from):
        edge = await tx.edge(edge_id)
        if edge is None or not edge.deleted or edge.erase_time or not edge.is_of_facts:
            continue
        if await is_possible(tx, edge, replace(edge, deleted=False)):
            await writer.put(edge, replace(edge, deleted=False), said_by=memory.id)


async def before(tx: Reads, kind: ItemKind, item_id: str, revision: int) -> Record | None:
    """Return an earlier revision of an item; None for revision 0."""
    return await tx.revision(Ref(kind, item_id, revision)) if revision else None
