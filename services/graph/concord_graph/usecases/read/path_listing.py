"""Listing the simple paths of one length in order: heaviest first, then by edge ids (G10).

Best-first search: a partial path is ranked by its weight times an upper bound for the rest of the
way. The bounds are computed backwards from the end, so few partial paths besides the answer's are
followed. Weights are scaled to whole numbers: products are exact, and equal paths compare equal.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from concord_graph.ports import Hop

MOST_BEGINNINGS = 200_000

Ways = dict[str, list[tuple[str, Hop]]]
"""Item id -> (next item, edge) for each edge that leads on from it."""


@dataclass(frozen=True, slots=True)
class FoundPath:
    """Edges in walking order, with the product of their weights."""

    edge_ids: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Known:
    """The edges read so far, in walking direction, and each item's distance from the end."""

    start: str
    end: str
    ways: Ways
    to_end: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Beginning:
    """A partial path, ordered by `most`, the bound of the whole path's scaled weight."""

    most: int
    edge_ids: tuple[str, ...]
    items: tuple[str, ...]
    weight: int
    product: float

    def __lt__(self, other: _Beginning) -> bool:
        return (-self.most, self.edge_ids) < (-other.most, other.edge_ids)


class Listing:
    """Lists the paths of one length after another, over the same edges."""

    def __init__(self, known: Known, longest: int, out_of_time: Callable[[], bool]) -> None:
        self._start = known.start
        self._out_of_time = out_of_time
        self._ways = _useful(known, longest)
        self._scale = max(
            (hop.weight.as_integer_ratio()[1] for w in self._ways.values() for _, hop in w),
            default=1,
        )
        self._rest: list[dict[str, int]] = [{known.end: 1}]

    def of_length(self, length: int, most: int) -> tuple[list[FoundPath], bool]:
        """Return the first `most` simple paths of exactly `length` edges.

        Also return whether the list was cut: more than MOST_BEGINNINGS partial paths waited at
        once, or no time is left.
        """
        queue = [_Beginning(1, (), (self._start,), 1, 1.0)]
        paths: list[FoundPath] = []
        followed = 0
        while len(self._rest) < length:
            if self._out_of_time():
                return [], True
            self._rest.append(self._one_further())
        while queue and len(paths) < most:
            first = heapq.heappop(queue)
            if len(first.edge_ids) == length:
                paths.append(FoundPath(first.edge_ids, first.product))
                continue
            self._follow(first, self._rest[length - len(first.edge_ids) - 1], queue)
            followed += 1
            if len(queue) > MOST_BEGINNINGS or (followed % 256 == 0 and self._out_of_time()):
                return paths, True
        return paths, False

    def _follow(self, first: _Beginning, rest: Mapping[str, int], queue: list[_Beginning]) -> None:
        for beyond, hop in self._ways.get(first.items[-1], ()):
            if beyond in rest and beyond not in first.items:
                weight = first.weight * _whole(hop.weight, self._scale)
                longer = _Beginning(
                    weight * rest[beyond],
                    (*first.edge_ids, hop.id),
                    (*first.items, beyond),
                    weight,
                    first.product * hop.weight,
                )
                heapq.heappush(queue, longer)

    def _one_further(self) -> dict[str, int]:
        """Return by item the heaviest walk to the end, one edge longer than the last result.

        A walk may meet an item twice, so its weight is an upper bound for simple paths.
        """
        before, rest = self._rest[-1], dict[str, int]()
        for item, onward in self._ways.items():
            found = [
                _whole(hop.weight, self._scale) * before[beyond]
                for beyond, hop in onward
                if beyond in before
            ]
            if found and item != self._start:
                rest[item] = max(found)
        return rest


def _whole(weight: float, scale: int) -> int:
    """Return a weight times `scale`, a power of two that makes it a whole number."""
    numerator, denominator = weight.as_integer_ratio()
    return numerator * (scale // denominator)


def _useful(known: Known, longest: int) -> Ways:
    """Return the edges that a path can take: near enough to both ends, and into no dead end."""
    ways: Ways = {}
    frontier, past = [known.start], 0
    while frontier and past < longest:
        past += 1
        for item in frontier:
            ways[item] = [
                (beyond, hop)
                for beyond, hop in known.ways.get(item, ())
                if past + known.to_end.get(beyond, longest) <= longest
                and beyond != known.start
                and (beyond == known.end or not _turns_back(known.ways.get(beyond, ()), item))
            ]
        met = {beyond for item in frontier for beyond, _ in ways[item]}
        frontier = [item for item in met if item not in ways and item != known.end]
    return _without_dead_ends(ways, {known.start, known.end})


def _turns_back(onward: Sequence[tuple[str, Hop]], item: str) -> bool:
    """Return whether the only way on leads back to the item, as from a hub's leaf."""
    return len(onward) <= 1 and all(beyond == item for beyond, _ in onward)


def _without_dead_ends(ways: Ways, ends: set[str]) -> Ways:
    """Leave out items with a single neighbour, repeatedly, until there are none."""
    beside: dict[str, set[str]] = defaultdict(set)
    for item, onward in ways.items():
        for beyond, _ in onward:
            beside[item].add(beyond)
            beside[beyond].add(item)
    dead = [item for item, others in beside.items() if len(others) == 1 and item not in ends]
    gone: set[str] = set()
    while dead:
        item = dead.pop()
        gone.add(item)
        for other in beside[item]:
            beside[other].discard(item)
            if len(beside[other]) == 1 and other not in ends:
                dead.append(other)
    if not gone:
        return ways
    return {
        item: [(beyond, hop) for beyond, hop in onward if beyond not in gone]
        for item, onward in ways.items()
        if item not in gone
    }
