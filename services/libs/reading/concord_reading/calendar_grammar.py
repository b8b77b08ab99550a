"""Reads periods of the calendar in the words of a text: "the first week of May 2024"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from concord_reading.periods import (
    FIRST_YEAR,
    GRAINS,
    LAST_YEAR,
    Period,
    Recurring,
    Which,
    beside,
    day_of,
    moved,
    rolling,
    span_of,
    whole_days,
)
from concord_reading.time_words import FEW, Pattern, TimeWords, Word, is_figure

Found = tuple[Period | Recurring, int]
"""What is named, and the place behind its words."""
_CENTURY = 50
"""A year of two figures up to this one is of this century."""
_ROLLING_DAYS = 30
"""Days that "recently" means."""


class Calendar:
    """The periods that the words of one text name, seen from an instant."""

    def __init__(self, words: Sequence[Word], known: TimeWords, now: datetime) -> None:
        self.words = words
        self.known = known
        self.now = now
        self._composed: dict[int, Found | None] = {}
        self._single: dict[int, Found | None] = {}
        is_ahead = any(each.word in known.words["future"] for each in words)
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
            joint = self._skip(end, "joining", 2)
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
            self._single[at] = self._read(at) if at < len(self.words) else None
        return self._single[at]

    def _read(self, at: int) -> Found | None:
        word = self.words[at].word
        if word not in self.known.opening and not is_figure(word) and not word.isdecimal():
            return None
        readings = (self.from_table, self._figures, self._part, self._nth, self._turned,
                    self._rolling, self._date, self._quarter, self._named, self._year)  # fmt: skip
        found = [each for read in readings if (each := read(at)) is not None]
        if not found and self._is(at, "article"):
            return self._one(at + 1)
        return max(found, key=lambda each: each[1], default=None)

    def from_table(self, at: int) -> Found | None:
        """Read the phrases that are so far from today."""
        best: Found | None = None
        firsts = [self._word(at)]
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
                    what = beside(weekday, away.fixed or 0, self.now)
                elif away.fixed is not None:
                    what = span_of(away.grain, away.fixed, self.now)
                else:
                    what = self._away(away.grain, away.sign, number)
                best = what, end
        return best

    def _bound(self, pattern: Pattern, at: int) -> tuple[int, tuple[int, int], int] | None:
        """Return where a pattern ends, its number and its weekday; None: it does not match."""
        number, weekday, place = (0, 0), 0, at
        for part in pattern:
            word = self._word(place)
            if part == "n":
                place += self._article_before_number(place)
                found = self.known.number(self._word(place))
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
        is_article = self._is(at, "one") and self.known.number(self._word(at + 1)) == FEW
        return int(is_article)

    def _filler_behind(self, at: int) -> int:
        """Return 1 for the "of" of "a couple of days"."""
        return int(self._word(at + 1) == "of" and self.known.number(self._word(at)) == FEW)

    def _away(self, grain: str, sign: int, number: tuple[int, int]) -> Period:
        ends = sorted((sign * number[0], sign * number[1]))
        first, last = (span_of(grain, max(-9_000, min(9_000, e)), self.now) for e in ends)
        return replace(first, end=last.end)

    def _days(self, first: int, end: int) -> tuple[datetime, datetime]:
        day = day_of(self.now)
        return moved(day, "day", first), moved(day, "day", end)

    def _figures(self, at: int) -> Found | None:
        """Read "2024-05-03", "2024-05", "03.05.2024", "3.5.", "13/5/2024" and "5/2024"."""
        word = self._word(at)
        if iso := re.fullmatch(r"(\d{4})-(\d\d)(?:-(\d\d))?", word):
            year, month, day = (int(part) if part else None for part in iso.groups())
            return _at(whole_days(year, month, day), at + 1)
        if dotted := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d+)?", word):
            return self._dated(int(dotted[1]), int(dotted[2]), dotted[3], at + 1)
        if slashed := re.fullmatch(r"(\d{1,2})/(\d{1,2})/(\d{4})", word):
            one, two = int(slashed[1]), int(slashed[2])
            if one != two and one <= 12 and two <= 12:
                return None  # the day or the month first: not known
            day, month = (one, two) if two <= 12 else (two, one)
            return self._dated(day, month, slashed[3], at + 1)
        if slashed := re.fullmatch(r"(\d{1,2})/(\d{4})", word):
            return _at(whole_days(int(slashed[2]), int(slashed[1]), None), at + 1)
        return None

    def _dated(self, day: int, month: int, year: str | None, end: int) -> Found | None:
        if year is None:
            return (Recurring("day", month=month, day=day, days=1), end) if month <= 12 else None
        number = int(year)
        if len(year) == 2:
            number += 2000 if number <= _CENTURY else 1900
        return _at(whole_days(number, month, day), end)

    def _part(self, at: int) -> Found | None:
        """Read "early", "mid", "the end of" and halves, of a period."""
        for name, cut in _PARTS.items():
            length = self.known.length(name, self.words, at)
            if not length:
                continue
            begin = at + length
            if self._word(begin) in ("-", "in", "of"):
                begin += 1
            if (whole := self.composed(begin)) is None:
                continue
            what = whole[0]
            if isinstance(what, Recurring):
                resolved = what.resolved(self.usual, self.now)
                if resolved is None:
                    continue
                what = resolved
            if what.begin is None or what.end is None:
                continue
            return cut(what), whole[1]
        return None

    def _nth(self, at: int) -> Found | None:
        """Read "the first week of May", "the last Monday in 2023" and "the week of May 3"."""
        at += self._is(at, "article")
        ordinal = self._ordinal(at)
        if ordinal is None and not self._is(at, "last"):
            if self.known.units.get(self._word(at)) == "week" and self._is(at + 1, "joining"):
                return self._week_of(at + 2)
            return None
        word = self._word(at + 1)
        unit = self.known.units.get(word)
        weekday = self.known.known.weekdays.get(word, 0)
        joint = self._skip(at + 2, "joining", 2)
        if joint == at + 2 or (unit not in ("day", "week", "weekend", "month") and not weekday):
            return None
        if (whole := self.period(joint)) is None or whole[0].end is None:
            return None
        some = [*_parts_of(whole[0], unit or "", weekday)]
        if ordinal is None:
            some = [each for each in some if each.end and each.end <= whole[0].end]
        number = ordinal or len(some)
        return (some[number - 1], whole[1]) if 0 < number <= len(some) else None

    def _week_of(self, at: int) -> Found | None:
        found = self.period(at + self._is(at, "article"))
        if found is None or found[0].begin is None or found[0].grain != "day":
            return None
        week = span_of("week", 0, found[0].begin)
        return replace(week, fixed=found[0].fixed), found[1]

    def _turned(self, at: int) -> Found | None:
        """Read "last March", "this summer", "next Christmas"."""
        for name, which in _TURNS.items():
            if self._is(at, name) and (found := self._recurring(at + 1)):
                resolved = found[0].resolved(which, self.now)
                return _at(resolved, found[1])
        return None

    def _rolling(self, at: int) -> Found | None:
        """Read "the last two weeks", "the past month", "the next days" and "recently"."""
        if length := self.known.length("rolling phrases", self.words, at):
            return rolling("day", _ROLLING_DAYS, self.now), at + length
        ahead = self._is(at, "next")
        if not ahead and not self._is(at, "last"):
            return None
        place = at + 1
        place += self._article_before_number(place)
        number = self.known.number(self._word(place))
        if number is not None:
            place += 1 + self._filler_behind(place)
        unit = self.known.units.get(self._word(place))
        if unit is None or (number is None and not self._is_plural(at, place)):
            return None
        count = FEW[1] if number is None else number[1]
        if number is None and not self._word(place).endswith(("s", "n", "e")):
            count = 1
        return rolling(unit, -count if ahead else count, self.now), place + 1

    def _is_plural(self, at: int, place: int) -> bool:
        """Whether a unit without a number is one of several, or of "the past week"."""
        word = self._word(place)
        if self.known.language == "en":
            return word.endswith("s") or self._word(at) == "past"
        return word.endswith("n") and word != "wochenenden" and word in _GERMAN_PLURALS

    # -- dates and names

    def _date(self, at: int) -> Found | None:
        """Read "[Monday,] 3 May [2024]", "May 3rd, 2024", "the 3rd of May" and "May 2024"."""
        weekday = self.known.known.weekdays.get(self._word(at), 0)
        if weekday:
            place = self._skip(at + 1, "joining", 2)
            dated = self._date(place) or self._figures(place)
            if dated is not None and _is_day(dated[0]):
                return dated
            return Recurring("day", weekday=weekday), at + 1
        place, day = at, self.day(at)
        if day is not None:
            place = at + 1 + (self._word(at + 1) in ("of", ","))
        month = self._month(place, has_day=day is not None)
        if month is None:
            return None
        place += 1
        place += self._word(place) == "."
        if day is None:
            day = self.day(place + (self._word(place) == "the"))
            if day is not None:
                place += 1 + (self._word(place) == "the")
        behind = place + (self._word(place) == ",")
        year = self._figure_of_year(behind)
        if year is not None:
            return _at(whole_days(year, month, day), behind + 1)
        if day is None:
            return Recurring("month", month=month, months=1), place
        return Recurring("day", month=month, day=day, days=1), place

    def _month(self, at: int, *, has_day: bool) -> int | None:
        word = self._word(at)
        month = self.known.known.months.get(word) or self.known.known.months.get(word.rstrip("."))
        if month is None or word == "-":
            return None
        if word not in self.known.words["ambiguous months"] or has_day:
            return month
        before = self._word(at - 1)
        is_named = any(
            before in self.known.words[name] for name in ("in", "last", "this", "next", "since")
        )
        is_named |= before in _LINKS | {"of", "and", "to", "-", "–", "bis", "und", "mid", ","}
        is_named |= self.day(at + 1) is not None or self._figure_of_year(at + 1) is not None
        return month if is_named or self._is_late_capital(at) else None

    def _is_late_capital(self, at: int) -> bool:
        """Whether a month is written as such, not as what somebody may do or be called."""
        word = self.words[at]
        return word.is_capital and at > 0 and word.word in ("march", "august")

    def day(self, at: int) -> int | None:
        """Return the day of a month that a word names: "3", "3rd", "third"."""
        word = self._word(at)
        found = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|\.|te|ten|ter)?", word)
        number = int(found[1]) if found else self._ordinal(at)
        return number if number is not None and 1 <= number <= 31 else None

    def _figure_of_year(self, at: int) -> int | None:
        word = self._word(at)
        is_year = word.isdecimal() and len(word) == 4 and 1800 <= int(word) <= 2100
        return int(word) if is_year and FIRST_YEAR < int(word) < LAST_YEAR else None

    def _quarter(self, at: int) -> Found | None:
        """Read "Q3 2024", "the third quarter of 2024", "3. Quartal" and "H1 2023"."""
        word, place = self._word(at), at + 1
        if found := re.fullmatch(r"q([1-4])|h([12])", word):
            months = 3 if found[1] else 6
            first = (int(found[1] or found[2]) - 1) * months + 1
        else:
            number = self._ordinal(at)
            if number is None or self.known.units.get(self._word(place)) != "quarter":
                return None
            if not 1 <= number <= 4:
                return None
            months, first, place = 3, number * 3 - 2, place + 1
        named = Recurring("quarter" if months == 3 else "half", month=first, months=months)
        joint = place + (self._word(place) == "/")
        joint = joint if joint > place else self._skip(place, "joining", 2)
        year = self._figure_of_year(joint)
        return _at(named.of_year(year), joint + 1) if year is not None else (named, place)

    def _ordinal(self, at: int) -> int | None:
        word = self._word(at)
        if found := re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|\.|te|ten|ter|tes)", word):
            return int(found[1])
        ordinals = self.known.known.ordinals
        number = ordinals.get(word)
        if number is None and self.known.language == "de" and word[-2:] in ("es", "en", "em"):
            number = ordinals.get(word[:-1] + "r")
        if number is None and self.known.language == "de" and word.endswith("e"):
            number = ordinals.get(word + "r")
        return number

    def _named(self, at: int) -> Found | None:
        """Read seasons, holidays and decades, with a year if one follows."""
        word = self._word(at)
        if (decade := self._decade(word)) is not None:
            place = at + 1
            if self.known.units.get(self._word(place)) == "year":
                place += 1
            return decade, place
        if (found := self._recurring(at)) is None or found[0].grain == "month":
            return None
        what, place = found
        joint = self._skip(place, "joining", 2)
        year = self._figure_of_year(joint)
        return _at(what.of_year(year), joint + 1) if year is not None else found

    def _decade(self, word: str) -> Period | None:
        year = self.known.decades.get(word)
        if found := re.fullmatch(r"(\d{3}0)(?:s|er|ern)", word):
            year = int(found[1])
        if year is None or not FIRST_YEAR < year < LAST_YEAR - 10:
            return None
        begin = whole_days(year, None, None)
        end = whole_days(year + 10, None, None)
        assert begin and end
        return Period(begin.begin, end.begin, "decade", fixed=True)

    def _recurring(self, at: int) -> tuple[Recurring, int] | None:
        """Read a month, season or holiday, or a weekday."""
        if weekday := self.known.known.weekdays.get(self._word(at), 0):
            return Recurring("day", weekday=weekday), at + 1
        if quarter := self.known.recurring.get((self._word(at),)):
            if quarter.grain == "season" and not self._is_season(at):
                return None
            longer = self._longer(at)
            return longer or (quarter, at + 1)
        return self._longer(at)

    def _longer(self, at: int) -> tuple[Recurring, int] | None:
        length = self.known.length("recurring phrases", self.words, at)
        key = tuple(each.word for each in self.words[at : at + length])
        return (self.known.recurring[key], at + length) if length else None

    def _is_season(self, at: int) -> bool:
        """Whether a season is not what somebody or something does: "fall", "spring"."""
        if self._word(at) not in ("fall", "spring"):
            return True
        before = self._word(at - 1)
        names = ("in", "last", "this", "next", "article", "since")
        is_named = any(before in self.known.words[name] for name in names) or before in _LINKS
        return is_named or self._figure_of_year(at + 1) is not None

    def _year(self, at: int) -> Found | None:
        year = self._figure_of_year(at)
        if year is None:
            if self.known.units.get(self._word(at)) == "year":
                year = self._figure_of_year(at + 1)
                return _at(whole_days(year, None, None), at + 2) if year else None
            return None
        if self.known.units.get(self._word(at + 1)) or self._word(at - 1) in "#$€£":
            return None
        return _at(whole_days(year, None, None), at + 1)

    # -- words

    def _word(self, at: int) -> str:
        return self.words[at].word if 0 <= at < len(self.words) else "."

    def _is(self, at: int, name: str) -> bool:
        return self._word(at) in self.known.words[name]

    def _skip(self, at: int, name: str, most: int) -> int:
        """Return the place behind at most so many words of a class."""
        end = at
        while end < at + most and self._is(end, name):
            end += 1
        return end

_LINKS = frozenset(
    "since before after until till by between from during early late mid vor nach seit bis ab"
    " zwischen anfang mitte ende im".split()  # noqa: SIM905 - a word list reads as words
)
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


def _at(what: Period | None, end: int) -> Found | None:
    return None if what is None else (what, end)


def _is_day(what: Period | Recurring) -> bool:
    return what.grain == "day" and not (isinstance(what, Recurring) and what.weekday)


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
    assert whole.begin is not None and whole.end is not None
    if weekday:
        found = Recurring("day", weekday=weekday).within(whole)
        step = 7
    else:
        found = span_of(unit, 0, whole.begin)
        step = {"day": 1, "week": 7, "weekend": 7, "month": 0}[unit]
        if found.begin is not None and found.begin < whole.begin:
            found = span_of(unit, 1, whole.begin)
    while found is not None and found.begin is not None and found.begin < whole.end:
        yield replace(found, fixed=whole.fixed)
        assert found.end is not None
        if step:
            found = replace(
                found, begin=moved(found.begin, "day", step), end=moved(found.end, "day", step)
            )
        else:
            found = span_of("month", 1, found.begin)
