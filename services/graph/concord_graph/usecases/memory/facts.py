"""The edges of memories' facts: created with a memory, deleted with the last one stating them.

Requirement M1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from concord_graph.domain.drafts import EndRef, check_interval, check_relation
from concord_graph.domain.facts import Fact, StatedContent, Support
from concord_graph.domain.items import Edge, EdgeType, End, Memory, Origin, Record
from concord_graph.ports import Reads
from concord_graph.usecases.items.edges import addressed, end_of
from concord_graph.usecases.memory.raised import is_above
from concord_graph.usecases.read.shown import fixed_edges
from concord_graph.usecases.write.writer import Writer

_SOURCES_A_PAGE = 100


async def make_edges(writer: Writer, before: Memory | None, after: Memory) -> list[str]:
    """Create or change the edges of a memory's facts; return their ids, one a fact.

    Call it before the memory is written, once the write is allowed; call `keep_facts` afterwards.
    """
    making = _Making(writer, before, after)
    former = await _former(writer.tx, before)
    return [
        await making.edge_of(place, fact, former.get(fact.triple))
        for place, fact in enumerate(after.facts)
    ]


async def keep_facts(
    writer: Writer, before: Memory | None, after: Memory, edges: list[str]
) -> None:
    """Store which edges a just written memory's facts are; settle the edges it no longer states."""
    lost = list(await writer.tx.facts_of(after.id)) if before is not None else []
    if edges != lost:
        await _put_facts(writer, after.id, edges, after.revision.record_from)
    for edge_id in lost:
        if edge_id not in edges:
            await settle(writer, edge_id)


async def state_again(writer: Writer, written: Memory, then: int) -> Memory:
    """Let a just written memory state the edges that it stated at a record time (µs)."""
    edges = await writer.tx.facts_of(written.id, then)
    if len(edges) == len(written.facts) and edges != await writer.tx.facts_of(written.id):
        await _put_facts(writer, written.id, edges, written.revision.record_from)
    return written


async def restate(writer: Writer, reverted: Sequence[Record]) -> None:
    """Recreate edges that live memories state, and that the reverted items took away."""
    ids = {each.id for each in reverted if isinstance(each, Memory)}
    for edge in reverted:
        if isinstance(edge, Edge) and edge.deleted:
            ids |= {memory_id for memory_id, _ in await writer.tx.stating([edge.id])}
    for memory_id in sorted(ids):
        memory = await writer.tx.memory(memory_id)
        former = list(await writer.tx.facts_of(memory_id))
        if memory is None or memory.deleted or await _are_there(writer.tx, former):
            continue
        edges = await make_edges(writer, memory, memory)
        if edges != former:
            await _put_facts(writer, memory_id, edges, writer.tx.last_time)


async def settle(writer: Writer, edge_id: str) -> None:
    """Update an edge that a memory no longer states to what the other memories state.

    If no memory states it any more, it is deleted.
    """
    edge = await writer.tx.edge(edge_id)
    if edge is None or edge.deleted or not await follows_facts(writer, edge):
        return
    content = await stated_content(writer.tx, edge)
    if content is None:
        await writer.put(edge, replace(edge, deleted=True), follows=True)
    elif (changed := with_content(edge, content)) != edge and await writer.standing.may(edge):
        await writer.put(edge, changed)


async def move_facts(writer: Writer, edge_id: str, other_id: str, time: int) -> None:
    """Let the memories that state one edge state the other one instead, from a time (µs) on."""
    after = ""
    while page := await writer.tx.stating([edge_id], after, _SOURCES_A_PAGE):
        for after, _ in page:
            ids = await writer.tx.facts_of(after)
            edges = [other_id if each == edge_id else each for each in ids]
            await _put_facts(writer, after, edges, time)


async def move_facts_back(writer: Writer, restored: Edge, then: int) -> None:
    """Let the memories that stated an edge at a record time (µs) state it again."""
    for memory_id in await writer.tx.ever_stating(restored.id):
        now = await writer.tx.facts_of(memory_id)
        edges = await writer.tx.facts_of(memory_id, then)
        if restored.id in edges and len(edges) == len(now) and edges != now:
            await _put_facts(writer, memory_id, edges, restored.revision.record_from)


async def _put_facts(writer: Writer, memory_id: str, edges: Sequence[str], time: int) -> None:
    await writer.put_facts(Support(memory_id, tuple(edges), time))


async def _are_there(tx: Reads, edge_ids: Sequence[str]) -> bool:
    edges = [await tx.edge(edge_id) for edge_id in edge_ids]
    return all(edge is not None and not edge.deleted for edge in edges)


async def _former(tx: Reads, before: Memory | None) -> dict[tuple[str, str, str], Edge]:
    """Return the edges of the former revision's facts, by triple."""
    if before is None:
        return {}
    ids = await tx.facts_of(before.id)
    edges = [await tx.edge(edge_id) for edge_id in ids]
    return {
        fact.triple: edge
        for fact, edge in zip(before.facts, edges, strict=True)
        if edge is not None
    }


