"""Writing lineage: stated between two items, or found as links in a memory's content (M3, T1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from concord_graph.domain.conflicts import Conflict
from concord_graph.domain.drafts import LineageDraft
from concord_graph.domain.errors import (
    EtagMismatch,
    FieldInvalid,
    ItemNotFound,
    ItemState,
    LineageCycle,
)
from concord_graph.domain.items import (
    HIDING,
    LINEAGE_WORDS,
    REPLACING,
    Edge,
    EdgeType,
    End,
    ItemKind,
    Memory,
    Origin,
    Relation,
)
from concord_graph.domain.links import Link, is_memory_id, meant_links, voice_of
from concord_graph.domain.protection import is_constitutive
from concord_graph.domain.succession import Value, confirmed
from concord_graph.ports import LinkParser, Reads, Ref, Written
from concord_graph.usecases.read.succession import place_of
from concord_graph.usecases.write.guard import etag_matches
from concord_graph.usecases.write.writer import Writer, written

MOST_FORMER = 100_000


async def add_lineage(writer: Writer, draft: LineageDraft) -> Written:
    """Write lineage from a newer item to an older one; between edges it is a resolution record."""
    kind = await _common_kind(writer, draft)
    writer.depend_on_ends(draft.newer_id, draft.older_id)
    newer, older = End(draft.newer_id, kind), End(draft.older_id, kind)
    if draft.relation == Relation.CONTRADICTS and newer.id > older.id:
        newer, older = older, newer  # undirected: one edge in either order
    stored = await _stored(writer, newer, draft.relation, older)
    if stored is not None and stored.claimed:
        await refuse_descent(writer, newer.id, older.id)
        stated = await writer.state_claimed(stored)
        return written(stored, stated)
    if stored is not None and not await _is_void(writer, stored):
        if stored.origin == Origin.EXPLICIT or stored.erase_time:
            return written(stored, stored)
        stated = await writer.put(stored, replace(stored, origin=Origin.EXPLICIT))
        return written(stored, stated)
    if draft.relation in HIDING:
        taken_out = await _takes_out_of_row(writer.tx, draft)
        await refuse_descent(writer, newer.id, older.id, in_no_row=older.id if taken_out else "")
    if (
        stored is not None
    ):  # void since its end became constitutive or pinned: made anew, with consent
        await writer.put(stored, replace(stored, deleted=True))
    edge = _lineage(writer, newer, draft.relation, older, draft.context)
    edge = replace(edge, properties={**edge.properties, **draft.properties})
    return written(None, await writer.put(None, edge))


async def contradiction(writer: Writer, conflict: Conflict) -> tuple[Edge | None, Edge]:
    """Return the CONTRADICTS edge between a conflict's sides as stored, and as it should be.

    If no such edge is live, the conflict's former edge is restored.
    """
    first, second = (End(side.id, side.kind) for side in conflict.sides)
    stored = await _stored(writer, first, Relation.CONTRADICTS, second)
    if stored is not None:
        return stored, stored
    former = await writer.tx.edge(conflict.contradicts_id) if conflict.contradicts_id else None
    if former is not None and not former.erase_time:
        return former, replace(former, deleted=False)
    return None, _lineage(writer, first, Relation.CONTRADICTS, second, conflict.context)


def _lineage(writer: Writer, newer: End, relation: Relation, older: End, context: str) -> Edge:
    return Edge(
        id=writer.tx.new_id(),
        source=newer,
        relation=relation,
        target=older,
        properties={"context": context} if context else {},
        edge_type=EdgeType.RESOLUTION if older.kind == ItemKind.EDGE else EdgeType.DESCRIPTIVE,
    )


async def _stored(writer: Writer, newer: End, relation: Relation, older: End) -> Edge | None:
    edges = list(await writer.tx.live_edges_of_triple(newer.id, relation, older.id))
    if relation == Relation.CONTRADICTS:  # a content's link may lead the other way
        edges += await writer.tx.live_edges_of_triple(older.id, relation, newer.id)
    return edges[-1] if edges else None


async def _is_void(writer: Writer, edge: Edge) -> bool:
    """Return whether this lineage has no effect: its older end is protected (G4), or another
    principal made it under an id that was only named before (M3)."""
    if edge.governed or edge.relation not in HIDING:
        return False
    older = await writer.tx.memory(edge.target.id) or await writer.tx.edge(edge.target.id)
    if is_constitutive(older) or await writer.tx.is_pinned(edge.target.id):
        return True
    return await waited_for_another(writer.tx, edge)


async def waited_for_another(tx: Reads, edge: Edge) -> bool:
    """Return whether lineage was written at a ghost under which another principal than its writer
    then made a memory: it is void (M3)."""
    if edge.governed or edge.relation not in HIDING or edge.target.kind != ItemKind.MEMORY:
        return False
    older = await tx.memory(edge.target.id)
    if older is None or older.create_time <= edge.create_time:
        return False
    writer, maker = [
        first.revision.principal
        for each in (edge, older)
        if isinstance(first := await tx.revision(Ref(each.kind, each.id, 1)), (Edge, Memory))
    ]
    return writer != maker


async def sync_links(
    writer: Writer, memory: Memory, anew: Sequence[Link], kept: Collection[Link] = ()
) -> None:
    """Create the edges of the links that a memory's content makes anew; delete those of links that
    it neither makes anew nor keeps.

    A link without a relation word to an item that is no memory is plain text; with a relation word
    it is refused.
    """
    if not anew and memory.revision.number == 1:
        return
    kinds = await writer.tx.kinds([link.target_id for link in anew])
    others = {target_id for target_id, kind in kinds.items() if kind != ItemKind.MEMORY}
    wanted = {
        (link.relation, link.target_id)
        for link in anew
        if _is_edge(memory.id, link)
        and (link.target_id not in others or link.relation in LINEAGE_WORDS)
    }
    left = wanted | {(link.relation, link.target_id) for link in kept}
    for edge in await writer.tx.content_edges_from(memory.id):
        # An edge that was erased with its other end stays erased (M4).
        if (edge.relation, edge.target.id) not in left and not edge.erase_time:
            await writer.put(edge, replace(edge, deleted=True))
    for relation, target_id in sorted(wanted):
        stored = await writer.tx.live_edges_of_triple(memory.id, relation, target_id)
        if stored and stored[-1].claimed:
            await writer.state_claimed(stored[-1])
            continue
        if stored and not await waited_for_another(writer.tx, stored[-1]):
            continue
        if relation in HIDING:
            await refuse_descent(writer, memory.id, target_id)
        if stored:  # written anew, now that the writer knows what it names
            await writer.put(stored[-1], replace(stored[-1], deleted=True))
        # the write comes before the check: an attempt to replace a constitutive item is recorded
        await writer.put(
            None,
            Edge(
                id=writer.tx.new_id(),
                source=End(memory.id, ItemKind.MEMORY),
                relation=relation,
                target=End(target_id, ItemKind.MEMORY),
                origin=Origin.CONTENT,
            ),
        )
        if target_id in others:
            raise FieldInvalid("memory.content", f"{target_id} is not the id of a memory")


async def refuse_linked(writer: Writer, edge: Edge, parse: LinkParser) -> None:
    """Refuse to remove an edge while a link in its memory's content makes it (M3).

    Text and graph must say the same, so the content is changed instead. Lineage that both
    principals wrote beside the text may be removed: the link's own has no effect there (G4).
    """
    beside = edge.governed and edge.origin == Origin.EXPLICIT
    if beside or edge.target.kind != ItemKind.MEMORY:
        return
    memory = await writer.tx.memory(edge.source.id)
    if memory is None:
        return
    links = meant_links(parse(memory.content), voice_of(memory.memory_kind, memory.origin))
    if Link(edge.relation, edge.target.id) in links:
        raise ItemState("a link in a memory's content makes this edge: change the content")


async def refuse_stated(writer: Writer, edge: Edge) -> None:
    """Refuse to remove an edge while a memory states it as a fact (M1).

    Memory and graph must say the same. Under a grant an edge may be removed all the same.
    """
    if not writer.is_granted and await writer.tx.stating([edge.id], limit=1):
        raise ItemState("a memory states this edge as a fact: change the memory")


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
    for item, etag in ((newer, draft.newer_etag), (older, draft.older_etag)):
        if item is not None and etag and not etag_matches(item, etag):
            raise EtagMismatch(item.id)
    if newer.kind == ItemKind.MEMORY and older is None:
        if await tx.node(draft.older_id) is not None or not is_memory_id(draft.older_id):
            raise FieldInvalid("older_id", "is not the id of a memory")
        return ItemKind.MEMORY  # a ghost, until the memory arrives
    if older is None or (older.deleted and older.kind == ItemKind.EDGE):
        raise ItemNotFound(draft.older_id)
    if older.kind != newer.kind:
        ends = End(newer.id, newer.kind), End(older.id, older.kind)
        tried = Edge(id=writer.tx.new_id(), source=ends[0], relation=draft.relation, target=ends[1])
        await writer.demand_allowed(None, tried)  # an attempt at a constitutive item goes on record
        raise FieldInvalid("older_id", "must name an item of the same kind as newer_id")
    if isinstance(newer, Edge) and (
        newer.is_lineage or (isinstance(older, Edge) and older.is_lineage)
    ):
        raise FieldInvalid("newer_id", "lineage stands between facts, not between lineage")
    return newer.kind


async def _takes_out_of_row(tx: Reads, draft: LineageDraft) -> bool:
    """Return whether lineage replaces the later of two successive values by the earlier one.

    The later value then never held, and succession leaves it out (T2).
    """
    newer, older = await tx.edge(draft.newer_id), await tx.edge(draft.older_id)
    if newer is None or older is None or draft.relation not in REPLACING:
        return False
    one_row = (newer.source, newer.relation) == (older.source, older.relation)
    return one_row and newer.effective_from < older.effective_from


async def refuse_descent(
    writer: Writer, newer_id: str, older_id: str, *, in_no_row: str = ""
) -> None:
    """Refuse lineage that would close a circle: the older item replaces the newer one already.

    Lineage and succession of values are walked, over any number of steps. With one id for both it
    is asked whether an item leads back to itself. The walk goes from both ends, the cheaper one
    first, so a head of a long chain costs one step. The edge `in_no_row` will be in no succession
    once this lineage is written.
    """
    for strictly in (False, True):  # void lineage closes none, but is looked for only then
        if not await _meet(writer.tx, newer_id, older_id, in_no_row, strictly=strictly):
            return
    raise LineageCycle(newer_id)


async def _meet(tx: Reads, newer_id: str, older_id: str, in_no_row: str, *, strictly: bool) -> bool:
    down = _Walk(tx, older_id, in_no_row, down=True, strictly=strictly)
    up = _Walk(tx, newer_id, in_no_row, down=False, strictly=strictly)
    while down.frontier and up.frontier:
        walk, other = (down, up) if down.size < up.size else (up, down)
        if await walk.step() & other.seen:
            return True
    return False


class _Walk:
    """Walks step by step to the items that these replace (down), or that replace them (up).

    `strictly`: not along lineage that waited for another principal's memory.
    """

    def __init__(
        self, tx: Reads, item_id: str, in_no_row: str, *, down: bool, strictly: bool
    ) -> None:
        self._tx = tx
        self._in_no_row = in_no_row
        self._down = down
        self._strictly = strictly
        self.frontier = [item_id]
        self.seen = {item_id}
        self._in_row: set[str] = set()

    @property
    def size(self) -> tuple[int, int]:
        """The cost of the next step, then of the walk so far, in items."""
        return len(self.frontier), len(self.seen)

    async def step(self) -> set[str]:
        """Go one step; return the ids that it reaches."""
        reached = await self._by_succession()
        for edge in await self._tx.lineage_edges(self.frontier):
            ends = (edge.source.id, edge.target.id)
            here, there = ends if self._down else reversed(ends)
            if edge.relation not in HIDING or here not in self.seen:
                continue
            is_void = edge.claimed or await waited_for_another(self._tx, edge)
            if not self._strictly or not is_void:
                reached.add(there)
        self.frontier = sorted(reached - self.seen)
        self.seen |= reached
        return reached

    async def _by_succession(self) -> set[str]:
        """Return the edges before (down) or after (up) the frontier's in their successions."""
        found: set[str] = set()
        for edge_id in self.frontier:
            known = edge_id in self._in_row or edge_id == self._in_no_row
            edge = None if known else await self._tx.edge(edge_id)
            if edge is None or edge.deleted or edge.is_lineage:
                continue
            if (is_constitutive(edge) and not self._down) or (edge.ends_none and self._down):
                continue  # no later value supersedes it, or it supersedes no earlier one
            if edge.relation not in await self._tx.functional():
                continue
            ((earlier, _, later),) = await self._tx.values_around([place_of(edge)], MOST_FORMER)
            values = earlier if self._down else confirmed(later)
            held = [v for v in values if v.id != self._in_no_row]
            beyond = _beyond(edge, [v for v in held if not (self._down and v.is_fixed)])
            self._in_row |= beyond
            found |= beyond
        return found


def _beyond(edge: Edge, values: Sequence[Value]) -> set[str]:
    """Return the ids of a row's values, nearest first, from the next one on with another target."""
    away = {each.id: abs(each.begins - edge.effective_from) for each in values}
    others = [each.id for each in values if each.target_id != edge.target.id]
    return {*others, *(i for i in away if others and away[i] > away[others[0]])}
