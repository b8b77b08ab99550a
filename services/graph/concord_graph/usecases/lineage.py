"""Writing lineage: stated between two items, or found as links in a memory's content (M3, T1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from concord_graph.domain.drafts import LineageDraft
from concord_graph.domain.exceptions import FieldInvalid, ItemNotFound, LineageCycle
from concord_graph.domain.items import (
    HIDING,
    LINEAGE_WORDS,
    Edge,
    EdgeType,
    End,
    ItemKind,
    Memory,
    Origin,
    Relation,
)
from concord_graph.domain.links import Link, is_memory_id
from concord_graph.ports import Ref
from concord_graph.usecases.writer import Writer, ref


async def add_lineage(writer: Writer, draft: LineageDraft) -> tuple[Ref, ...]:
    """State how a newer item stands to an older one; between edges this is a resolution record."""
    kind = await _common_kind(writer, draft)
    newer, older = End(draft.newer_id, kind), End(draft.older_id, kind)
    if draft.relation == Relation.CONTRADICTS and newer.id > older.id:
        newer, older = older, newer  # undirected: one edge however it is said
    stored = await writer.tx.live_edges_of_triple(newer.id, draft.relation, older.id)
    if stored:
        edge = stored[-1]
        if edge.origin == Origin.EXPLICIT:
            return (ref(edge),)
        return (ref(await writer.put(edge, replace(edge, origin=Origin.EXPLICIT))),)
    await _refuse_cycle(writer, newer.id, draft.relation, older.id)
    edge = Edge(
        id=writer.new_id(),
        source=newer,
        relation=draft.relation,
        target=older,
        properties={"context": draft.context} if draft.context else {},
        edge_type=EdgeType.RESOLUTION if kind == ItemKind.EDGE else EdgeType.DESCRIPTIVE,
    )
    return (ref(await writer.put(None, edge), "created"),)


async def sync_links(writer: Writer, memory: Memory, links: Sequence[Link]) -> None:
    """Make the edges that a memory's content asks for, and end those it no longer does."""
    wanted = {(link.relation, link.target_id) for link in links if _is_edge(memory.id, link)}
    for edge in await writer.tx.content_edges_from(memory.id):
        if (edge.relation, edge.target.id) not in wanted:
            await writer.put(edge, replace(edge, deleted=True))
    for relation, target_id in sorted(wanted):
        if await writer.tx.live_edges_of_triple(memory.id, relation, target_id):
            continue
        await _refuse_cycle(writer, memory.id, relation, target_id)
        await writer.put(
            None,
            Edge(
                id=writer.new_id(),
                source=End(memory.id, ItemKind.MEMORY),
                relation=relation,
                target=End(target_id, ItemKind.MEMORY),
                origin=Origin.CONTENT,
            ),
        )


def _is_edge(memory_id: str, link: Link) -> bool:
    if link.target_id != memory_id:
        return True
    if link.relation in LINEAGE_WORDS:
        raise LineageCycle(memory_id)
    return False


async def _common_kind(writer: Writer, draft: LineageDraft) -> ItemKind:
    if draft.newer_id == draft.older_id:
        raise LineageCycle(draft.newer_id)
    tx = writer.tx
    newer = await tx.memory(draft.newer_id) or await tx.edge(draft.newer_id)
    if newer is None or newer.deleted:
        raise ItemNotFound(draft.newer_id)
    older = await tx.memory(draft.older_id) or await tx.edge(draft.older_id)
    if newer.kind == ItemKind.MEMORY and older is None:
        if await tx.node(draft.older_id) is not None or not is_memory_id(draft.older_id):
            raise FieldInvalid("older_id", "is not the id of a memory")
        return ItemKind.MEMORY  # a ghost, until the memory arrives
    if older is None or (older.deleted and older.kind == ItemKind.EDGE):
        raise ItemNotFound(draft.older_id)
    if older.kind != newer.kind:
        raise FieldInvalid("older_id", "must name an item of the same kind as newer_id")
    if isinstance(newer, Edge) and (
        newer.is_lineage or (isinstance(older, Edge) and older.is_lineage)
    ):
        raise FieldInvalid("newer_id", "lineage stands between facts, not between lineage")
    return newer.kind


async def _refuse_cycle(writer: Writer, newer_id: str, relation: str, older_id: str) -> None:
    """Refuse directed lineage when the older item descends, over any steps, from the newer."""
    if relation not in HIDING:
        return
    seen = {older_id}
    frontier = [older_id]
    while frontier:
        edges = await writer.tx.lineage_edges(frontier)
        reached = {
            edge.target.id for edge in edges if edge.source.id in seen and edge.relation in HIDING
        }
        if newer_id in reached:
            raise LineageCycle(newer_id)
        frontier = sorted(reached - seen)
        seen |= reached
