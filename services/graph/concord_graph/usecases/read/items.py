"""Reads of single items and of lists, as their readers see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from concord_graph.domain.drafts import EndRef
from concord_graph.domain.items import (
    FOREVER,
    DeclaredRelation,
    End,
    Instant,
    Item,
    ItemKind,
    Memory,
    Node,
    Record,
)
from concord_graph.ports import EdgeFilter, MemoryFilter, Reads, Ref
from concord_graph.usecases.read.shown import Shown, current_edges, fixed_edges, show, with_heads

Place = tuple[int, int, str]
"""A turn's place in its dialogue: its order, its create time (µs), its id."""


async def get_node(tx: Reads, at: Instant, *, node_id: str = "", name: str = "") -> Node | None:
    """Return a live node by id or name."""
    found = node_id or await tx.find(EndRef(name), at) or ""
    view = (await tx.views(ItemKind.NODE, [found], at)).get(found)
    node = view.item if view else None
    return node if isinstance(node, Node) and not node.deleted else None


async def get_edge(tx: Reads, edge_id: str, at: Instant, now: int) -> Shown | None:
    """Return a live edge by id."""
    found = await shown_items(tx, ItemKind.EDGE, [edge_id], at, now)
    return found[0] if found and not found[0].view.item.deleted else None


async def get_edge_of_triple(
    tx: Reads, triple: tuple[EndRef, str, EndRef], at: Instant, now: int
) -> Shown | None:
    """Return the current edge of a triple, else its latest live one."""
    source, relation, target = triple
    ends = [await tx.find(end, at) for end in (source, target)]
    if None in ends:
        return None
    edges = await tx.live_edges_of_triple(str(ends[0]), relation, str(ends[1]), at.record)
    begun = [edge for edge in edges if edge.effective_from <= at.valid]
    chosen = await current_edges(tx, edges, at) or begun or edges
    # constitutive and pinned edges come first: writes address them, too
    first = await fixed_edges(tx, chosen, at.record) or chosen
    return await get_edge(tx, first[-1].id, at, now) if first else None


async def get_memory(
    tx: Reads, at: Instant, now: int, *, memory_id: str = "", external_id: str = ""
) -> Shown | None:
    """Return a memory by id or external id, even if it is superseded or forgotten."""
    key = memory_id
    if external_id:
        found = await tx.memory_by_external_id(external_id, at.record)
        key = found.id if found else ""
    shown = await shown_items(tx, ItemKind.MEMORY, [key], at, now)
    return shown[0] if shown else None


async def list_edges(
    tx: Reads, filter_: EdgeFilter, at: Instant, now: int, *, after: str, limit: int
) -> list[Shown]:
    """Return a page of live edges by id."""
    ids = await tx.list_edges(replace(filter_, now=now), at, after, limit)
    return await shown_items(tx, ItemKind.EDGE, ids, at, now)


async def list_memories(
    tx: Reads,
    filter_: MemoryFilter,
    at: Instant,
    now: int,
    *,
    before: tuple[int, str] | None,
    limit: int,
) -> list[Shown]:
    """Return a page of live memories, newest first."""
    keys = await tx.list_memories(filter_, at, before, limit)
    return await shown_items(tx, ItemKind.MEMORY, [key for _, key in keys], at, now)


async def list_turns(
    tx: Reads, session_id: str, at: Instant, *, now: int, after: Place | None, limit: int
) -> tuple[list[tuple[Place, Shown]], int]:
    """Return a session's live turns by order, as of `now` (µs), and the instant that was asked
    about."""
    places = await tx.turns(session_id, at, after, limit)
    views = await tx.views(ItemKind.MEMORY, [turn_id for _, _, turn_id in places], at)
    ordered = await with_heads(tx, [views[turn_id] for _, _, turn_id in places], at)
    shown = [show(view, now) for view in ordered]
    return list(zip(places, shown, strict=True)), at.valid


async def history(
    tx: Reads, memory_id: str, at: Instant, *, before_revision: int, limit: int
) -> list[Memory]:
    """Return a page of a memory's revisions, newest first, as known at an instant."""
    newest = (await tx.views(ItemKind.MEMORY, [memory_id], at)).get(memory_id)
    known = newest.item.revision.number if newest else 0
    numbers = range(min(known, before_revision - 1), 0, -1)[:limit]
    found = await tx.revisions([Ref(ItemKind.MEMORY, memory_id, each) for each in numbers])
    return [_open_then(each, at.record) for each in found if isinstance(each, Memory)]


async def shown_items(
    tx: Reads, kind: ItemKind, ids: Sequence[str], at: Instant, now: int
) -> list[Shown]:
    """Return the items of a kind that there are, in the order of their ids' list."""
    views = await tx.views(kind, ids, at)
    ordered = [views[item_id] for item_id in ids if item_id in views]
    return [show(view, now, at.valid) for view in await with_heads(tx, ordered, at)]


def _open_then(memory: Memory, record: int) -> Memory:
    """Return a revision as known at a record time (µs): open if it was closed later."""
    if memory.revision.record_until <= record:
        return memory
    return replace(memory, revision=replace(memory.revision, record_until=FOREVER))


async def item_at(tx: Reads, end: End) -> Item | None:
    """Return the newest revision of the item at an end of an edge, a deleted one too."""
    if end.kind == ItemKind.NODE:
        return await tx.node(end.id)
    return await tx.edge(end.id) if end.kind == ItemKind.EDGE else await tx.memory(end.id)


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
