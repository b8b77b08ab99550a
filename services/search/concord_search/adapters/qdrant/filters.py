"""A scope as a filter of Qdrant, pushed into every branch of a query (spec S1, S2, T4).

A transport translates these into its own types; they mean the same as Qdrant's of these names.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from concord_search.adapters.qdrant import payload
from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.domain.errors import FilterUnsupported
from concord_search.domain.filters import Edges, MemoryFilter, Scope, Superseded
from concord_search.domain.instants import PRESENT, Micros

PointId = int


@dataclass(frozen=True, slots=True)
class MatchAny:
    """The field holds one of these numbers."""

    field: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchWord:
    """The field is this word."""

    field: str
    word: str


@dataclass(frozen=True, slots=True)
class Range:
    """The field holds a number within all bounds that are not None."""

    field: str
    gt: Micros | None = None
    gte: Micros | None = None
    lt: Micros | None = None
    lte: Micros | None = None


@dataclass(frozen=True, slots=True)
class HasId:
    """The point is one of these."""

    points: frozenset[PointId]


@dataclass(frozen=True, slots=True)
class Filter:
    """All of `must`, none of `must_not`, and at least one of `should` unless that is empty."""

    must: tuple["Condition", ...] = ()
    must_not: tuple["Condition", ...] = ()
    should: tuple["Condition", ...] = ()


Condition = MatchAny | MatchWord | Range | HasId | Filter


def of_scope(scope: Scope, key: SpaceKey, columns: Columns) -> Filter:
    """The filter of a scope: its record time, valid time, lineage, and the request's filter.

    Reads the columns, whose lock the caller holds. Raises `FilterUnsupported` for a node whose
    items are not known.
    """
    wanted = _Conditions(scope, key, columns)
    for condition in _hidden(scope):
        wanted.must_not.append(condition)
    if scope.edges is not Edges.ALL:
        wanted.must_not.append(Range("edge", gt=scope.edges))
    wanted.demand(scope.filter)
    return wanted.filter()


def _hidden(scope: Scope) -> list[Range]:
    if scope.as_of != PRESENT:
        return [*_unknown(scope), *_not_holding(scope)]
    now = scope.now
    if scope.superseded is Superseded.HISTORY:
        return [_by("closed", NEVER_LATER)]
    dated = scope.filter.names_valid_time
    if scope.superseded is Superseded.INCLUDE:
        by_time = [_by("gone", now), _after("opens", now)]
        return [_by("closed", NEVER_LATER)] if dated else by_time
    if dated:
        return [_by("closed", NEVER_LATER), _by("sup", now)]
    return [_by("ended", now), _after("opens", now)]


def _unknown(scope: Scope) -> list[Range]:
    """Conditions of states not known at the scope's record time; one state a memory is left."""
    record = scope.record
    if record is None:
        return [_by("closed", NEVER_LATER)]
    return [_after("created", record), _after("since", record), _by("closed", record)]


def _not_holding(scope: Scope) -> list[Range]:
    """Conditions of states that did not hold at the scope's valid time."""
    if scope.superseded is Superseded.HISTORY:
        return []
    held = [_after("from", scope.valid), _by("stated", scope.valid)]
    hidden = [] if scope.filter.names_valid_time else held
    return hidden if scope.superseded is Superseded.INCLUDE else [*hidden, _by("sup", scope.valid)]


NEVER_LATER: Micros = (1 << 53) - 1
"""After every record time; the engine compares instants as doubles, which are exact up to it."""


def rows_of(ids: Collection[str], scope: Scope, key: SpaceKey, columns: Columns) -> list[int]:
    """The rows of some items that a scope may admit: of now the newest, of then every one.

    Reads the columns, whose lock the caller holds.
    """
    items = {key.item(each) for each in ids}
    if scope.record is not None:
        return columns.rows_of(items)
    return [row for item in items if (row := columns.newest(item)) is not None]


def known_at(scope: Scope) -> Filter | None:
    """The states known at the scope's record time, one a memory; None: it asks about now."""
    return None if scope.record is None else Filter(must_not=tuple(_unknown(scope)))


def among(chosen: Iterable[PointId], wanted: Filter | None = None) -> Filter:
    """Only these points, and of them only those that pass `wanted`."""
    only = HasId(frozenset(chosen))
    return Filter(must=(only,) if wanted is None else (only, wanted))


class _Conditions:
    """Collects the conditions of one filter."""

    def __init__(self, scope: Scope, key: SpaceKey, columns: Columns) -> None:
        self._scope = scope
        self._key = key
        self._columns = columns
        self.must: list[Condition] = []
        self.must_not: list[Condition] = []

    def filter(self) -> Filter:
        return Filter(tuple(self.must), tuple(self.must_not))

    def demand(self, wanted: MemoryFilter) -> None:
        for name, values in (
            ("kind", map(str, wanted.kinds)),
            ("edge_type", map(str, wanted.edge_types)),
            ("importance", map(str, wanted.importances)),
            ("origin", map(str, wanted.origins)),
            ("words_origin", map(str, wanted.words_origins)),
            ("tag", wanted.tags_any),
            ("concept", wanted.concepts),
        ):
            self._any(name, values)
        for name, value in (
            ("domain", wanted.domain),
            ("source", wanted.source),
            ("session", wanted.session_id),
            ("category", wanted.category),
            ("principal", wanted.principal),
            ("trust", str(wanted.min_trust or "")),
        ):
            self._any(name, [value] if value else [])
        for tag in wanted.tags_all:
            self._any("tag", [tag])
        for each in wanted.properties:
            self._any("property", [each])
        if wanted.tags_none:
            self.must_not.append(self._one_of("tag", wanted.tags_none))
        if wanted.node:
            self.must.append(self._at_node(wanted))
        self._times(wanted)
        self._nested(wanted)

    def _at_node(self, wanted: MemoryFilter) -> HasId:
        if wanted.about is None:  # asked of the index alone
            raise FilterUnsupported("filter.node", "this call does not ask graph what is at a node")
        return HasId(frozenset(rows_of(wanted.about, self._scope, self._key, self._columns)))

    def _any(self, field: str, values: Iterable[str]) -> None:
        if listed := list(values):
            self.must.append(self._one_of(field, listed))

    def _one_of(self, field: str, values: Iterable[str]) -> MatchAny:
        numbers = tuple(self._key.number(field, value) for value in values)
        return MatchAny(payload.FACETS, numbers)

    def _times(self, wanted: MemoryFilter) -> None:
        if wanted.created_since is not None:
            self.must.append(Range("created", gte=wanted.created_since))
        if wanted.created_before is not None:
            self.must.append(Range("created", lt=wanted.created_before))
        if wanted.valid_before is not None:
            self.must.append(Range("from", lt=wanted.valid_before))
        if wanted.valid_since is not None:
            self.must_not.append(_by("until", wanted.valid_since))

    def _nested(self, wanted: MemoryFilter) -> None:
        for part in wanted.all_of:
            self.must.append(self._part(part))
        if wanted.any_of:
            self.must.append(Filter(should=tuple(map(self._part, wanted.any_of))))
        for part in wanted.none_of:
            self.must_not.append(self._part(part))

    def _part(self, wanted: MemoryFilter) -> Filter:
        inner = _Conditions(self._scope, self._key, self._columns)
        inner.demand(wanted)
        return inner.filter()


def _by(field: str, instant: Micros) -> Range:
    return Range(field, lte=instant)


def _after(field: str, instant: Micros) -> Range:
    return Range(field, gt=instant)
