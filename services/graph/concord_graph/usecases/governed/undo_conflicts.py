"""The conflicts of an undo, which are searched before anything is written (V8).

An undo restores items as they were. It is refused if later items depend on items that it removes,
if the ends of the edges that it restores have changed, or if a live item has a restored item's name
or place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from concord_graph.domain.items import (
    Edge,
    EdgeType,
    End,
    Instant,
    Item,
    ItemKind,
    Memory,
    Node,
    Origin,
    Record,
    Revision,
    is_erased,
)
from concord_graph.ports import Reads
from concord_graph.usecases.read.items import item_at


@dataclass(frozen=True, slots=True)
class Planned:
    """An item before and after the undo; `since`: the revision that is undone."""

    before: Record
    after: Record
    since: Revision

    @property
    def is_removed(self) -> bool:
        """Whether the undo deletes the item."""
        return self.after.deleted

    @property
    def is_restored(self) -> bool:
        """Whether the undo revives the item, changes its key, or makes it constitutive again."""
        if self.is_removed:
            return False
        moves = self.before.deleted or _key(self.before) != _key(self.after)
        return moves or _is_constitutive(self.after) > _is_constitutive(self.before)


Plan = Mapping[str, Planned]


async def conflicts(tx: Reads, plan: Plan) -> list[str]:
    """Return the ids of the items that conflict with the undo, each once."""
    found: dict[str, None] = {}
    for planned in plan.values():
        found |= dict.fromkeys(await in_the_way(tx, planned, plan))
        found |= dict.fromkeys(await changed_dependencies(tx, planned, plan))
    return list(found)


async def in_the_way(tx: Reads, planned: Planned, plan: Plan) -> list[str]:
    """Return the ids of the live edges that an item's removal would leave without an end, and of
    the live items that have the key of a restored one."""
    return await _dangling_edges(tx, planned, plan) + await _rivals_for_key(tx, planned, plan)


async def _dangling_edges(tx: Reads, planned: Planned, plan: Plan) -> list[str]:
    """Return the live edges that would be left without an end.

    Lineage is reported as orphaned instead, and a link in a content may name a missing memory.
    """
    gone = planned.after
    if not planned.is_removed or planned.before.deleted or not isinstance(gone, (Node, Memory)):
        return []
    dangling = []
    for live in await tx.edges_at(gone.id, live=True):
        edge = plan[live.id].after if live.id in plan else live
        if not isinstance(edge, Edge) or edge.deleted or gone.id not in _ids(edge):
            continue
        if isinstance(gone, Node) or not (edge.is_lineage or edge.origin == Origin.CONTENT):
            dangling.append(live.id)
    return dangling


async def changed_dependencies(tx: Reads, planned: Planned, plan: Plan) -> list[str]:
    """Return the ends of a restored edge, or of a restored memory's facts, that were changed."""
    before, after = planned.before, planned.after
    if isinstance(after, Memory) and isinstance(before, Memory):
        return await _changed_facts(tx, before, after, planned.since, plan)
    if not isinstance(after, Edge) or not planned.is_restored:
        return []
    return await _changed_ends(tx, after, planned.since, plan)


async def _changed_facts(
    tx: Reads, before: Memory, after: Memory, since: Revision, plan: Plan
) -> list[str]:
    """Return the changed ends of a memory's fact edges, and the fact edges that were moved.

    Facts whose edge was deleted are stated anew, by the names of their ends.
    """
    if after.deleted or not after.facts or not _states_other_facts(before, after):
        return []
    changed = []
    for edge_id in await tx.facts_of(after.id, after.revision.record_from):
        edge = plan[edge_id].after if edge_id in plan else await tx.edge(edge_id)
        if not isinstance(edge, Edge) or edge.deleted:
            continue
        if edge_id not in plan and edge.revision.seq > since.seq:
            then = await _as_known(tx, End(edge.id, ItemKind.EDGE), since)
            if isinstance(then, Edge) and _key(then) != _key(edge):
                changed.append(edge_id)
                continue
        changed += await _changed_ends(tx, edge, since, plan)
    return changed


