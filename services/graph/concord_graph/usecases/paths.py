"""How two items hang together: simple paths, shortest first, then heavier (G10).

Two breadth-first balls grow from both ends, the one with fewer edges at its rim first. When their
radii sum to L, every path of at most L edges lies inside; a best-first search then lists them in
order. So a hub in the middle is met from both sides without being opened.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from concord_graph.ports import Reads, Step, Walk

MOST_EDGES = 100_000
MOST_EXPANSIONS = 200_000


@dataclass(frozen=True, slots=True)
class FoundPath:
    """Edges in walking order, with the product of their weights."""

    edge_ids: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class FoundPaths:
    """Paths in order, and whether the search stopped at its bound."""

    paths: tuple[FoundPath, ...]
    truncated: bool


@dataclass(slots=True)
class _Ball:
    """What a breadth-first search from one end has met."""

    origin: str
    walk: Walk
    distance: dict[str, int]
    frontier: list[str]
    radius: int = 0


@dataclass(slots=True)
class _Known:
    """The edges met so far, as they may be walked from start to end."""

    walk: Walk
    steps: dict[str, Step] = field(default_factory=dict)
    onward: dict[str, list[tuple[str, Step]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, step: Step) -> None:
        if step.id in self.steps:
            return
        self.steps[step.id] = step
        if self.walk.outgoing:
            self.onward[step.source_id].append((step.target_id, step))
        if self.walk.incoming and step.source_id != step.target_id:
            self.onward[step.target_id].append((step.source_id, step))


async def find_paths(
    tx: Reads,
    start_id: str,
    end_id: str,
    walk: Walk,
    *,
    max_depth: int,
    max_paths: int,
    out_of_time: Callable[[], bool] = lambda: False,
) -> FoundPaths:
    """Return up to `max_paths` simple paths of 1 to `max_depth` edges."""
    backward = replace(walk, outgoing=walk.incoming, incoming=walk.outgoing)
    near = _Ball(start_id, walk, {start_id: 0}, [start_id])
    far = _Ball(end_id, backward, {end_id: 0}, [end_id])
    known = _Known(walk)
    while near.radius + far.radius < max_depth:
        ball = await _cheaper(tx, near, far)
        if ball is None:
            break
        if out_of_time() or not await _grow(tx, ball, known):
            return FoundPaths(_listed(known, near, far, max_paths)[0], truncated=True)
        paths, cut = _listed(known, near, far, max_paths)
        if len(paths) >= max_paths or cut:
            return FoundPaths(paths, truncated=cut)
    paths, cut = _listed(known, near, far, max_paths, reach=max_depth)
    return FoundPaths(paths, truncated=cut)


async def _cheaper(tx: Reads, near: _Ball, far: _Ball) -> _Ball | None:
    """Return the ball whose rim has fewer edges; None when nothing more can be found.

    A path with an edge not read yet leaves the near ball at its rim, and enters the far one at
    another item of that one's rim. So an empty rim ends the search, and so does a single item that
    is both rims: a hub with 100,000 edges between two items is not opened for nothing.
    """
    if not near.frontier or not far.frontier or len({*near.frontier, *far.frontier}) == 1:
        return None
    cost_near = await tx.degree(near.frontier, near.walk, MOST_EDGES)
    cost_far = await tx.degree(far.frontier, far.walk, MOST_EDGES)
    return near if cost_near <= cost_far else far


async def _grow(tx: Reads, ball: _Ball, known: _Known) -> bool:
    """Open a ball's rim; False when that would read more edges than the bound."""
    room = MOST_EDGES - len(known.steps)
    steps = await tx.steps(ball.frontier, ball.walk, room + 1)
    if len(steps) > room:
        return False
    rim = set(ball.frontier)
    ball.radius += 1
    ball.frontier = []
    for step in steps:
        known.add(step)
        for met, origin in ((step.target_id, step.source_id), (step.source_id, step.target_id)):
            if origin in rim and met not in ball.distance:
                ball.distance[met] = ball.radius
                ball.frontier.append(met)
    return True


def _listed(
    known: _Known, near: _Ball, far: _Ball, max_paths: int, reach: int | None = None
) -> tuple[tuple[FoundPath, ...], bool]:
    """List the paths inside both balls in order; also return whether the listing was cut.

    Best first by (length at least, weight at most): both bounds only get worse along a path, so
    paths come out in their final order.
    """
    start, end = near.origin, far.origin
    longest = near.radius + far.radius if reach is None else reach
    left = _distances_to(end, known)
    if start not in left:
        return (), False
    queue: list[tuple[int, float, tuple[str, ...], tuple[str, ...]]] = []
    heapq.heappush(queue, (left[start], -1.0, (), (start,)))
    paths: list[FoundPath] = []
    expansions = 0
    while queue and len(paths) < max_paths:
        _, weight, edge_ids, nodes = heapq.heappop(queue)
        if edge_ids and nodes[-1] == end:
            paths.append(FoundPath(edge_ids, -weight))
            continue
        expansions += 1
        if expansions > MOST_EXPANSIONS:
            return tuple(paths), True
        for beyond, step in known.onward[nodes[-1]]:
            bound = len(edge_ids) + 1 + left.get(beyond, math.inf)
            if beyond not in nodes and bound <= longest:
                entry = (int(bound), weight * step.weight, (*edge_ids, step.id), (*nodes, beyond))
                heapq.heappush(queue, entry)
    return tuple(paths), False


def _distances_to(end: str, known: _Known) -> dict[str, int]:
    """Return each item's distance to the end over the known edges."""
    into: dict[str, list[str]] = defaultdict(list)
    for node, onward in known.onward.items():
        for beyond, _ in onward:
            into[beyond].append(node)
    left = {end: 0}
    frontier = [end]
    while frontier:
        reached = {node for item in frontier for node in into[item]} - left.keys()
        left |= dict.fromkeys(reached, left[frontier[0]] + 1)
        frontier = list(reached)
    return left
