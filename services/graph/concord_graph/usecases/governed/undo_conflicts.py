"""What stands in the way of an undo: looked for before anything is written (V8).

An undo brings items back as they were. It must not take the ground from under what was made since,
nor come back to other ground than it left, nor to a place where something else stands by now.
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


@dataclass(frozen=True, slots=True)
class Planned:
    """An item as it is, and as the undo would leave it; `since`: the revision that it undoes."""

    before: Record
    after: Record
    since: Revision

    @property
    def goes(self) -> bool:
        """Whether the undo takes it away."""
        return self.after.deleted

    @property
    def comes(self) -> bool:
        """Whether it comes to where it is not now, or to define the agent, which it does not."""
        if self.goes:
            return False
        moves = self.before.deleted or _stand(self.before) != _stand(self.after)
        return moves or _defines(self.after) > _defines(self.before)


Plan = Mapping[str, Planned]


async def conflicts(tx: Reads, plan: Plan) -> list[str]:
    """Return the ids of what stands in the way, each once."""
    found: dict[str, None] = {}
    for planned in plan.values():
        found |= dict.fromkeys(await _left_hanging(tx, planned, plan))
        found |= dict.fromkeys(await _lost_ground(tx, planned, plan))
        found |= dict.fromkeys(await _in_its_place(tx, planned, plan))
    return list(found)


async def _left_hanging(tx: Reads, planned: Planned, plan: Plan) -> list[str]:
    """Return the live edges that would end at nothing.

    Lineage of what goes is told as orphaned instead, and a link in a content may name what is gone.
    """
    gone = planned.after
    if not planned.goes or planned.before.deleted or not isinstance(gone, (Node, Memory)):
        return []
    left = []
    for edge_id in await tx.live_edge_ids_at(gone.id):
        edge = plan[edge_id].after if edge_id in plan else await tx.edge(edge_id)
        if not isinstance(edge, Edge) or edge.deleted or gone.id not in _ids(edge):
            continue
        if isinstance(gone, Node) or not (edge.is_lineage or edge.origin == Origin.CONTENT):
            left.append(edge_id)
    return left


async def _lost_ground(tx: Reads, planned: Planned, plan: Plan) -> list[str]:
    """Return what an edge, or a fact of a memory, that comes back would find gone or changed."""
    before, after = planned.before, planned.after
    if isinstance(after, Memory) and isinstance(before, Memory):
        return await _lost_facts(tx, before, after, planned.since, plan)
    if not isinstance(after, Edge) or not planned.comes:
        return []
    return await _changed_ends(tx, after, planned.since, plan)


async def _lost_facts(
    tx: Reads, before: Memory, after: Memory, since: Revision, plan: Plan
) -> list[str]:
    """Return what the edges of a memory's facts no longer rest on, and those that say otherwise.

    Facts whose edge is gone are stated anew, by their names.
    """
    if after.deleted or not after.facts or not _states_otherwise(before, after):
        return []
    lost = []
    for edge_id in await tx.facts_of(after.id, after.revision.record_from):
        edge = plan[edge_id].after if edge_id in plan else await tx.edge(edge_id)
        if not isinstance(edge, Edge) or edge.deleted:
            continue
        if edge_id not in plan and edge.revision.seq > since.seq:
            then = await _as_known(tx, End(edge.id, ItemKind.EDGE), since)
            if isinstance(then, Edge) and _stand(then) != _stand(edge):
                lost.append(edge_id)
                continue
        lost += await _changed_ends(tx, edge, since, plan)
    return lost


async def _changed_ends(tx: Reads, edge: Edge, since: Revision, plan: Plan) -> list[str]:
    """Return an edge's ends that are gone, or say otherwise, since a revision was made.

    An end that the undo itself brings back, or leaves, as it was is none of them.
    """
    if edge.origin == Origin.CONTENT and not edge.governed:
        return []  # a text may name what is not there
    changed = []
    for end in (edge.source, edge.target):
        if end.id in plan:
            if plan[end.id].goes:
                changed.append(end.id)
        elif await _is_changed(tx, end, edge, since):
            changed.append(end.id)
    return changed


async def _is_changed(tx: Reads, end: End, edge: Edge, since: Revision) -> bool:
    now = await _as_it_is(tx, end)
    if now is not None and now.revision.seq < since.seq:
        return False
    then = await _as_known(tx, end, since)
    was_there = then is not None and not then.deleted
    gone = now is None or now.deleted or is_erased(now)
    return (was_there and gone) or _words(then, edge) != _words(now, edge)


async def _in_its_place(tx: Reads, planned: Planned, plan: Plan) -> list[str]:
    """Return the live items that stand where one would come to stand."""
    if not planned.comes:
        return []
    match planned.after:
        case Node() as node:
            other: Item | None = await tx.live_node_named(node.name)
            there = [other] if other is not None else []
        case Memory(external_id=key) if key:
            other = await tx.memory_by_external_id(key)
            there = [other] if other is not None and not other.deleted else []
        case Edge() as edge:
            there = [each for each in await _siblings(tx, edge) if _rivals(planned, edge, each)]
        case _:
            there = []
    return [
        each.id
        for each in there
        if each.id != planned.after.id
        and not (each.id in plan and (plan[each.id].goes or plan[each.id].comes))
    ]


def _rivals(planned: Planned, edge: Edge, sibling: Edge) -> bool:
    """Return whether one of two edges of a triple is in the other's way.

    Nothing descriptive comes beside what is constitutive, nor the other way round since (G4).
    """
    if sibling.effective_from == edge.effective_from:
        return True
    if edge.is_lineage or _defines(edge) == _defines(sibling):
        return False
    return _defines(sibling) or sibling.revision.seq > planned.since.seq


async def _siblings(tx: Reads, edge: Edge) -> list[Edge]:
    return list(await tx.live_edges_of_triple(edge.source.id, edge.relation, edge.target.id))


async def _as_known(tx: Reads, end: End, since: Revision) -> Item | None:
    time = since.record_from
    views = await tx.views(end.kind, [end.id], Instant(time, time))
    return views[end.id].item if end.id in views else None


async def _as_it_is(tx: Reads, end: End) -> Item | None:
    match end.kind:
        case ItemKind.NODE:
            return await tx.node(end.id)
        case ItemKind.MEMORY:
            return await tx.memory(end.id)
    return await tx.edge(end.id)


def _words(end: Item | None, edge: Edge) -> object:
    """Return what an edge takes from an end: what both parties agree to takes all that it says."""
    match end:
        case Node() if edge.governed or _defines(edge):
            return end.name, end.label, dict(end.properties)
        case Node():
            return end.name
        case Memory() if not end.deleted:
            return end.content
        case Edge() if not end.deleted:
            return _ids(end), end.relation, end.weight, dict(end.properties)
    return None


def _stand(item: Record) -> object:
    """Return where an item stands: nothing else live may stand there."""
    match item:
        case Node():
            return item.name
        case Memory():
            return item.external_id
        case Edge():
            return item.place
    return None


def _states_otherwise(before: Memory, after: Memory) -> bool:
    return before.deleted or (before.facts, before.edge_type) != (after.facts, after.edge_type)


def _defines(item: Record) -> bool:
    return isinstance(item, Edge) and item.edge_type == EdgeType.CONSTITUTIVE


def _ids(edge: Edge) -> tuple[str, str]:
    return edge.source.id, edge.target.id
