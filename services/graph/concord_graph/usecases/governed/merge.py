"""Merges two items that say the same (V1): the older one stays."""

from __future__ import annotations

from dataclasses import replace

from concord_graph.domain.drafts import LineageDraft
from concord_graph.domain.errors import EtagMismatch, FieldInvalid, ItemState
from concord_graph.domain.items import (
    DEFAULT_LABEL,
    Edge,
    End,
    Memory,
    MemoryKind,
    Node,
    Origin,
    Relation,
    Revision,
    Source,
)
from concord_graph.domain.origins import merged as merged_words
from concord_graph.domain.origins import with_words_of
from concord_graph.ports import Expected, Written
from concord_graph.usecases.items.edges import put_edge
from concord_graph.usecases.items.lineage import (
    add_lineage,
    refuse_descent,
    waited_for_another,
)
from concord_graph.usecases.memory.facts import move_facts, settle
from concord_graph.usecases.memory.memories import Memories
from concord_graph.usecases.memory.repeats import MERGED
from concord_graph.usecases.write.guard import etag_matches
from concord_graph.usecases.write.writer import Writer, live, written

_MOST = {"sources": 20, "tags": 50, "facts": 10}
"""The contract's bounds of a memory's fields."""


async def merge_items(
    writer: Writer, memories: Memories, *, kept: tuple[str, str], merged: tuple[str, str]
) -> Written:
    """Make two memories of one kind, or two nodes, one; both are named by id and etag.

    Raises:
        EtagMismatch: one of them is another version.
        FieldInvalid: they are not of one kind, or the younger one would be kept.
        ItemNotFound: there is no such live memory or node.
        ItemState: they are turns, or exceed a memory's bounds together.
        LineageCycle: one replaces the other, directly or over other items.
    """
    stays, goes = await _live(writer, kept[0]), await _live(writer, merged[0])
    for item, etag in ((stays, kept[1]), (goes, merged[1])):
        if not etag_matches(item, etag):
            raise EtagMismatch(item.id)
    _demand_mergeable(stays, goes)
    writer.depend_on(stays, goes)
    async with writer.together():
        if isinstance(stays, Memory) and isinstance(goes, Memory):
            return await _merge_memories(writer, stays, goes, memories)
        if isinstance(stays, Node) and isinstance(goes, Node):
            return await _merge_nodes(writer, stays, goes)
    raise FieldInvalid("merged_id", "must name an item of the same kind as kept_id")


async def _merge_memories(
    writer: Writer, kept: Memory, merged: Memory, memories: Memories
) -> Written:
    # If no lineage leads from one to the other, merging them closes no circle.
    await refuse_descent(writer, merged.id, kept.id)
    record = LineageDraft(
        Relation.SUPERSEDES, kept.id, merged.id, "merged", properties={MERGED: True}
    )
    await add_lineage(writer, record)
    await _move_edges(writer, kept, merged)
    united = _united(kept, merged)
    united = with_words_of(united, merged_words(kept, merged, united))
    return written(kept, await memories.replace(writer, kept, united))


async def _merge_nodes(writer: Writer, kept: Node, merged: Node) -> Written:
    await _move_edges(writer, kept, merged)
    await writer.put(merged, replace(merged, deleted=True))
    united = replace(
        kept,
        label=merged.label if kept.label == DEFAULT_LABEL else kept.label,
        properties={**merged.properties, **kept.properties},
        vector_id=kept.vector_id or merged.vector_id,
        of_facts=kept.of_facts and merged.of_facts,
    )
    return written(kept, kept if united == kept else await writer.put(kept, united))


def _united(kept: Memory, merged: Memory) -> Memory:
    """Return the kept memory with the sources, tags and facts of both, its own first.

    If only the merged one names sources, a blank source is put first: equal words are looked up by
    source, and the words without a source must be found, too.
    """
    sources = dict.fromkeys(kept.sources or (merged.sources and (Source(),)))
    sources |= dict.fromkeys(merged.sources)
    facts = {fact.triple: fact for fact in (*merged.facts, *kept.facts)}
    own = [fact.triple for fact in kept.facts]
    united = replace(
        kept,
        sources=tuple(sources),
        tags=tuple(dict.fromkeys((*kept.tags, *merged.tags))),
        facts=tuple(facts[each] for each in dict.fromkeys((*own, *facts))),
        edge_type=max(kept.edge_type, merged.edge_type),
    )
    for name, most in _MOST.items():
        if len(getattr(united, name)) > most:
            raise ItemState(f"together they have more than {most} {name}", kept.id)
    return united


async def _move_edges(writer: Writer, kept: Memory | Node, merged: Memory | Node) -> None:
    at = await writer.tx.edges_at(merged.id, live=True)
    await writer.tx.expect(lambda: Expected(ids=tuple(edge.id for edge in at)))
    for found in at:
        writer.tx.step()
        edge = await writer.tx.edge(found.id)
        if edge is None:
            continue
        source, target = (
            End(kept.id, kept.kind) if end.id == merged.id else end
            for end in (edge.source, edge.target)
        )
        if await waited_for_another(writer.tx, edge):  # at the kept item it would take effect
            await writer.put(edge, replace(edge, deleted=True))
        elif source != target:
            await _move(writer, edge, source, target)
        elif isinstance(merged, Node):
            await writer.put(edge, replace(edge, deleted=True))


async def _move(writer: Writer, edge: Edge, source: End, target: End) -> None:
    """Move an edge to other ends; if an edge there says the same, it takes over the facts."""
    if edge.relation == Relation.CONTRADICTS:
        source, target = sorted((source, target), key=lambda end: end.id)
    origin = Origin.EXPLICIT if edge.origin == Origin.CONTENT else edge.origin
    moved = replace(edge, source=source, target=target, origin=origin)
    there = await writer.tx.live_edges_of_triple(source.id, edge.relation, target.id)
    twins = [each for each in there if edge.is_lineage or each.place == moved.place]
    if twins:
        await _take_in(writer, edge, twins[-1])
    elif edge.relation == Relation.CONTRADICTS:  # one pair's conflict ends, another begins
        await writer.put(edge, replace(edge, deleted=True))
        await writer.put(None, replace(moved, id=writer.tx.new_id(), revision=Revision()))
    else:
        await put_edge(writer, edge, moved)


async def _take_in(writer: Writer, edge: Edge, twin: Edge) -> None:
    gone = await writer.put(edge, replace(edge, deleted=True))
    await move_facts(writer, edge.id, twin.id, gone.revision.record_from)
    origin = min(twin.origin, edge.origin)
    if twin.is_of_facts and origin == Origin.EXPLICIT:
        await writer.put(twin, replace(twin, origin=origin))
    await settle(writer, twin.id)


async def _live(writer: Writer, item_id: str) -> Memory | Node:
    if (memory := await writer.tx.memory(item_id)) is not None:
        return live(memory, item_id)
    return live(await writer.tx.node(item_id), item_id)


def _demand_mergeable(kept: Memory | Node, merged: Memory | Node) -> None:
    if kept.id == merged.id or kept.kind != merged.kind:
        raise FieldInvalid("merged_id", "must name another item of the same kind as kept_id")
    if kept.create_time > merged.create_time:
        raise FieldInvalid("kept_id", "must name the older of the two")
    if isinstance(kept, Memory) and isinstance(merged, Memory):
        if kept.memory_kind != merged.memory_kind:
            raise FieldInvalid("merged_id", "must name a memory of the same kind as kept_id")
        if kept.memory_kind == MemoryKind.TURN:
            raise ItemState("turns of a dialogue stay as they were said", kept.id)
