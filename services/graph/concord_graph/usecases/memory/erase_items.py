"""Erasing one item of any kind that holds words (M4): what a selection erases one by one."""

from __future__ import annotations

from concord_graph.domain.digests import digest, etag
from concord_graph.domain.erasure import (
    STORE,
    Confirmation,
    Erasure,
    erased_edge,
    erased_entry,
    erased_node,
)
from concord_graph.domain.items import (
    DeclaredRelation,
    Edge,
    Entry,
    ItemKind,
    Memory,
    Node,
    Record,
    is_erased,
)
from concord_graph.ports import Reads
from concord_graph.usecases.memory.erase import Erasing, goes_with
from concord_graph.usecases.memory.facts import stated_content
from concord_graph.usecases.write.writer import Writer

ENTRIES = frozenset({ItemKind.EPISODE, ItemKind.WORKING_MEMORY, ItemKind.CONFLICT, ItemKind.CLAIM})


async def current(tx: Reads, item_id: str, kind: ItemKind | None = None) -> Record | None:
    """Return the newest revision of an item or entry; without a kind, of whatever has this id."""
    if kind is None:
        found: Record | None = await tx.memory(item_id) or await tx.edge(item_id)
        return found or await tx.node(item_id) or await tx.entry(item_id)
    if kind in ENTRIES:
        return await tx.entry(item_id)
    reads = {ItemKind.MEMORY: tx.memory, ItemKind.EDGE: tx.edge, ItemKind.NODE: tx.node}
    return await reads[kind](item_id)


async def is_needed(tx: Reads, record: Record) -> bool:
    """Return whether others' data needs an item: a node that an edge names, an edge that a memory
    states."""
    if isinstance(record, Node):
        return await tx.is_named(record.id)
    return isinstance(record, Edge) and await stated_content(tx, record) is not None


async def erase_record(erasing: Erasing, writer: Writer, record: Record, reason: str) -> bool:
    """Erase an item with a receipt of its own; return False if it stays, as it is needed.

    An edge takes the edges at it along. A restore of an older backup erases by these receipts.

    Raises:
        ConstitutiveProtected: only a governed change erases it.
    """
    if isinstance(record, DeclaredRelation) or is_erased(record):
        return False
    if isinstance(record, Memory):
        await erasing.erase(writer, record.id, etag(record), reason)
        return True
    if await is_needed(writer.tx, record):
        return False
    time, count = max(writer.now, 1), 0
    match record:
        case Node():
            written: Record = await writer.put(record, erased_node(record, time))
        case Entry():
            written = await writer.keep(record, erased_entry(record, time))
        case Edge():
            written = await writer.put(record, erased_edge(record, time, ()))
            edges, ghosts = await goes_with(writer.tx, record)
            for edge in edges:
                await writer.put(edge, erased_edge(edge, time, ghosts))
            count = len(edges)
    await writer.tx.put_erasure(
        Erasure(
            id=writer.tx.new_id(),
            memory_id=record.id,
            time=written.revision.record_from,
            principal=writer.author.principal,
            reason=reason,
            digest=digest(record),
            edge_count=count,
            confirmations=(Confirmation(STORE),),
        )
    )
    return True
