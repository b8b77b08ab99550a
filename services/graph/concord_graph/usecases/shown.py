"""Items as a reader meets them: with importance, relevance and heads worked out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from concord_graph.domain.items import (
    REPLACING,
    Access,
    EdgeType,
    Importance,
    Instant,
    Memory,
    Node,
)
from concord_graph.domain.relevance import default_importance, relevance
from concord_graph.ports import Reads, Step, View

MOST_HEADS = 100


@dataclass(frozen=True, slots=True)
class Shown:
    """A view with what its reader sees beside: importance (never unset) and relevance in [0, 1].

    `now` (µs) is the instant of the reading: never before what the reading saw.
    """

    view: View
    importance: Importance
    relevance: float
    now: int


def show(view: View, now: int) -> Shown:
    """Work out importance and relevance at `now` (µs). A node has neither."""
    item = view.item
    if isinstance(item, Node):
        return Shown(view, Importance.MEDIUM, 0.0, now)
    importance, score = _ranked(
        item.edge_type, item.importance, view.access, now, near=view.near_constitutive
    )
    return Shown(view, importance, score, now)


def step_relevance(step: Step, now: int) -> float:
    """Return the relevance of a walked edge at `now` (µs)."""
    return _ranked(step.edge_type, step.importance, step.access, now, near=step.near_constitutive)[
        1
    ]


def _ranked(
    edge_type: EdgeType, stated: Importance, access: Access, now: int, *, near: bool
) -> tuple[Importance, float]:
    importance = default_importance(
        stated, edge_type=edge_type, near_constitutive=near, access=access, now=now
    )
    return importance, relevance(edge_type, importance, access, now)


async def with_heads(tx: Reads, views: Sequence[View], at: Instant) -> list[View]:
    """Fill in the live ends of each item's chain (T2); without successor an item is its own."""
    return [
        replace(view, standing=replace(view.standing, head_ids=await _heads(tx, view, at)))
        if not isinstance(view.item, Node)
        else view
        for view in views
    ]


async def _heads(tx: Reads, view: View, at: Instant) -> tuple[str, ...]:
    if not view.standing.is_superseded(at.valid):
        return () if view.item.deleted else (view.item.id,)
    kind = view.item.kind
    heads: set[str] = set()
    seen = {view.item.id}
    frontier: Collection[str] = [view.item.id]
    while frontier and len(heads) < MOST_HEADS:
        above = await _successors(tx, frontier) - seen
        seen |= above
        found = await tx.views(kind, above, at) if above else {}
        live = {item_id: v for item_id, v in found.items() if not v.item.deleted}
        heads |= {i for i, v in live.items() if not v.standing.is_superseded(at.valid)}
        frontier = set(live) - heads
    return tuple(sorted(heads)[:MOST_HEADS])


async def _successors(tx: Reads, ids: Collection[str]) -> set[str]:
    edges = await tx.lineage_edges(ids)
    wanted = set(ids)
    return {e.source.id for e in edges if e.target.id in wanted and e.relation in REPLACING}


def statement(view: View) -> str:
    """Return the sentence that an item asserts, at most 200 characters of a memory's."""
    item = view.item
    if isinstance(item, Memory):
        return item.content[:200]
    if isinstance(item, Node):
        return item.name
    source, target = (view.names.get(end.id, end.id) for end in (item.source, item.target))
    return f"{source} {item.relation} {target}"
