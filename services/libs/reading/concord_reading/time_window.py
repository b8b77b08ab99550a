"""A phrase that names a time, and the window of time that it means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum

from concord_reading.periods import Period, day_of, moved, span_of
from concord_reading.tokens import Span

Micros = int
"""Microseconds since 1970-01-01 UTC."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Relation(Enum):
    """How a window lies beside what it is named by."""

    AT = "at"
    BEFORE = "before"
    AFTER = "after"
    SINCE = "since"
    UNTIL = "until"


@dataclass(frozen=True, slots=True)
class Window:
    """A phrase that names a time, and the half-open interval; a side that is None is open.

    Undated if both are None: then `anchor` is the thing that it is relative to, if any, and
    `of_past` says that it means what no longer holds ("used to"). `fixed`: the interval is that of
    any day on which one asks. `away`: how many units it lies from the anchor. `inner`: of a phrase
    that names a thing, too ("during the trip last year"), the words of the time alone.
    """

    phrase: str
    span: Span
    begin: Micros | None = None
    end: Micros | None = None
    relation: Relation = Relation.AT
    anchor: str = ""
    of_past: bool = False
    fixed: bool = False
    away: tuple[int, str] | None = None
    inner: str = ""

    @property
    def is_dated(self) -> bool:
        """Whether it has an interval."""
        return self.begin is not None or self.end is not None

    @property
    def is_counted(self) -> bool:
        """Whether it is undated, and of several words of its own: "4 years", "every Tuesday"."""
        is_own = not (self.is_dated or self.anchor or self.of_past)
        return is_own and " " in self.phrase

    def beside(self, begin: Micros, end: Micros | None) -> Window:
        """Return it with its interval, now that the time of its anchor is known."""
        if self.away is not None:
            return self.shifted(datetime_of(begin), *self.away)
        if self.relation in (Relation.BEFORE, Relation.UNTIL):
            return replace(self, end=begin)
        return replace(self, begin=begin, end=end if self.relation is Relation.AT else None)

    def shifted(self, edge: datetime, number: int, unit: str) -> Window:
        """Return it as the day, or the time of one unit around the day, so far from an edge.

        With `number` 0: as the unit that begins or ends at the edge ("the week after").
        """
        sign = 1 if self.relation is Relation.AFTER else -1
        if not number:
            day = day_of(edge) + timedelta(days=1) if sign > 0 else day_of(edge)
            first, end = sorted((day, moved(day, unit, sign)))
            return self.over(Period(first, end, unit))
        middle = moved(day_of(edge), unit, sign * number)
        half = timedelta(0)
        if unit not in ("hour", "day"):
            whole = span_of(unit, 0, middle)
            half = (whole.end - whole.begin) / 2
        first, last = day_of(middle - half), day_of(middle + half)
        return self.over(Period(first, last + timedelta(days=1), unit))

    def over(self, period: Period) -> Window:
        """Return it with the interval of a period."""
        return replace(self, begin=micros_of(period.begin), end=micros_of(period.end))


def micros_of(time: datetime) -> Micros:
    """Return an instant in microseconds."""
    return (time - _EPOCH) // _MICROSECOND


def datetime_of(instant: Micros) -> datetime:
    """Return an instant, or one within the years that are read here."""
    try:
        return min(_LAST, max(_FIRST, _EPOCH + timedelta(microseconds=instant)))
    except OverflowError:
        return _LAST if instant > 0 else _FIRST


_FIRST, _LAST = datetime(100, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
