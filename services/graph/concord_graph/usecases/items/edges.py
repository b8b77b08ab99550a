"""Writing edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from concord_graph.domain.contexts import context_of
from concord_graph.domain.drafts import (
    EdgeDraft,
    EndRef,
    NodeDraft,
    Patch,
    check_interval,
    check_name,
    check_relation,
    merged_properties,
)
from concord_graph.domain.errors import (
    ConstitutiveProtected,
    EtagMismatch,
    FieldInvalid,
    ItemExists,
    MaskInvalid,
    ReservedName,
)
from concord_graph.domain.items import (
    Edge,
    EdgeType,
    End,
    Importance,
    Instant,
    ItemKind,
    Origin,
)
from concord_graph.ports import Expected, LinkParser, Written
from concord_graph.usecases.items.lineage import refuse_descent, refuse_linked, refuse_stated
from concord_graph.usecases.items.nodes import create_node
from concord_graph.usecases.read.shown import current_edges, fixed_edges
from concord_graph.usecases.write.writer import Writer, live, written

_CHANGEABLE = frozenset(
    {
        *("weight", "properties", "edge_type", "importance"),
        *("valid_from", "valid_until", "source", "target"),
    }
)
_ANNOTATIONS = frozenset({"weight", "properties", "importance"})


async def upsert_edge(writer: Writer, draft: EdgeDraft, etag: str = "") -> Written:
    """Create an edge or merge into the one that its triple and stated time address (G2)."""
    check_relation(draft.relation, "edge.relation")
    draft = replace(draft, properties=context_of(draft.properties, "edge.properties"))
    await writer.tx.expect(lambda: _asked_about(draft))
    source = await end_of(writer, draft.source, "edge.source")
    target = await end_of(writer, draft.target, "edge.target")
    edges = await writer.tx.live_edges_of_triple(source.id, draft.relation, target.id)
    stored = await addressed(writer, edges, draft.valid_from)
    if stored is None:
        _check_type(draft.edge_type)
        if etag:
            raise EtagMismatch(f"{source.id} {draft.relation} {target.id}")
        return written(None, await _create(writer, draft, source, target))
    if stored.claimed:
        stored = await writer.state_claimed(stored)
    merged = _merged(stored, draft)
    if not writer.is_granted and await writer.standing.is_above(stored):
        merged |= _said_above(stored, draft)
    edge = replace(stored, **merged)
    await _demand_type(writer, stored, edge)
    if etag:
        await writer.demand_etag(stored, etag, edge)
    check_interval(edge, "edge.valid_until")
    if not await writer.is_frozen(stored.id):
        edge = _the_callers(edge)
    return written(stored, await put_edge(writer, stored, edge))


async def update_edge(writer: Writer, patch: Patch, links: LinkParser) -> Written:
    """Change the named fields of an edge; an edge that a content's link makes keeps its ends."""
    stored = live(await writer.tx.edge(patch.item_id), patch.item_id)
    unknown = set(patch.values) - (_ANNOTATIONS if stored.is_lineage else _CHANGEABLE)
    if unknown:
        raise MaskInvalid("update_mask", f"cannot change {', '.join(sorted(unknown))}")
    edge = replace(stored, **await _patched(writer, stored, patch))
    await writer.demand_etag(stored, patch.etag, edge)
    if edge != stored:
        edge = _the_callers(edge)
    await _demand_type(writer, stored, edge)
    check_interval(edge, "edge.valid_until")
    put = await put_edge(writer, stored, edge)
    if (edge.source, edge.target) != (stored.source, stored.target):
        await refuse_linked(writer, stored, links)
    if edge.place != stored.place:
        await refuse_stated(writer, stored)
    return written(stored, put)


async def delete_edge(writer: Writer, edge_id: str, etag: str, links: LinkParser) -> Written:
    """Delete an edge, a lineage edge or a resolution record.

    An edge is refused while a content's link or a memory's fact makes it.
    """
    stored = live(await writer.tx.edge(edge_id), edge_id)
    await writer.demand_etag(stored, etag, replace(stored, deleted=True))
    # the write comes before the other checks: an attempt at a constitutive edge goes on record
    gone = await writer.put(stored, replace(stored, deleted=True))
    await refuse_linked(writer, stored, links)
    await refuse_stated(writer, stored)
    return written(stored, gone)


def _the_callers(edge: Edge) -> Edge:
    """Return a fact's edge as the caller's own: it stays when no memory states it any more.

    What defines the agent is confirmed by both principals, and stays its facts'.
    """
    if not edge.is_of_facts:
        return edge
    is_defining = edge.edge_type == EdgeType.CONSTITUTIVE
    return replace(edge, origin=Origin.FACT if is_defining else Origin.EXPLICIT)


async def _create(writer: Writer, draft: EdgeDraft, source: End, target: End) -> Edge:
    edge = Edge(
        id=writer.tx.new_id(),
        create_time=writer.now,
        source=source,
        relation=draft.relation,
        target=target,
        weight=1.0 if draft.weight is None else draft.weight,
        properties=merged_properties({}, draft.properties),
        edge_type=draft.edge_type or EdgeType.DESCRIPTIVE,
        importance=draft.importance,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
    )
    check_interval(edge, "edge.valid_until")
    return await writer.put(None, edge)