class _Making:
    """Finds or creates the edges of a memory's facts."""

    def __init__(self, writer: Writer, before: Memory | None, after: Memory) -> None:
        self._writer = writer
        self._memory = after
        self._keeps_time = before is not None and before.valid_from == after.valid_from
        self._states = before is not None and not before.deleted

    async def edge_of(self, place: int, fact: Fact, former: Edge | None) -> str:
        """Return the id of a fact's edge: the former one, the addressed one, or a new one."""
        field = f"memory.facts[{place}]"
        check_relation(fact.relation, f"{field}.relation")
        if former is not None and not former.deleted and self._keeps_time:
            return (await self._gained(former, fact, anew=not self._states)).id
        source = await end_of(self._writer, EndRef(fact.subject), f"{field}.subject", of_facts=True)
        target = await end_of(self._writer, EndRef(fact.object), f"{field}.object", of_facts=True)
        edges = await self._writer.tx.live_edges_of_triple(source.id, fact.relation, target.id)
        stored = await addressed(self._writer, edges, self._memory.valid_from)
        if stored is None and not self._writer.is_granted:  # no descriptive edge beside a fixed one
            stored = next(iter(await fixed_edges(self._writer.tx, edges)), None)
        if stored is not None:
            anew = not self._states or former is None or former.id != stored.id
            return (await self._gained(stored, fact, anew=anew)).id
        blank = self._blank(source, fact.relation, target)
        if former is not None and _returns(former, blank, edges):
            returned = with_content(replace(former, deleted=False), self._content(fact))
            return (await self._writer.put(former, returned, said_by=self._memory.id)).id
        edge = with_content(blank, self._content(fact))
        check_interval(edge, "memory.valid_until")
        return (await self._writer.put(None, edge, said_by=self._memory.id)).id

    async def _gained(self, edge: Edge, fact: Fact, *, anew: bool) -> Edge:
        """Update an edge by the fact of a memory that states it, `anew` if it did not before.

        A constitutive edge is not changed: it only gains a source.
        """
        writer, content = self._writer, self._content(fact)
        if edge.edge_type == EdgeType.CONSTITUTIVE:
            return edge
        if self._memory.edge_type == EdgeType.CONSTITUTIVE:
            origin = Origin.FACT if edge.is_extracted else edge.origin
            changed = replace(edge, edge_type=EdgeType.CONSTITUTIVE, origin=origin)
            return await writer.put(edge, changed)
        if not await writer.standing.may(edge):
            return edge  # it states the same as somebody who stands above the author
        if edge.claimed:
            edge = await writer.state_claimed(edge)
        if not await follows_facts(writer, edge):
            return await self._said_above(edge, content)
        others = (
            _content_of(edge)
            if anew
            else await stated_content(writer.tx, edge, but=self._memory.id)
        )
        changed = with_content(edge, content.joined(others) if others else content)
        return edge if changed == edge else await writer.put(edge, changed)

    async def _said_above(self, edge: Edge, content: StatedContent) -> Edge:
        """Let an edge that only lower writers wrote say what a memory of somebody above them states
        (W9): as long, and as much."""
        frozen = await self._writer.is_frozen(edge.id)
        if frozen or edge.is_lineage or not await is_above(self._writer, edge):
            return edge
        joined = with_content(edge, content.joined(_content_of(edge)))
        return await self._writer.put(edge, replace(joined, origin=edge.origin))

    def _content(self, fact: Fact) -> StatedContent:
        return _of(self._memory, fact)

    def _blank(self, source: End, relation: str, target: End) -> Edge:
        return Edge(
            id=self._writer.tx.new_id(),
            create_time=self._writer.now,
            source=source,
            relation=relation,
            target=target,
            origin=Origin.FACT,
            edge_type=self._memory.edge_type,
            valid_from=self._memory.valid_from,
        )


def _returns(former: Edge, wanted: Edge, there: Sequence[Edge]) -> bool:
    """Return whether the deleted edge of a former fact can be restored as the wanted one."""
    return (
        former.deleted
        and former.is_of_facts
        and former.edge_type == wanted.edge_type == EdgeType.DESCRIPTIVE
        and (former.source, former.relation, former.target)
        == (wanted.source, wanted.relation, wanted.target)
        and former.valid_from == wanted.valid_from
        and all(edge.effective_from != former.effective_from for edge in there)
    )


async def follows_facts(writer: Writer, edge: Edge) -> bool:
    """Return whether facts alone decide about an edge: no caller wrote it, no consent pins it."""
    return (
        edge.is_of_facts
        and edge.edge_type == EdgeType.DESCRIPTIVE
        and not await writer.is_frozen(edge.id)
    )


async def stated_content(tx: Reads, edge: Edge, but: str = "") -> StatedContent | None:
    """Return what the live memories, except `but`, state of an edge; None if none states it.

    It stops reading once they state all that the edge says: the rest cannot add to that.
    """
    content: StatedContent | None = None
    after = ""
    while page := await tx.stating([edge.id], after, _SOURCES_A_PAGE):
        for memory_id, place in page:
            memory = await tx.memory(memory_id) if memory_id != but else None
            if memory is None or place >= len(memory.facts):
                continue
            one = _of(memory, memory.facts[place])
            content = content.joined(one) if content else one
            if not but and with_content(edge, content) == edge:
                return content
        after = page[-1][0]
    return content


def _content_of(edge: Edge) -> StatedContent:
    return StatedContent(edge.weight, edge.properties, edge.valid_until, edge.is_extracted)


def _of(memory: Memory, fact: Fact) -> StatedContent:
    return StatedContent(fact.weight, fact.properties, memory.valid_until, fact.extracted)


def with_content(edge: Edge, content: StatedContent) -> Edge:
    """Return a fact's edge with this content."""
    return replace(
        edge,
        weight=content.weight,
        properties=dict(content.properties),
        valid_until=content.until,
        origin=Origin.EXTRACTED if content.extracted else Origin.FACT,
    )
