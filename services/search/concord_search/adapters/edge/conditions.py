"""A scope as conditions of the engine, pushed into every branch of a query (spec S1, S2, T4)."""

from collections.abc import Iterable

import qdrant_edge as qdrant

from concord_search.adapters.edge import payload
from concord_search.adapters.edge.keys import SpaceKey
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.domain.instants import PRESENT, Micros

Condition = (
    qdrant.FieldCondition
    | qdrant.IsEmptyCondition
    | qdrant.IsNullCondition
    | qdrant.HasIdCondition
    | qdrant.HasVectorCondition
    | qdrant.NestedCondition
    | qdrant.Filter
)


def of_scope(scope: Scope, key: SpaceKey) -> qdrant.Filter:
    """Everything that restricts the answer: record time, valid time, lineage, the filter."""
    wanted = _Conditions(key)
    for condition in _hidden(scope):
        wanted.must_not.append(condition)
    wanted.demand(scope.filter)
    return wanted.filter()


def _hidden(scope: Scope) -> list[qdrant.FieldCondition]:
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


def _unknown(scope: Scope) -> list[qdrant.FieldCondition]:
    """What was not known at the record time asked about: one state of a memory is left."""
    record = scope.record
    if record is None:
        return [_by("closed", NEVER_LATER)]
    return [_after("created", record), _after("since", record), _by("closed", record)]


def _not_holding(scope: Scope) -> list[qdrant.FieldCondition]:
    """What did not hold at the valid time asked about."""
    if scope.superseded is Superseded.HISTORY:
        return []
    held = [_after("from", scope.valid), _by("stated", scope.valid)]
    hidden = [] if scope.filter.names_valid_time else held
    return hidden if scope.superseded is Superseded.INCLUDE else [*hidden, _by("sup", scope.valid)]


NEVER_LATER: Micros = (1 << 53) - 1
"""Past every record time; the engine compares instants as doubles, which are exact so far."""


def among(points: Iterable[int], wanted: qdrant.Filter | None = None) -> qdrant.Filter:
    """Only these points, and of them only what is wanted."""
    only: list[Condition] = [qdrant.HasIdCondition(set(points))]
    return qdrant.Filter(must=only if wanted is None else [*only, wanted])


class _Conditions:
    """Collects the conditions of one filter."""

    def __init__(self, key: SpaceKey) -> None:
        self._key = key
        self.must: list[Condition] = []
        self.must_not: list[Condition] = []

    def filter(self) -> qdrant.Filter:
        return qdrant.Filter(must=self.must or None, must_not=self.must_not or None)

    def demand(self, wanted: MemoryFilter) -> None:
        for name, values in (
            ("kind", map(str, wanted.kinds)),
            ("edge_type", map(str, wanted.edge_types)),
            ("importance", map(str, wanted.importances)),
            ("tag", wanted.tags_any),
            ("concept", wanted.concepts),
        ):
            self._any(name, values)
        for name, value in (
            ("domain", wanted.domain),
            ("source", wanted.source),
            ("session", wanted.session_id),
            ("category", wanted.category),
            ("trust", str(wanted.min_trust or "")),
        ):
            self._any(name, [value] if value else [])
        for tag in wanted.tags_all:
            self._any("tag", [tag])
        for each in wanted.properties:
            self._any("property", [each])
        if wanted.tags_none:
            self.must_not.append(self._one_of("tag", wanted.tags_none))
        self._times(wanted)
        self._nested(wanted)

    def _any(self, field: str, values: Iterable[str]) -> None:
        if listed := list(values):
            self.must.append(self._one_of(field, listed))

    def _one_of(self, field: str, values: Iterable[str]) -> qdrant.FieldCondition:
        numbers = [self._key.number(field, value) for value in values]
        return qdrant.FieldCondition(payload.FACETS, match=qdrant.MatchAny(numbers))

    def _times(self, wanted: MemoryFilter) -> None:
        if wanted.created_since is not None:
            self.must.append(_range("created", gte=wanted.created_since))
        if wanted.created_before is not None:
            self.must.append(_range("created", lt=wanted.created_before))
        if wanted.valid_before is not None:
            self.must.append(_range("from", lt=wanted.valid_before))
        if wanted.valid_since is not None:
            self.must_not.append(_by("until", wanted.valid_since))

    def _nested(self, wanted: MemoryFilter) -> None:
        for part in wanted.all_of:
            self.must.append(self._part(part))
        if wanted.any_of:
            self.must.append(qdrant.Filter(should=[self._part(part) for part in wanted.any_of]))
        for part in wanted.none_of:
            self.must_not.append(self._part(part))

    def _part(self, wanted: MemoryFilter) -> qdrant.Filter:
        inner = _Conditions(self._key)
        inner.demand(wanted)
        return inner.filter()


def _by(field: str, instant: Micros) -> qdrant.FieldCondition:
    return _range(field, lte=instant)


def _after(field: str, instant: Micros) -> qdrant.FieldCondition:
    return _range(field, gt=instant)


def _range(field: str, **bounds: Micros) -> qdrant.FieldCondition:
    return qdrant.FieldCondition(field, range=qdrant.RangeFloat(**bounds))
