"""Reads periods of the calendar in the words of a text: "the first week of May 2024"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from concord_reading.calendar_names import CalendarNames, Found, at_place
from concord_reading.periods import (
    GRAINS,
    Period,
    Recurring,
    Which,
    day_of,
    moved,
    rolling,
    span_of,
)
from concord_reading.time_words import FEW, Pattern, TimeWords, Word, is_figure

_ROLLING_DAYS = 30
"""Days that "recently" means."""

_WAS = {"en": frozenset({"was", "were"}), "de": frozenset({"war", "waren"})}
"""What was planned for the summer is no coming one."""


DEEPEST = 6
"""So many periods within one another are read: "the first day of the last week of May" has two."""


class Calendar(CalendarNames):
    """The periods that the words of one text name, seen from an instant."""

    def __init__(self, words: Sequence[Word], known: TimeWords, now: datetime) -> None:
        super().__init__(words, known)
        self.now = now
        self._composed: dict[int, Found | None] = {}
        self._single: dict[int, Found | None] = {}
        self._depth = 0
        said = {each.word for each in words}
        is_ahead = bool(said & known.words["future"]) and not said & _WAS[known.language]
        self.usual = Which.COMING if is_ahead else Which.LATEST
        """Which "March" is meant: the last one, or the coming one where something is planned."""

    def period(self, at: int) -> tuple[Period, int] | None:
        """Return the period that is named at a place, the longest reading of its words."""
        found = self.composed(at)
        if found is None:
            return None
        what, end = found
        if isinstance(what, Recurring):
            resolved = what.resolved(self.usual, self.now)
            return (resolved, end) if resolved else None
        return what, end

    def composed(self, at: int) -> Found | None:
        """Return a period or what recurs, with the larger or finer one beside it."""
        if at not in self._composed:
            self._composed[at] = self._compose(at)
        return self._composed[at]

    def _compose(self, at: int) -> Found | None:
        found = self._one(at)
        while found is not None:
            what, end = found
            joint = self.skip(end, "joining", 2)
            other = self._one(joint)
            if other is None and joint > end:
                other = self._one(end)
            both = _within(what, other[0]) if other is not None else None
            if other is None or both is None:
                return found
            found = both, other[1]
        return None

    # -- one of them

    def _one(self, at: int) -> Found | None:
        if at not in self._single:
            if self._depth == DEEPEST or at >= len(self.words):
                return None
            self._depth += 1
            self._single[at] = self._read(at)
            self._depth -= 1
        return self._single[at]

    def _read(self, at: int) -> Found | None:
        word = self.words[at].word
        if word not in self.known.opening and not is_figure(word) and not word.isdecimal():
            return None
        readings = (self.from_table, self.figures, self._part, self._nth, self._turned,
                    self._rolling, self.date, self.quarter, self.named, self.year)  # fmt: skip
        found = [each for read in readings if (each := read(at)) is not None]
        if not found and self.has(at, "article"):
            return self._one(at + 1)
        return max(found, key=lambda each: each[1], default=None)

    def from_table(self, at: int) -> Found | None:
        """Read the phrases that are so far from today."""
        best: Found | None = None
        firsts = [self.word(at)]
        if self.known.number(firsts[0]) is not None:
            firsts.append("n")
        for first in firsts:
            for pattern, away in self.known.table.get(first, ()):
                bound = self._bound(pattern, at)
                if bound is None or (best is not None and best[1] >= bound[0]):
                    continue
                end, number, weekday = bound
                if away.grain == "few":
                    what = Period(*self._days(-FEW[1] - 2, 0), "day")
                elif away.grain == "weekday":
                    what = self._weekday(weekday, away.fixed or 0)
                elif away.fixed is not None:
                    what = span_of(away.grain, away.fixed, self.now)
                else:
                    what = self._away(away.grain, away.sign, number)
                best = what, end
        return best

    def _weekday(self, weekday: int, away: int) -> Period:
        """Return the last (-1) or next (1) such weekday beside today, or that of this week (0)."""
        week = span_of("week", 0, self.now)
        here = moved(week.begin, "day", weekday - 1)
        today = day_of(self.now)
        if (away < 0 and here >= today) or (away > 0 and here <= today):
            here = moved(here, "day", 7 * away)
        return Period(here, moved(here, "day", 1), "day")

    def _bound(self, pattern: Pattern, at: int) -> tuple[int, tuple[int, int], int] | None:
        """Return where a pattern ends, its number and its weekday; None: it does not match."""
        number, weekday, place = (0, 0), 0, at
        for part in pattern:
            word = self.word(place)
            if part == "n":
                place += self._article_before_number(place)
                found = self.known.number(self.word(place))
                if found is None:
                    return None
                number, place = found, place + self._filler_behind(place)
            elif part == "weekday":
                weekday = self.known.known.weekdays.get(word, 0)
                if not weekday:
                    return None
            elif part != word:
                return None
            place += 1
        return place, number, weekday

    def _article_before_number(self, at: int) -> int:
        """Return 1 for the "a" of "a few days" and "a couple of days"."""
        is_article = self.has(at, "one") and self.known.number(self.word(at + 1)) == FEW
        return int(is_article)

    def _filler_behind(self, at: int) -> int:
        """Return 1 for the "of" of "a couple of days"."""
        return int(self.word(at + 1) == "of" and self.known.number(self.word(at)) == FEW)

    def _away(self, grain: str, sign: int, number: tuple[int, int]) -> Period:
        ends = sorted((sign * number[0], sign * number[1]))
        first, last = (span_of(grain, max(-9_000, min(9_000, e)), self.now) for e in ends)
        return replace(first, end=last.end)

    def _days(self, first: int, end: int) -> tuple[datetime, datetime]:
        day = day_of(self.now)
        return moved(day, "day", first), moved(day, "day", end)

    def _part(self, at: int) -> Found | None:
        """Read "early", "mid", "the end of" and halves, of a period."""
        for name, cut in _PARTS.items():
            length = self.known.length(name, self.words, at)
            if not length:
                continue
            begin = at + length
            if self.word(begin) in ("-", "in", "of"):
                begin += 1
            if (whole := self.composed(begin)) is None:
                continue
            what = whole[0]
            if isinstance(what, Recurring):
                resolved = what.resolved(self.usual, self.now)
                if resolved is None:
                    continue
                what = resolved
            return cut(what), whole[1]
        return None

    def _nth(self, at: int) -> Found | None:
        """Read "the first week of May", "the last Monday in 2023" and "the week of May 3"."""
        at += self.has(at, "article")
        ordinal = self.ordinal(at)
        if ordinal is None and not self.has(at, "last"):
            unit = self.known.units.get(self.word(at))
            if unit in ("week", "weekend") and self.has(at + 1, "joining"):
                return self._week_of(at + 2, unit)
            return None
        word = self.word(at + 1)
        unit = self.known.units.get(word)
        weekday = self.known.known.weekdays.get(word, 0)
        joint = self.skip(at + 2, "joining", 2)
        if joint == at + 2 or (unit not in ("day", "week", "weekend", "month") and not weekday):
            return None
        if (whole := self.period(joint)) is None:
            return None
        some = [*_parts_of(whole[0], unit or "", weekday)]
        if ordinal is None:
            some = [each for each in some if each.end <= whole[0].end]
        number = ordinal or len(some)
        return (some[number - 1], whole[1]) if 0 < number <= len(some) else None

    def _week_of(self, at: int, unit: str) -> Found | None:
        found = self.period(at + self.has(at, "article"))
        if found is None or found[0].grain != "day":
            return None
        week = span_of(unit, 0, found[0].begin)
        return replace(week, fixed=found[0].fixed), found[1]

    def _turned(self, at: int) -> Found | None:
        """Read "last March", "this summer", "next Christmas"."""
        for name, which in _TURNS.items():
            if self.has(at, name) and (found := self.recurring(at + 1)):
                resolved = found[0].resolved(which, self.now)
                return at_place(resolved, found[1])
        return None

    def _rolling(self, at: int) -> Found | None:
        """Read "the last two weeks", "the past month", "the next days" and "recently"."""
        if length := self.known.length("rolling phrases", self.words, at):
            return rolling("day", _ROLLING_DAYS, self.now), at + length
        ahead = self.has(at, "next")
        if not ahead and not self.has(at, "last"):
            return None
        place = at + 1
        place += self._article_before_number(place)
        number = self.known.number(self.word(place))
        if number is not None:
            place += 1 + self._filler_behind(place)
        unit = self.known.units.get(self.word(place))
        if unit is None or (number is None and not self._is_plural(at, place)):
            return None
        count = FEW[1] if number is None else number[1]
        if number is None and not self.word(place).endswith(("s", "n", "e")):
            count = 1
        return rolling(unit, -count if ahead else count, self.now), place + 1

    def _is_plural(self, at: int, place: int) -> bool:
        """Whether a unit without a number is one of several, or of "the past week"."""
        word = self.word(place)
        if self.known.language == "en":
            return word.endswith("s") or self.word(at) == "past"
        return word.endswith("n") and word != "wochenenden" and word in _GERMAN_PLURALS


_GERMAN_PLURALS = frozenset({"tagen", "wochen", "monaten", "jahren", "stunden", "jahrzehnten"})
_TURNS = {"last": Which.LAST, "this": Which.THIS, "next": Which.NEXT}


_PARTS: dict[str, Callable[[Period], Period]] = {
    "early phrases": lambda whole: whole.third(0),
    "middle phrases": lambda whole: whole.third(1),
    "late phrases": lambda whole: whole.third(2),
    "former half phrases": lambda whole: whole.half(0),
    "latter half phrases": lambda whole: whole.half(1),
    "whole phrases": lambda whole: whole,
}


def _within(one: Period | Recurring, other: Period | Recurring) -> Period | Recurring | None:
    """Return the finer of two within the coarser; None: they are two, not one."""
    finer, coarser = sorted((one, other), key=lambda each: GRAINS.index(each.grain))
    if GRAINS.index(finer.grain) == GRAINS.index(coarser.grain):
        return None
    if isinstance(finer, Recurring) and isinstance(coarser, Period):
        return finer.within(coarser)
    return None


def _parts_of(whole: Period, unit: str, weekday: int) -> Iterator[Period]:
    """Yield the days, weeks, weekends or months that begin in a period, or such weekdays."""
    if weekday:
        found = Recurring("day", weekday=weekday).within(whole)
        step = 7
    else:
        found = span_of(unit, 0, whole.begin)
        step = {"day": 1, "week": 7, "weekend": 7, "month": 0}[unit]
        if found.begin < whole.begin:
            found = span_of(unit, 1, whole.begin)
    while found is not None and found.begin < whole.end:
        yield replace(found, fixed=whole.fixed)
        if step:
            found = replace(
                found, begin=moved(found.begin, "day", step), end=moved(found.end, "day", step)
            )
        else:
            found = span_of("month", 1, found.begin)
