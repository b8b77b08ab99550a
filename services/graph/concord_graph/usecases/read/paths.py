"""Simple paths between two items, shortest first, then heaviest (G10).

Two breadth-first searches meet. Each keeps the items' distance from its end over the edges read so
far, and its rim: the items whose edges are unread. A path with an unread edge leaves the near rim
at one item and enters the far rim at another, so it is at least as long as the nearest two such
items allow. All shorter paths are known and listed. Then the items that separate these parts of
the rims for the fewest edges are opened, that is, their edges are read. A hub in both rims stays
unopened as long as opening all items around it costs less.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from concord_graph.ports import Hop, Reads, Walk
from concord_graph.usecases.read.path_listing import FoundPath, Known, Listing, Ways

MOST_EDGES = 100_000
_CAPS = (1_000, MOST_EDGES + 1)
_AT_ONCE = 1_000  # items asked about in one statement, before the next look at the clock


@dataclass(frozen=True, slots=True)
class FoundPaths:
    """Paths in order, and whether the search stopped at its bound."""

    paths: tuple[FoundPath, ...]
    truncated: bool


class _Cut(Exception):
    """The search would read too many edges, or has no time left."""


@dataclass(slots=True)
class _Side:
    """The search from one end: items' distances, the edges read, and the opened items."""

    origin: str
    walk: Walk
    opened: set[str]
    degrees: dict[str, int]
    distance: dict[str, int] = field(init=False)
    onward: Ways = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.distance = {self.origin: 0}

    def rim(self, other: str) -> dict[int, list[str]]:
        """Return the items that are not opened, by distance; `other`, the other end, never is."""
        rim: dict[int, list[str]] = {}
        for item, distance in self.distance.items():
            if item not in self.opened and item != other:
                rim.setdefault(distance, []).append(item)
        return rim

    def add(self, source: str, target: str, hop: Hop) -> None:
        """Add an edge that leads away from this end, and update the distances beyond it."""
        self.onward[source].append((target, hop))
        if self.distance.get(source, math.inf) + 1 >= self.distance.get(target, math.inf):
            return
        nearer = deque([(target, self.distance[source] + 1)])
        while nearer:
            item, distance = nearer.popleft()
            if distance < self.distance.get(item, math.inf):
                self.distance[item] = distance
                nearer.extend((beyond, distance + 1) for beyond, _ in self.onward.get(item, ()))


@dataclass(frozen=True, slots=True)
class _Gap:
    """Where the shortest possible paths with an unread edge leave one rim and enter the other.

    Items that are not reached yet are at least `beyond_near` edges from the start and `beyond_far`
    edges from the end.
    """

    length: int
    leaving: list[str]
    entering: list[str]
    beyond_near: int
    beyond_far: int


@dataclass(frozen=True, slots=True)
class _Opening:
    """The items to open, whose edges are to be read, on either side."""

    near: list[str]
    far: list[str]


