"""The points of one version of a space in a shard that it shares with others, by row.

This is the one place where a space's calls of a shard are made: each carries the space's filter,
and words weigh by the texts of the space alone. A point's id is the tenant's number and its row:
see services/decisions/0124.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from concord_search.adapters.qdrant.filters import Condition, Filter, HasId, MatchWord, Range
from concord_search.adapters.qdrant.payload import TENANT, WRITE, Payload
from concord_search.adapters.qdrant.shard import (
    WORDS,
    Nearest,
    Points,
    Scored,
    Shard,
    Vectors,
    Weighing,
)
from concord_search.domain.candidates import Ints

T = TypeVar("T", int, Ints)

ROW_BITS = 32
_ROW = (1 << ROW_BITS) - 1

WATERMARK = _ROW
"""The row of the point that says how far the index has followed: no memory has it."""


def word_of(number: int) -> str:
    """A tenant's number as its points have it."""
    return f"{number:x}"


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant's points. A point is named by its row, here and in filters.

    `alone`: the shard has no other tenant, so that a query need not filter, which takes a third of
    its time; whatever it finds of another one, which came meanwhile, is left out. `write`: the
    number with which changed points are marked; 0 = they are not.
    """

    shard: Shard
    number: int
    alone: bool = False
    write: int = field(default=0, compare=False)

    @property
    def own(self) -> Filter:
        """The filter of this tenant's points."""
        return Filter(must=(MatchWord(TENANT, word_of(self.number)),))

    def upsert(self, points: Points) -> None:
        """As the shard's."""
        whose = {TENANT: word_of(self.number), **self._marked}
        self.shard.upsert(
            [(self._point(row), vectors, values | whose) for row, vectors, values in points]
        )

    def set_payload(self, row: int, values: Payload) -> None:
        """As the shard's."""
        self.shard.set_payload(self._point(row), {**values, **self._marked})

    @property
    def _marked(self) -> Payload:
        return {WRITE: self.write} if self.write else {}

    def delete(self, rows: Sequence[int]) -> None:
        """As the shard's."""
        self.shard.delete([self._point(row) for row in rows])

    def query(self, queries: Sequence[Nearest]) -> list[Scored]:
        """As the shard's, among this tenant's points."""
        found = self.shard.query([self._own(each) for each in queries])
        return [self._by_row(each) for each in found]

    def weigh(self, query: Weighing) -> Scored:
        """As the shard's, among this tenant's points."""
        branches = [self._own(each) for each in query.branches]
        return self._by_row(self.shard.weigh(replace(query, branches=branches)))

    def vectors_of(self, rows: Sequence[int]) -> Mapping[int, Vectors]:
        """As the shard's."""
        found = self.shard.vectors_of([self._point(row) for row in rows])
        return {point & _ROW: vectors for point, vectors in found.items()}

    def payload_of(self, row: int) -> Payload:
        """As the shard's."""
        return self.shard.payload_of(self._point(row))

    def scroll(self) -> Iterator[tuple[int, Payload]]:
        """Every row with its payload, without the watermark."""
        return self._rows(self.own)

    def written_after(self, write: int) -> Iterator[tuple[int, Payload]]:
        """The rows that were changed after a write, ascending, each with its payload."""
        return self._rows(Filter(must=(*self.own.must, Range(WRITE, gt=write))))

    def _rows(self, wanted: Filter) -> Iterator[tuple[int, Payload]]:
        for point, values in self.shard.scroll(wanted):
            if point & _ROW != WATERMARK:
                yield point & _ROW, values

    def count(self) -> int:
        """The number of points, with the watermark."""
        return self.shard.count(self.own)

    def _point(self, row: int) -> int:
        return self.number << ROW_BITS | row

    def _own(self, query: Nearest) -> Nearest:
        wanted = self._by_point(query.filter)
        if self.alone:
            return replace(query, filter=wanted)
        own = replace(wanted, must=(*self.own.must, *wanted.must))
        return replace(query, filter=own, corpus=self.own if query.using == WORDS else None)

    def _by_point(self, wanted: Filter) -> Filter:
        parts = (wanted.must, wanted.must_not, wanted.should)
        return Filter(*(tuple(map(self._condition, each)) for each in parts))

    def _condition(self, wanted: Condition) -> Condition:
        match wanted:
            case HasId(rows):
                return HasId(frozenset(map(self._point, rows)))
            case Filter():
                return self._by_point(wanted)
        return wanted

    def _by_row(self, found: Scored) -> Scored:
        own = number_of(found.points) == self.number
        return Scored(found.points[own] & _ROW, found.scores[own])


def number_of(point: T) -> T:
    """The number of the tenant that has a point, or of those that have some."""
    return point >> ROW_BITS
