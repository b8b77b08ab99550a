"""Spans of the calendar: days, weeks, months, seasons and years, near a day or within one another.

All are of the Gregorian calendar in UTC; weeks begin on Monday, seasons are those of the northern
hemisphere by whole months (spring begins in March).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum

FIRST_YEAR, LAST_YEAR = 2, 9990
_DAY = timedelta(days=1)

GRAINS = ("hour", "day", "weekend", "week", "month", "quarter", "season", "half", "year", "decade")
"""From the finest to the coarsest."""


class Which(Enum):
    """Which of the instances of what recurs is meant."""

    LATEST = "latest"
    """The last one that has begun."""
    LAST = "last"
    """The last one that is over."""
    THIS = "this"
    """That of the current year, or of the current week."""
    NEXT = "next"
    """The first one that has not begun."""
    COMING = "coming"
    """The first one that is not over."""


@dataclass(frozen=True, slots=True)
class Period:
    """A half-open span of time. `fixed`: it does not depend on today."""

    begin: datetime
    end: datetime
    grain: str
    fixed: bool = False

    def third(self, number: int) -> Period:
        """Return its first, second or last third, cut between months or days."""
        return self._cut(number, 3)

    def half(self, number: int) -> Period:
        """Return its first or second half, cut between months or days."""
        return self._cut(number, 2)

    def _cut(self, number: int, parts: int) -> Period:
        if self.end - self.begin < _DAY * parts:
            return self  # "early tomorrow": days are whole
        begin, end = self._edge(number, parts), self._edge(number + 1, parts)
        return replace(self, begin=begin, end=end)

    def _edge(self, number: int, parts: int) -> datetime:
        if number == parts:
            return self.end
        months = (self.end.year - self.begin.year) * 12 + self.end.month - self.begin.month
        if self.begin.day == 1 and months >= parts and months % parts == 0:
            return month_away(self.begin, number * months // parts)
        return self.begin + _DAY * ((self.end - self.begin).days * number // parts)


@dataclass(frozen=True, slots=True)
class Recurring:
    """What comes back: each year (`month`, `day`, `days` or `months` long) or each week."""

    grain: str
    month: int = 0
    day: int = 1
    months: int = 0
    days: int = 0
    weekday: int = 0
    week: int = 0
    """That of the ISO calendar."""

    def resolved(self, which: Which, today: datetime) -> Period | None:
        """Return the instance that is meant, seen from today."""
        day = day_of(today)
        if which is Which.THIS:
            whole = span_of("week" if self.weekday else "year", 0, day)
            found = self.within(whole)
            return replace(found, fixed=False) if found else None
        some = [*self._around(day)]
        if which is Which.NEXT:
            return next((each for each in some if each.begin > day), None)
        if which is Which.COMING:
            return next((each for each in some if each.end > day), None)
        over = which is Which.LAST
        past = [e for e in some if (e.end if over else e.begin) <= day]
        return past[-1] if past else None

    def within(self, whole: Period) -> Period | None:
        """Return the first instance that begins within a period."""
        later = (each for each in self._around(whole.begin) if whole.begin <= each.begin)
        found = next(later, None)
        if found is None or found.begin >= whole.end:
            return None
        return replace(found, fixed=whole.fixed)

    def since(self, begin: datetime) -> Period | None:
        """Return the first instance that is not over at an instant."""
        return next((each for each in self._around(begin) if each.end > begin), None)

    def _around(self, day: datetime) -> Iterator[Period]:
        """Yield the instances near a day, in order."""
        if self.weekday:
            first = day_of(day) - _DAY * (day.isoweekday() - self.weekday + 7)
            for week in range(4):
                begin = first + _DAY * 7 * week
                yield Period(begin, begin + _DAY * max(1, self.days), self.grain)
            return
        reach = 8 if (self.month, self.day) == (2, 29) else 1
        for year in range(day.year - reach, day.year + reach + 1):
            if FIRST_YEAR < year < LAST_YEAR and (found := self.of_year(year)):
                yield replace(found, fixed=False)

    def of_year(self, year: int) -> Period | None:
        """Return the instance that begins in a year; None: there is no such day."""
        if self.weekday:
            return None
        try:
            if self.week:
                begin = datetime.fromisocalendar(year, self.week, 1).replace(tzinfo=UTC)
            else:
                begin = datetime(year, self.month, self.day, tzinfo=UTC)
        except ValueError:
            return None
        end = month_away(begin, self.months) if self.months else begin + _DAY * self.days
        return Period(begin, end, self.grain, fixed=True)


def day_of(instant: datetime) -> datetime:
    """Return the first instant of a day."""
    return instant.replace(hour=0, minute=0, second=0, microsecond=0)


def month_away(first: datetime, away: int) -> datetime:
    """Return the first day of the month that is so many months away."""
    months = first.year * 12 + first.month - 1 + away
    year = min(max(FIRST_YEAR, months // 12), LAST_YEAR)
    return first.replace(year=year, month=months % 12 + 1, day=1)


def span_of(grain: str, away: int, now: datetime) -> Period:
    """Return the hour, day, weekend, week, month, quarter, year or decade that is so far away."""
    day = day_of(now)
    if grain == "hour":
        hour = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=away)
        return Period(hour, hour + timedelta(hours=1), grain)
    if grain == "day":
        first = day + _DAY * away
        return Period(first, first + _DAY, grain)
    if grain in ("week", "weekend"):
        first = day - _DAY * (day.isoweekday() - 1) + _DAY * 7 * away
        is_weekend = grain == "weekend"
        return Period(first + _DAY * 5 if is_weekend else first, first + _DAY * 7, grain)
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}[grain]
    place = (day.year * 12 + day.month - 1) // months + away
    first = month_away(datetime(1, 1, 1, tzinfo=UTC), place * months - 12)
    return Period(first, month_away(first, months), grain)


def whole_days(year: int | None, month: int | None = None, day: int | None = None) -> Period | None:
    """Return a year, month or day; None: there is no such day."""
    if year is None or not FIRST_YEAR < year < LAST_YEAR:
        return None
    try:
        first = datetime(year, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    if day is not None:
        return Period(first, first + _DAY, "day", fixed=True)
    months = 1 if month else 12
    return Period(first, month_away(first, months), "month" if month else "year", fixed=True)


def rolling(unit: str, number: int, now: datetime) -> Period:
    """Return the time from so many units ago until the end of today; or, if negative, ahead."""
    day = day_of(now)
    edge = moved(day, unit, -number)
    if number >= 0:
        return Period(edge, day + _DAY, unit)
    return Period(day, edge + _DAY, unit)


def moved(day: datetime, unit: str, number: int) -> datetime:
    """Return the day that is so many units away from a day."""
    if unit in ("hour", "day", "week", "weekend"):
        days = {"hour": 1, "day": 1, "week": 7, "weekend": 7}[unit]
        return day + _DAY * days * max(-100_000, min(100_000, number))
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit] * number
    first = month_away(day, months)
    last = (month_away(first, 1) - _DAY).day
    return first.replace(day=min(day.day, last))