async def _changed_ends(tx: Reads, edge: Edge, since: Revision, plan: Plan) -> list[str]:
    """Return an edge's ends that were deleted or changed since a revision.

    An end that the undo itself restores counts as unchanged.
    """
    if edge.origin == Origin.CONTENT and not edge.governed:
        return []  # a text may link to a missing memory
    changed = []
    for end in (edge.source, edge.target):
        if end.id in plan:
            if plan[end.id].is_removed:
                changed.append(end.id)
        elif await _is_changed(tx, end, edge, since):
            changed.append(end.id)
    return changed


async def _is_changed(tx: Reads, end: End, edge: Edge, since: Revision) -> bool:
    now = await item_at(tx, end)
    if now is not None and now.revision.seq < since.seq:
        return False
    then = await _as_known(tx, end, since)
    was_there = then is not None and not then.deleted
    gone = now is None or now.deleted or is_erased(now)
    return (was_there and gone) or _fields_used(then, edge) != _fields_used(now, edge)


async def _rivals_for_key(tx: Reads, planned: Planned, plan: Plan) -> list[str]:
    """Return the live items that have the name, external id or place of a restored item."""
    if not planned.is_restored:
        return []
    match planned.after:
        case Node() as node:
            other: Item | None = await tx.live_node_named(node.name)
            there = [other] if other is not None else []
        case Memory(external_id=key) if key:
            other = await tx.memory_by_external_id(key)
            there = [other] if other is not None and not other.deleted else []
        case Edge() as edge:
            ends = edge.source.id, edge.target.id
            siblings = await tx.live_edges_of_triple(ends[0], edge.relation, ends[1])
            there = [each for each in siblings if _is_rival(planned, edge, each)]
        case _:
            there = []
    return [
        each.id
        for each in there
        if each.id != planned.after.id
        and not (each.id in plan and (plan[each.id].is_removed or plan[each.id].is_restored))
    ]


def _is_rival(planned: Planned, edge: Edge, sibling: Edge) -> bool:
    """Return whether these two edges of one triple cannot both be live.

    A descriptive edge is never restored beside a constitutive one; a constitutive one is not
    restored beside a descriptive edge of a later revision (G4).
    """
    if sibling.effective_from == edge.effective_from:
        return True
    if edge.is_lineage or _is_constitutive(edge) == _is_constitutive(sibling):
        return False
    return _is_constitutive(sibling) or sibling.revision.seq > planned.since.seq


async def _as_known(tx: Reads, end: End, since: Revision) -> Item | None:
    time = since.record_from
    views = await tx.views(end.kind, [end.id], Instant(time, time))
    return views[end.id].item if end.id in views else None


def _fields_used(end: Item | None, edge: Edge) -> object:
    """Return the fields of an end that an edge depends on: a consented edge depends on all."""
    match end:
        case Node() if edge.governed or _is_constitutive(edge):
            return end.name, end.label, dict(end.properties)
        case Node():
            return end.name
        case Memory() if not end.deleted:
            return end.content
        case Edge() if not end.deleted:
            return _ids(end), end.relation, end.weight, dict(end.properties)
    return None


def _key(item: Record) -> object:
    """Return the key of an item, which no other live item may have."""
    match item:
        case Node():
            return item.name
        case Memory():
            return item.external_id
        case Edge():
            return item.place
    return None


def _states_other_facts(before: Memory, after: Memory) -> bool:
    return before.deleted or (before.facts, before.edge_type) != (after.facts, after.edge_type)


def _is_constitutive(item: Record) -> bool:
    return isinstance(item, Edge) and item.edge_type == EdgeType.CONSTITUTIVE


def _ids(edge: Edge) -> tuple[str, str]:
    return edge.source.id, edge.target.id
