"""The neighbours of an item: a breadth-first walk, ranked by relevance (G9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from concord_graph.domain.items import Edge, EdgeType, Instant, ItemKind
from concord_graph.ports import Reads, Step, Walk
from concord_graph.usecases.read.shown import Shown, show, step_relevance, with_heads

MOST_EDGES = 10_000
FEW_EDGES = 100


class Reached(NamedTuple):
    """One reached edge: its score, distance in hops, the edges to it, and its far end."""

    relevance: float
    distance: int
    edge_id: str
    path: tuple[str, ...]
    neighbor_id: str

    @property
    def rank(self) -> tuple[float, int, str]:
        """The sort key: best score first, then nearest, then by id."""
        return (-self.relevance, self.distance, self.edge_id)


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Every reached edge, best first, and whether the walk was cut."""

    reached: tuple[Reached, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class NeighborPage:
    """A page of a walk: each reached item with its edge, and whether more pages follow.

    `now` (µs): when it was read.
    """

    entries: tuple[tuple[Reached, Shown], ...]
    has_more: bool
    truncated: bool
    visited: int
    now: int


@dataclass(frozen=True, slots=True)
class _Hop:
    walk: Walk
    distance: int
    now: int


async def neighbors_at_hand(
    tx: Reads, start_id: str, walk: Walk, now: int
) -> tuple[Neighborhood, Mapping[str, Shown]] | None:
    """Return the neighbours one hop away with their edges; None if there are more than a few.

    Most nodes have few edges: one query that reads these whole costs less than a walk.
    """
    views = await tx.edges_at_hand(start_id, walk, FEW_EDGES)
    if views is None:
        return None
    valid, hides = walk.at.valid, not walk.include_superseded
    shown = {
        view.item.id: show(view, now, valid)
        for view in views
        if not (hides and view.supersession.is_superseded(valid))
    }
    reached = [_reached_at_once(one, start_id, walk) for one in shown.values()]
    return Neighborhood(tuple(sorted(reached, key=_rank)), truncated=False), shown


def _reached_at_once(shown: Shown, start_id: str, walk: Walk) -> Reached:
    edge = shown.view.item
    if not isinstance(edge, Edge):
        raise TypeError(edge)
    onward = walk.outgoing and edge.source.id == start_id
    far = edge.target if onward else edge.source
    return Reached(shown.relevance, 1, edge.id, (edge.id,), far.id)


async def neighbor_page(  # one argument per part of the question
    tx: Reads,
    around: Neighborhood,
    known: Mapping[str, Shown],
    at: Instant,
    *,
    now: int,
    after: tuple[float, int, str] | None,
    limit: int,
) -> NeighborPage:
    """Return the page of neighbours that follows a rank, with the edges as readers see them.

    `known`: edges that were read already.
    """
    rest = [r for r in around.reached if after is None or r.rank > after]
    page = rest[:limit]
    missing = [reached.edge_id for reached in page if reached.edge_id not in known]
    if missing:
        views = await tx.views(ItemKind.EDGE, missing, at)
        known = {**known, **{i: show(view, now, at.valid) for i, view in views.items()}}
    shown = [known[reached.edge_id] for reached in page]
    with_ends = await with_heads(tx, [one.view for one in shown], at)
    entries = tuple(
        (reached, one if view is one.view else one._replace(view=view))
        for reached, one, view in zip(page, shown, with_ends, strict=True)
    )
    return NeighborPage(
        entries=entries,
        has_more=len(rest) > limit,
        truncated=around.truncated,
        visited=len(around.reached),
        now=now,
    )


async def walk_neighbors(
    tx: Reads, start_id: str, depth: int, walk: Walk, now: int
) -> Neighborhood:
    """Walk up to `depth` hops and 10,000 edges; an edge counts once, at its smallest distance.

    `now` (µs) is the instant at which relevance is computed.
    """
    paths: dict[str, tuple[str, ...]] = {start_id: ()}
    reached: dict[str, Reached] = {}
    frontier: Sequence[str] = [start_id]
    truncated = False
    for distance in range(1, depth + 1):
        room = MOST_EDGES - len(reached)
        # one more than fits shows that there are more; edges that are known come back, too
        found = await tx.steps(frontier, walk, MOST_EDGES + len(reached) + 1)
        steps = sorted((s for s in found if s.id not in reached), key=lambda s: s.id)
        if len(steps) > room:
            truncated = True
            steps = await _constitutive_first(tx, frontier, walk, reached, steps)
        hop = _Hop(walk, distance, now)
        frontier = _advance(steps[:room], hop, paths, reached)
        if walk.include_resolutions and not truncated:
            truncated = await _add_records(tx, steps, hop, reached)
        if truncated or not frontier:
            break
    return Neighborhood(tuple(sorted(reached.values(), key=_rank)), truncated)


async def _add_records(
    tx: Reads, steps: Sequence[Step], hop: _Hop, reached: dict[str, Reached]
) -> bool:
    """Add the resolution records of a hop's edges, at the same distance.

    Each leads to the other edge of its resolution, where the walk ends. Return whether there were
    more of them than fit.
    """
    met = {step.id for step in steps}
    both = replace(hop.walk, outgoing=True, incoming=True)
    room = MOST_EDGES - len(reached)
    found = await tx.steps(sorted(met), both, MOST_EDGES + len(reached) + 1) if met else ()
    records = sorted((s for s in found if s.id not in reached), key=lambda s: s.id)
    for step in records[:room]:
        here, there = step.source_id, step.target_id
        if here not in met:
            here, there = there, here
        path = (*reached[here].path, step.id)
        score = step_relevance(step, hop.now)
        reached[step.id] = Reached(score, hop.distance, step.id, path, there)
    return len(records) > room


async def _constitutive_first(
    tx: Reads,
    frontier: Sequence[str],
    walk: Walk,
    reached: Mapping[str, Reached],
    steps: Sequence[Step],
) -> list[Step]:
    """Return a hop's steps, constitutive ones first, so that a cut takes descriptive ones.

    The store's answer was cut too, so the constitutive steps are asked for by themselves.
    """
    if walk.filter.edge_types and EdgeType.CONSTITUTIVE not in walk.filter.edge_types:
        return list(steps)
    only = replace(walk, filter=replace(walk.filter, edge_types=(EdgeType.CONSTITUTIVE,)))
    found = await tx.steps(frontier, only, MOST_EDGES + 1)
    first = sorted((s for s in found if s.id not in reached), key=lambda s: s.id)
    ids = {step.id for step in first}
    return [*first, *(step for step in steps if step.id not in ids)]


def _rank(reached: Reached) -> tuple[float, int, str]:
    return reached.rank


def _advance(
    steps: Sequence[Step],
    hop: _Hop,
    paths: dict[str, tuple[str, ...]],
    reached: dict[str, Reached],
) -> list[str]:
    """Add a hop's edges to `reached`; return the items that it met for the first time."""
    before = set(paths)
    met: list[str] = []
    for step in steps:
        origin, beyond = _orient(step, hop.walk, before)
        path = (*paths[origin], step.id)
        reached[step.id] = Reached(
            step_relevance(step, hop.now), hop.distance, step.id, path, beyond
        )
        if beyond not in paths:
            paths[beyond] = path
            met.append(beyond)
    return met


def _orient(step: Step, walk: Walk, known: set[str]) -> tuple[str, str]:
    """Return a step's start and end in walking direction."""
    if walk.outgoing and step.source_id in known:
        return step.source_id, step.target_id
    return step.target_id, step.source_id