class _Search:
    """The searches from both ends, the edges that they read, and how many these are."""

    def __init__(
        self, ends: tuple[str, str], walk: Walk, max_depth: int, out_of_time: Callable[[], bool]
    ) -> None:
        backward = replace(walk, outgoing=walk.incoming, incoming=walk.outgoing)
        self.near = _Side(ends[0], walk, set(), {})
        self.far = _Side(ends[1], backward, set(), {})
        if walk.outgoing and walk.incoming:  # an opened item is opened for both
            self.far.opened, self.far.degrees = self.near.opened, self.near.degrees
        self._max_depth = max_depth
        self._out_of_time = out_of_time
        self._known: set[str] = set()
        self._read = 0

    def known(self) -> Known:
        """Return the edges that were read."""
        near, far = self.near, self.far
        return Known(near.origin, far.origin, near.onward, far.distance)

    def gap(self) -> _Gap | None:
        """Return the nearest parts of the two rims; None if every path has been read."""
        near, far = self.near.rim(self.far.origin), self.far.rim(self.near.origin)
        if not near or not far:
            return None
        beyond = min(near) + 1, min(far) + 1
        gaps = [
            _Gap(i + 1 + j, leaving, entering, *beyond)
            for i, leaving in near.items()
            for j, entering in far.items()
            if len(leaving) > 1 or leaving != entering
        ]
        return min(gaps, key=lambda gap: gap.length, default=None)

    async def close(self, tx: Reads, gap: _Gap) -> None:
        """Open the items that separate the two parts of the rims.

        Raises:
            _Cut: that would read too many edges, or takes too long.
        """
        opening = await self._cheapest(tx, gap)
        await self._open(tx, self.near, opening.near, gap)
        await self._open(tx, self.far, opening.far, gap)

    async def _cheapest(self, tx: Reads, gap: _Gap) -> _Opening:
        """Return the items whose opening reads the fewest edges."""
        opening = _Opening(gap.leaving, gap.entering)
        for cap in _CAPS:
            few, many = sorted(
                ((self.near, gap.leaving), (self.far, gap.entering)), key=lambda one: len(one[1])
            )
            costs = await self._costs(tx, *few, cap)
            is_sure = max(costs.values()) < cap
            if is_sure and sum(costs.values()) <= 2 * len(many[1]):  # asking costs as much
                return (
                    _Opening(gap.leaving, []) if few[0] is self.near else _Opening([], gap.entering)
                )
            others = await self._costs(tx, *many, cap)
            near, far = (costs, others) if few[0] is self.near else (others, costs)
            opening, is_sure = _cheapest(gap, near, far, cap)
            if is_sure:
                break
        return opening

    async def _costs(self, tx: Reads, side: _Side, items: list[str], cap: int) -> dict[str, int]:
        """Return each item's number of edges; one of `cap` or more may be too small."""
        asked = [item for item in items if side.degrees.get(item, 0) in (0, *_CAPS)]
        asked = [item for item in asked if side.degrees.get(item, 0) < cap]
        for some in _slices(asked):
            self._look()
            side.degrees |= await tx.degrees(some, side.walk, cap)
        return {item: side.degrees[item] for item in items}

    async def _open(self, tx: Reads, side: _Side, items: list[str], gap: _Gap) -> None:
        for some in _slices(items):
            async with aclosing(tx.hops(some, side.walk)) as batches:
                async for batch in batches:
                    self._read += len(batch)
                    self._look()
                    self._take(batch, gap)
        side.opened.update(items)

    def _look(self) -> None:
        if self._read > MOST_EDGES or self._out_of_time():
            raise _Cut

    def _take(self, hops: Iterable[Hop], gap: _Gap) -> None:
        """Keep the edges that can be on a path of the wanted length, and drop the others."""
        near, far = self.near, self.far
        for hop in hops:
            if hop.id in self._known:
                continue
            for source, target in _ways(hop, near.walk):
                past = min(near.distance.get(source, math.inf), gap.beyond_near)
                left = min(far.distance.get(target, math.inf), gap.beyond_far)
                if past + 1 + left <= self._max_depth:
                    self._known.add(hop.id)
                    near.add(source, target, hop)
                    far.add(target, source, hop)


def _ways(hop: Hop, walk: Walk) -> Iterable[tuple[str, str]]:
    if hop.source_id != hop.target_id:  # no simple path has a loop
        if walk.outgoing:
            yield hop.source_id, hop.target_id
        if walk.incoming:
            yield hop.target_id, hop.source_id


def _slices(items: list[str]) -> Iterable[list[str]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))


def _cheapest(
    gap: _Gap, near: Mapping[str, int], far: Mapping[str, int], cap: int
) -> tuple[_Opening, bool]:
    """Return the items that separate two rims for the fewest edges, and whether that is sure.

    Each item of one rim must be separated from each other item of the other rim: by opening one
    whole rim, or both rims without an item that is in both.
    """
    openings = [_Opening(gap.leaving, []), _Opening([], gap.entering)]
    if shared := near.keys() & far.keys():
        spared = max(shared, key=lambda item: near[item] + far[item])
        openings.append(
            _Opening(
                [item for item in gap.leaving if item != spared],
                [item for item in gap.entering if item != spared],
            )
        )

    def edges(opening: _Opening) -> list[int]:
        return [*(near[item] for item in opening.near), *(far[item] for item in opening.far)]

    best = min(openings, key=lambda opening: sum(edges(opening)))
    return best, max(edges(best), default=0) < cap


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
    """Return up to `max_paths` simple paths of 1 to `max_depth` edges.

    The search is cut if it would read more than MOST_EDGES edges, follow too many partial paths at
    once, or has no time left. The paths it then returns are still the first of all: no path with an
    unread edge would come before them.
    """
    if start_id == end_id:
        return FoundPaths((), truncated=False)
    search = _Search((start_id, end_id), walk, max_depth, out_of_time)
    paths: list[FoundPath] = []
    length = 1
    while True:
        gap = search.gap()
        settled = max_depth if gap is None else min(gap.length - 1, max_depth)
        cut = _list(search.known(), range(length, settled + 1), paths, max_paths, out_of_time)
        if cut or len(paths) >= max_paths:
            return FoundPaths(tuple(paths), truncated=cut)
        length = settled + 1
        if gap is None or length > max_depth:
            return FoundPaths(tuple(paths), truncated=False)
        try:
            await search.close(tx, gap)
        except _Cut:
            return FoundPaths(tuple(paths), truncated=True)


def _list(
    known: Known,
    lengths: range,
    paths: list[FoundPath],
    max_paths: int,
    out_of_time: Callable[[], bool],
) -> bool:
    """Add the paths of these lengths; return whether the listing was cut."""
    if not lengths or known.start not in known.ways:
        return False
    listing = Listing(known, lengths[-1], out_of_time)
    for length in lengths:
        found, cut = listing.of_length(length, max_paths - len(paths))
        paths += found
        if cut or len(paths) >= max_paths:
            return cut
    return False
