"""Items as readers see them: with importance, relevance and the heads of their chains."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from concord_graph.domain.items import (
    FOREVER,
    Edge,
    EdgeType,
    End,
    Importance,
    Instant,
    ItemKind,
    Memory,
    Node,
)
from concord_graph.domain.relevance import default_importance, relevance
from concord_graph.ports import Reads, Ref, Step, View, Walk
from concord_graph.usecases.read.succession import above, amending

MOST_HEADS = 100
MOST_AMENDMENTS = 100


class Shown(NamedTuple):
    """A view with its importance (never unset) and its relevance in [0, 1].

    `valid` (µs): the instant at which its supersession is worked out.
    """

    view: View
    importance: Importance
    relevance: float
    valid: int


def show(view: View, now: int, valid: int | None = None) -> Shown:
    """Return a view with its importance and relevance at `now` (µs).

    `valid` (µs): the instant that the reader asked about; None = now. It does not change importance
    and relevance. A node has neither.
    """
    item = view.item
    valid = now if valid is None else valid
    if isinstance(item, Node):
        return Shown(view, Importance.MEDIUM, 0.0, valid)
    importance = default_importance(
        item.importance,
        edge_type=item.edge_type,
        near_constitutive=view.near_constitutive,
        access=view.access,
        now=now,
    )
    return Shown(view, importance, relevance(item.edge_type, importance, view.access, now), valid)


def step_relevance(step: Step, now: int) -> float:
    """Return the relevance of a walked edge at `now` (µs)."""
    importance = default_importance(
        step.importance,
        edge_type=step.edge_type,
        near_constitutive=step.near_constitutive,
        access=step.access,
        now=now,
    )
    return relevance(step.edge_type, importance, step.access, now)


async def with_heads(tx: Reads, views: Sequence[View], at: Instant) -> list[View]:
    """Fill in all that readers see of items beside their fields.

    That is the heads of their chains (T2), amendments (T4), open conflicts (D5), open claims and
    who wrote first (W9), whether memories are linked (S8), lineage that lost an end (V8), and ends
    that are ghosts (M3).
    """
    amended = await with_amendments(tx, await with_ends(tx, views, at), at)
    disputed = await with_claims(tx, await with_conflicts(tx, amended, at), at)
    writers = await writers_of(tx, disputed)
    whose = [view._replace(writer=writers.get(view.item.id, "")) for view in disputed]
    return await with_ghosts(tx, await with_connections(tx, whose, at), at)


async def writers_of(tx: Reads, views: Sequence[View]) -> Mapping[str, str]:
    """Return the principals that first wrote the memories, by the memories' ids."""
    memories = [view.item for view in views if isinstance(view.item, Memory)]
    found = {each.id: each.revision.principal for each in memories}
    changed = [Ref(ItemKind.MEMORY, m.id, 1) for m in memories if m.revision.number > 1]
    first = await tx.revisions(changed) if changed else ()
    return found | {each.id: each.revision.principal for each in first if each is not None}


async def with_connections(tx: Reads, views: Sequence[View], at: Instant) -> list[View]:
    """Fill in whether each memory states a fact or is linked with a live item."""
    ids = [v.item.id for v in views if isinstance(v.item, Memory) and not v.item.facts]
    linked = await tx.connected(ids, at.record) if ids else ()
    return [
        view._replace(is_connected=bool(view.item.facts) or view.item.id in linked)
        if isinstance(view.item, Memory)
        else view
        for view in views
    ]


async def with_conflicts(tx: Reads, views: Sequence[View], at: Instant) -> list[View]:
    """Fill in the items' open conflicts."""
    ids = [view.item.id for view in views if view.item.kind != ItemKind.NODE]
    found = await tx.open_conflicts(ids, at.record) if ids else {}
    if not found:
        return list(views)
    return [
        view._replace(conflicts=found[view.item.id]) if view.item.id in found else view
        for view in views
    ]


async def with_claims(tx: Reads, views: Sequence[View], at: Instant) -> list[View]:
    """Fill in the open claims at items: on them, or to take another's place."""
    ids = [view.item.id for view in views]
    found = await tx.open_claims(ids, at.record) if ids else {}
    if not found:
        return list(views)
    return [
        view._replace(claims=found[view.item.id]) if view.item.id in found else view
        for view in views
    ]


async def with_amendments(tx: Reads, views: Sequence[View], at: Instant) -> list[View]:
    """Fill in the live amendments of items (T4), at most MOST_AMENDMENTS each."""
    found: dict[str, list[str]] = {}
    for kind in (ItemKind.EDGE, ItemKind.MEMORY):
        found |= await _amendments(tx, kind, [v for v in views if v.item.kind == kind], at)
    if not found:
        return list(views)
    return [_amended(view, found.get(view.item.id, ())) for view in views]


async def _amendments(
    tx: Reads, kind: ItemKind, views: Sequence[View], at: Instant
) -> dict[str, list[str]]:
    """Return the live, current items that amend each item, ordered by valid time."""
    by = await amending(tx, views, at)
    if not by:
        return {}
    known = await tx.views(kind, {each for ones in by.values() for each in ones}, at)
    begun = {
        view.item.id: (view.supersession.effective_from, view.item.id)
        for view in known.values()
        if not view.item.deleted and view.supersession.is_current(at.valid)
    }
    return {
        item_id: sorted(begun.keys() & ones, key=begun.__getitem__) for item_id, ones in by.items()
    }