def _merged(stored: Edge, draft: EdgeDraft) -> dict[str, Any]:
    """Return a stored edge's fields after an upsert; fields that the draft leaves out stay."""
    return {
        "weight": stored.weight if draft.weight is None else draft.weight,
        "properties": merged_properties(stored.properties, draft.properties),
        "edge_type": draft.edge_type or stored.edge_type,
        "importance": draft.importance or stored.importance,
        "valid_from": (
            stored.valid_from
            if draft.valid_from in {None, stored.effective_from}
            else draft.valid_from
        ),
        "valid_until": stored.valid_until if draft.valid_until is None else draft.valid_until,
    }


def _said_above(stored: Edge, draft: EdgeDraft) -> dict[str, Any]:
    """Return what holds of an edge that only lower writers wrote once somebody above states it: no
    end and no lower weight of theirs (W9)."""
    return {
        "weight": max(stored.weight, 1.0) if draft.weight is None else draft.weight,
        "importance": draft.importance
        or (stored.importance if stored.importance != Importance.LOW else Importance.UNSET),
        "valid_until": draft.valid_until,
    }


async def addressed(writer: Writer, edges: Sequence[Edge], valid_from: int | None) -> Edge | None:
    """Return which of a triple's edges an upsert updates; None: it creates another one.

    A constitutive or pinned edge comes first. Without `valid_from` (µs) it is the current edge,
    with it the edge that begins then.
    """
    current = await current_edges(writer.tx, edges, Instant(writer.now))
    if fixed := await fixed_edges(writer.tx, current):
        return fixed[-1]
    if valid_from is None:
        return current[-1] if current else None
    return next((edge for edge in edges if edge.effective_from == valid_from), None)


async def _patched(writer: Writer, stored: Edge, patch: Patch) -> dict[str, Any]:
    values = dict(patch.values)
    for end in ("source", "target"):
        if end in values:
            values[end] = await end_of(writer, values[end], f"edge.{end}")
    if "properties" in values:
        values["properties"] = context_of(values["properties"], "edge.properties")
    values.setdefault("weight", stored.weight)
    if values["weight"] is None:
        values["weight"] = 1.0
    if "edge_type" in values and values["edge_type"] is None:
        values["edge_type"] = stored.edge_type
    values.setdefault("importance", stored.importance)
    values["importance"] = Importance(values["importance"])
    return values


async def put_edge(writer: Writer, stored: Edge, edge: Edge) -> Edge:
    """Write an edge, whose ends or valid time may have changed.

    Raises:
        ItemExists: another edge of that triple begins at that time.
        LineageCycle: after the move, lineage and succession would lead from it back to itself.
    """
    if edge == stored:
        return stored
    if edge.place == stored.place:
        return await writer.put(stored, edge)
    await _check_place(writer, edge)
    moved = await writer.put(stored, edge)
    await refuse_descent(writer, edge.id, edge.id)  # by its new successors
    return moved


async def _check_place(writer: Writer, edge: Edge) -> None:
    """Refuse the place of another edge, and, without a grant, the triple of a constitutive one."""
    others = await writer.tx.live_edges_of_triple(edge.source.id, edge.relation, edge.target.id)
    for other in others:
        if other.id == edge.id:
            continue
        if other.edge_type == EdgeType.CONSTITUTIVE and not writer.is_granted:
            raise ConstitutiveProtected(other.id, "a constitutive edge says this already")
        if other.effective_from == edge.effective_from:
            raise ItemExists(other.id, "triple and valid_from")


def _asked_about(draft: EdgeDraft) -> Expected:
    ends = (draft.source, draft.target)
    return Expected(
        ids=tuple(end.id for end in ends if end.id),
        node_names=tuple(end.name for end in ends if end.name and not end.id),
        triples=((draft.source, draft.relation, draft.target),),
    )


async def end_of(writer: Writer, end: EndRef, field: str, *, of_facts: bool = False) -> End:
    """Return the item that an end names; an unknown node name creates the node."""
    if end.id:
        return await _end_by_id(writer, end, field)
    check_name(end.name, field)
    node = await writer.tx.live_node_named(end.name)
    if node is None:
        node = await create_node(writer, NodeDraft(end.name), of_facts=of_facts)
    writer.named(node)
    return End(node.id, ItemKind.NODE)


async def _end_by_id(writer: Writer, end: EndRef, field: str) -> End:
    node = await writer.tx.node(end.id)
    if node is not None and not node.deleted:
        if end.name and end.name != node.name:
            raise FieldInvalid(field, "id and name are of different nodes")
        if not writer.is_granted:  # under a grant, protection itself refuses reserved items
            check_name(node.name, field)
        return End(node.id, ItemKind.NODE)
    memory = live(await writer.tx.memory(end.id), end.id)
    if end.name:
        raise FieldInvalid(field, "a memory has an id and no name")
    return End(memory.id, ItemKind.MEMORY)


async def _demand_type(writer: Writer, stored: Edge, edge: Edge) -> None:
    """Refuse to turn an edge into a resolution; for a constitutive edge that is recorded."""
    if edge.edge_type == stored.edge_type:
        return
    if edge.edge_type == EdgeType.RESOLUTION:
        await writer.demand_allowed(stored, edge)
    _check_type(edge.edge_type)


def _check_type(edge_type: EdgeType | None) -> None:
    if edge_type == EdgeType.RESOLUTION:
        raise ReservedName("edge.edge_type", "resolutions are made with AddLineage between edges")