def _amended(view: View, ids: Sequence[str]) -> View:
    if not ids:
        return view
    shown = tuple(ids[:MOST_AMENDMENTS])
    return view._replace(supersession=view.supersession._replace(amendment_ids=shown))


async def with_ends(tx: Reads, views: Sequence[View], at: Instant) -> list[View]:
    """Fill in the heads of superseded items' chains (T2); mark lineage that lost an end (V8)."""
    newer: dict[str, Collection[str]] = {}
    replaced = [view for view in views if view.supersession.is_superseded(at.valid)]
    for kind in (ItemKind.EDGE, ItemKind.MEMORY):
        if ids := {view.item.id for view in replaced if view.item.kind == kind}:
            newer |= await above(tx, kind, ids, at)
    ended = [
        _with_heads(view, newer) if view.supersession.is_superseded(at.valid) else view
        for view in views
    ]
    return await with_orphans(tx, ended, at)


async def with_orphans(tx: Reads, views: Sequence[View], at: Instant) -> list[View]:
    """Mark live lineage and resolutions with a deleted end; a ghost counts as no deleted end."""
    ends: dict[ItemKind, set[str]] = {}
    for view in views:
        for end in _lineage_ends(view):
            ends.setdefault(end.kind, set()).add(end.id)
    gone: set[str] = set()
    for kind, ids in ends.items():
        found = await tx.views(kind, ids, at)
        gone |= {view.item.id for view in found.values() if view.item.deleted}
    if not gone:
        return list(views)
    return [
        view._replace(supersession=view.supersession._replace(orphaned=True))
        if any(end.id in gone for end in _lineage_ends(view))
        else view
        for view in views
    ]


async def with_ghosts(tx: Reads, views: Sequence[View], at: Instant) -> list[View]:
    """Mark ends of edges as ghosts if their memory was not known at the instant."""
    ends = {end.id for view in views for end in _memory_ends(view)}
    ghosts = ends - (await tx.kinds(sorted(ends), at.record)).keys() if ends else ends
    if not ghosts:
        return list(views)
    return [_with_ghosts(view, ghosts) for view in views]


def _memory_ends(view: View) -> tuple[End, ...]:
    edge = view.item
    ends = (edge.source, edge.target) if isinstance(edge, Edge) and not edge.deleted else ()
    return tuple(end for end in ends if end.kind == ItemKind.MEMORY)


def _with_ghosts(view: View, ghosts: Collection[str]) -> View:
    edge = view.item
    if not isinstance(edge, Edge):
        return view
    source, target = (
        End(end.id, ItemKind.GHOST) if end.id in ghosts else end
        for end in (edge.source, edge.target)
    )
    return view._replace(item=replace(edge, source=source, target=target))


async def is_ghost(tx: Reads, item_id: str, at: Instant) -> bool:
    """Return whether an id names no item yet, but a live edge ends at it."""
    if not item_id or await tx.kinds([item_id], at.record):
        return False
    return (await tx.degrees([item_id], Walk(at), 1)).get(item_id, 0) > 0


def _lineage_ends(view: View) -> tuple[End, ...]:
    edge = view.item
    if not isinstance(edge, Edge) or edge.deleted or not edge.is_lineage:
        return ()
    return (edge.source, edge.target)


def _with_heads(view: View, newer: Mapping[str, Collection[str]]) -> View:
    heads: set[str] = set()
    seen = {view.item.id}
    frontier = [view.item.id]
    while frontier:
        item_id = frontier.pop()
        successors = set(newer.get(item_id, ()))
        if not successors:  # an item that only ended has no head, not itself as one
            heads.update(view.supersession.head_ids if item_id == view.item.id else [item_id])
        frontier += successors - seen
        seen |= successors
    shown = tuple(sorted(heads)[:MOST_HEADS])
    return view._replace(supersession=view.supersession._replace(head_ids=shown))


async def current_edges(tx: Reads, edges: Sequence[Edge], at: Instant) -> list[Edge]:
    """Return those of a triple's edges that hold at the instant and were not replaced."""
    if not edges:
        return []
    views = await tx.views(ItemKind.EDGE, [edge.id for edge in edges], at)
    return [edge for edge in edges if views[edge.id].supersession.is_current(at.valid)]


async def fixed_edges(tx: Reads, edges: Sequence[Edge], record: int = FOREVER) -> list[Edge]:
    """Return a triple's constitutive edges, else its pinned ones: they come before others (G4)."""
    constitutive = [edge for edge in edges if edge.edge_type == EdgeType.CONSTITUTIVE]
    return constitutive or [edge for edge in edges if await tx.is_pinned(edge.id, record)]


def statement(view: View, most: int | None = 200) -> str:
    """Return the sentence that an item asserts, at most so many characters of a memory's."""
    item = view.item
    if isinstance(item, Memory):
        return item.content[:most]
    if isinstance(item, Node):
        return item.name
    source, target = (view.names.get(end.id, end.id) for end in (item.source, item.target))
    return f"{source} {item.relation} {target}"
