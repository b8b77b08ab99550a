"""Reads the times of one text in one language: windows, things that they are relative to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property

from concord_reading.calendar_grammar import Calendar
from concord_reading.periods import Period, Recurring, Which, span_of
from concord_reading.time_window import Relation, Window, datetime_of, micros_of
from concord_reading.time_words import TimeWords, Word, is_figure
from concord_reading.tokens import Span

_LONGEST = 9
"""So many words before its year or unit a phrase begins at most."""


class TimeReader:
    """Reads the times of one text in one language."""

    def __init__(self, text: str, words: Sequence[Word], known: TimeWords, now: datetime) -> None:
        self.text = text
        self.words = words
        self.known = known
        self.now = now
        self.calendar = Calendar(words, known, now)
        self._near = self._telling()

    def _telling(self) -> list[bool]:
        """Return for each word whether a dated phrase may begin there."""
        near, last = [False] * len(self.words), len(self.words) + _LONGEST
        for at in range(len(self.words) - 1, -1, -1):
            word = self.words[at].word
            if word in self.known.telling or is_figure(word):
                last = at
            near[at] = last - at < _LONGEST
        return near

    def found(self) -> Iterator[Window]:
        """Yield the times, from left to right, none within another."""
        dated = (self._range, self._offset, self._linked, self._plain)
        others = (self._beside_thing, self._past, self._unknown)
        at = 0
        while at < len(self.words):
            word = self.words[at].word
            made = None
            if word in self.known.opening or is_figure(word) or word.isdecimal():
                readings = (*dated, *others) if self._near[at] else (self._offset, *others)
                made = next((made for read in readings if (made := read(at)) is not None), None)
            if made is not None and made[0] is not None:
                yield made[0]
            at = made[1] if made is not None else at + 1

    # -- dated

    def _range(self, at: int) -> tuple[Window, int] | None:
        """Read "between May and July", "from 2015 to 2017", "2019-2021" and "13 to 15 July"."""
        is_between = self._is(at, "between")
        begin = at + is_between
        begin += self._is(begin, "article")
        one = self.calendar.composed(begin)
        first_day = self.calendar.day(begin)
        if one is None and first_day is None:
            return None
        joint = one[1] if one else begin + 1
        if not self._is(joint, "and") or (not is_between and self._word(joint) in ("and", "und")):
            return None
        other = self.calendar.composed(joint + 1)
        if other is None and is_between and self._is(joint + 1, "now"):
            other = span_of("day", 0, self.now), joint + 2
        if other is None:
            return self._same_month(at, one, joint)
        first = self._day_of(first_day or 0, other[0]) if one is None else one[0]
        pair = self._joined(first, other[0]) if first is not None else None
        return self._made(at, other[1], pair) if pair is not None else None

    def _same_month(
        self, at: int, one: tuple[Period | Recurring, int] | None, joint: int
    ) -> tuple[Window, int] | None:
        """Read "July 13-15" and "July 13th to 15th, 2024"."""
        day = self.calendar.day(joint + 1)
        if one is None or one[0].grain != "day" or day is None:
            return None
        first, end = one[0], joint + 2
        year = self.calendar.year(end + (self._word(end) == ","))
        if isinstance(first, Recurring) and year is not None and isinstance(year[0], Period):
            dated = first.of_year(year[0].begin.year) if year[0].begin else None
            first, end = (dated, year[1]) if dated else (first, end)
        last = self._day_of(day, first)
        pair = self._joined(first, last) if last is not None else None
        return self._made(at, end, pair) if pair is not None else None

    @staticmethod
    def _day_of(day: int, other: Period | Recurring) -> Period | Recurring | None:
        """Return another day of the month of a day."""
        if other.grain != "day":
            return None
        if isinstance(other, Recurring):
            return replace(other, day=day) if other.month and 1 <= day <= 31 else None
        try:
            first = other.begin.replace(day=day)
        except ValueError:
            return None
        return replace(other, begin=first, end=first + timedelta(days=1))

    def _joined(self, one: Period | Recurring, other: Period | Recurring) -> Period | None:
        if isinstance(one, Recurring):
            is_dated = isinstance(other, Period) and other.begin is not None
            seen = other.begin if isinstance(other, Period) and is_dated else self.now
            which = Which.LATEST if is_dated else self.calendar.usual
            first = one.resolved(which, seen) if seen else None
            first = (
                replace(first, fixed=other.fixed) if first and isinstance(other, Period) else first
            )
        else:
            first = one
        if first is None or first.begin is None:
            return None
        last = other.since(first.begin) if isinstance(other, Recurring) else other
        if last is None or last.end <= first.begin:
            return None
        is_coming = last.begin > self.now and self.calendar.usual is Which.LATEST
        if is_coming and isinstance(one, Recurring) and isinstance(other, Recurring):
            first = one.resolved(Which.LATEST, first.begin - timedelta(days=1))
            last = other.since(first.begin) if first else None
            if first is None or last is None:
                return None
        return Period(first.begin, last.end, first.grain, first.fixed)

    def _linked(self, at: int) -> tuple[Window, int] | None:
        """Read "since 2023", "before March", "until last week"."""
        for relation, name in _LINKS.items():
            length = self.known.length(name, self.words, at)
            found = self.calendar.period(at + length) if length else None
            if found is None:
                continue
            period, end = found
            made, end = self._made(at, end, period, relation)
            if relation is Relation.BEFORE:
                return replace(made, begin=None, end=made.begin), end
            if relation is Relation.UNTIL:
                return replace(made, begin=None), end
            begin = made.end if relation is Relation.AFTER else made.begin
            return replace(made, begin=begin, end=None), end
        return None

    def _plain(self, at: int) -> tuple[Window | None, int] | None:
        """Read "in March" and "last week"."""
        found, begin = self.calendar.period(at), at
        if found is not None and self._word(found[1]) == "ago":
            found = None  # "came in two days ago"
        while found is None and begin < at + 2 and self._is(begin, "in"):
            begin += 1
            found = self.calendar.period(begin)
        if found is None:
            return None
        period, end = found
        before = self._word(at - 1)
        if self._is(begin, "article") and before in self.known.words["counting"]:
            return None
        if before in self.known.words["counting"] or self._is_habit(begin, end):
            is_habit = before in self.known.words["habit"]
            if not is_habit and before in self.known.words["counting"]:
                return None, end  # "which Monday": asked for
            return self._undated(at - is_habit, end), end
        if self._is(end, "onward") and self._word(at) in ("from", "von"):
            made, end = self._made(at, end + 1, period, Relation.SINCE)
            return replace(made, end=None), end
        return self._made(at, end, period)

    def _is_habit(self, at: int, end: int) -> bool:
        return end == at + 1 and self._word(at) in self.known.known.words["weekdays often"]

    # -- beside a thing

    def _offset(self, at: int) -> tuple[Window, int] | None:
        """Read "two days after the offer", "a year before Christmas", "the week after we met"."""
        number, place = self.known.number(self._word(at)), at + 1
        if number is None and self.calendar.from_table(at) is None:
            place = at + self._is(at, "article")
            number = (0, 0) if self._word(place) in _UNITS else None
        unit = self.known.units.get(self._word(place))
        if number is None or unit is None or number[0] != number[1]:
            return None
        if unit in ("hour", "day"):
            number = max(number, (1, 1))
        found = self._linked(place + 1) or self._beside_thing(place + 1)
        if found is None or found[0].relation not in (Relation.BEFORE, Relation.AFTER):
            return None
        made, end = found
        phrase, span = self._spelt(at, end)
        made = replace(made, phrase=phrase, span=span, away=(number[0], unit))
        if made.begin is not None:  # the day after is the first behind the thing
            made = made.shifted(datetime_of(made.begin) - timedelta(days=1), number[0], unit)
        elif made.end is not None:
            made = made.shifted(datetime_of(made.end), number[0], unit)
        return made, end

    def _beside_thing(self, at: int) -> tuple[Window, int] | None:
        """Read "before she moved", "nach dem Umzug", "while I was in Rome"."""
        length = self.known.length("anchor phrases", self.words, at) or self._is(at, "anchors")
        if (of_name := self._before_name(at)) is not None:
            return of_name
        if not length or not self._opens_thing(at, at + length):
            return None
        begin = at + length
        end = begin
        while end < len(self.words) and not self._ends_thing(begin, end):
            end += 1
        if end == begin:
            return None
        if all(self._is(place, "undated") for place in range(begin, end)):
            return self._undated(at, end), end  # "before noon"
        anchor = self.text[self.words[begin].start : self.words[end - 1].end]
        relation = _RELATIONS.get(self._word(at), Relation.AT)
        # "who led it before Ada?" asks for what has ended, whenever that was
        of_past = relation is Relation.BEFORE and self._is_told
        named = Window(*self._spelt(at, end), relation=relation, anchor=anchor, of_past=of_past)
        within = self._period_within(begin + 1, end)
        if within is not None:  # "before she moved in 2023"
            period, inner = within
            named = replace(named, anchor="", fixed=period.fixed, inner=inner)
            named = named.beside(micros_of(period.begin), micros_of(period.end))
        return named, end

    def _before_name(self, at: int) -> tuple[Window, int] | None:
        """Read the German "vor Kaspar": a time beside a verb in the past ("Wer führte das Team vor
        Kaspar?"), else it may be a place, and nobody can tell."""
        end = at + 1
        while end < min(at + 3, len(self.words)) and self.words[end].is_capital:
            end += 1
        known = self.known.words
        is_named = self._word(at) == "vor" and end > at + 1 and self.known.language == "de"
        if not is_named or self._word(at + 1) in known["no anchor"] | known["undated"]:
            return None
        if not self._is_told:
            return self._undated(at, end), end
        anchor = self.text[self.words[at + 1].start : self.words[end - 1].end]
        spelt = self._spelt(at, end)
        return Window(*spelt, relation=Relation.BEFORE, anchor=anchor, of_past=True), end

    def _period_within(self, begin: int, end: int) -> tuple[Period, str] | None:
        """Return the period that the words of a thing name, if any, and its own words."""
        for place in range(begin, end):
            found = self.calendar.period(place) if self._near[place] else None
            if found and found[1] <= end:
                return found[0], self._spelt(place, found[1])[0]
        return None

    def _opens_thing(self, at: int, begin: int) -> bool:
        word, following = self._word(at), self._word(begin)
        known = self.known.words
        if following in known["no anchor"] or not following[0].isalpha():
            return False
        if word in ("when", "als"):
            is_first = at == 0 and any(each.word == "," for each in self.words)
            joins = self._word(at - 1) == "," if word == "als" else at > 0
            if self._word(at - 1) in known["knowing"]:
                return False
            return (is_first or joins) and following not in known["asking"]
        if self.known.language == "en":
            return self._word(at - 1) not in known["not before"]
        if word in _CLAUSES:
            return True
        if word in ("bei", "beim") and any(self._is(n, "staying") for n in range(len(self.words))):
            return False  # "arbeitet beim Wasserwerk"
        names = self.known.known.words
        is_clause = self._word(at - 1) == "," or following in names["determiner"]
        return word == "beim" or is_clause or (word == "bis" and following in ("zum", "zur"))

    def _ends_thing(self, begin: int, at: int) -> bool:
        word = self._word(at)
        if word == "." and self.calendar.is_called(at):  # "Dr."
            return False
        if not (word[0].isalnum() or word in "-'’\"&"):
            return True
        return at > begin and self.known.language == "en" and word in _WH

    # -- neither

    def _past(self, at: int) -> tuple[Window, int] | None:
        """Read "used to", "früher", and "before" at the end."""
        known = self.known.words
        length = int(self.known.length("past phrases", self.words, at)) or self._used(at)
        if not length and self._word(at) == "before":
            length = not any(each.word[0].isalnum() for each in self.words[at + 1 : at + _LONGEST])
        if not length and self._word(at) in known["former"] and self._is_told:
            # "how old", "a year old", "the old ones"
            length = self._word(at - 1) not in known["measuring"] | known["article"]
        is_use = self._word(at) == "used" and bool({self._word(at - 1), self._word(at - 2)} & _BE)
        if not length or is_use:  # "is Redis used to store"
            return None
        return Window(*self._spelt(at, at + length), of_past=True), at + length

    def _used(self, at: int) -> int:
        """Return the length of the "use to" of "where did she use to live", not of what is used
        for something: "what did she use to open it"."""
        length = self.known.length("habit phrases", self.words, at)
        before = {self._word(at - back) for back in range(1, _LONGEST)}
        is_last = not self._word(at + length + 1)[0].isalnum()
        return length * ("did" in before and (is_last or not before & {"what", "which"}))

    def _unknown(self, at: int) -> tuple[Window | None, int] | None:
        """Name what is a time, but which one is not known: "every year", "at Easter"."""
        known = self.known.words
        if _DATE.fullmatch(self._word(at)):  # "3/5/2024": which month, and "31.4.2024": no day
            return self._undated(at, at + 1), at + 1
        if not self._is(at, "undated"):
            return None
        if self.calendar.is_called(at):
            return None, at + 1
        end = at
        while self._is(end, "undated"):
            end += 1
        begin = at
        while begin > 0 and (
            self.known.number(self._word(begin - 1)) or self._is(begin - 1, "habit")
        ):
            begin -= 1
        asked = [self._word(at - back) for back in (1, 2, 3)]
        if asked[0] in known["counting"] - known["habit"] or "how" in asked or "wie" in asked:
            return None, end
        return self._undated(begin, end), end

    # -- parts

    @cached_property
    def _is_told(self) -> bool:
        """Whether a verb is in the past tense."""
        past = self.known.words["told"]
        ending = _PRETERITE[self.known.language]
        return any(
            each.word in past or (not each.is_capital and ending.search(each.word))
            for each in self.words
        )

    def _undated(self, at: int, end: int) -> Window:
        return Window(*self._spelt(at, end))

    def _made(
        self, at: int, end: int, period: Period, relation: Relation = Relation.AT
    ) -> tuple[Window, int]:
        end = self._behind_part_of_day(end)
        made = Window(*self._spelt(at, end), relation=relation, fixed=period.fixed)
        return made.over(period), end

    def _behind_part_of_day(self, at: int) -> int:
        """Return the place behind the "morning" or "in the evening" of a day: days are whole."""
        place = at
        while place < at + 2 and (self._is(place, "in") or self._is(place, "article")):
            place += 1
        return place + 1 if self._is(place, "day parts") else at

    def _spelt(self, at: int, end: int) -> tuple[str, Span]:
        span = Span(self.words[at].start, self.words[end - 1].end)
        return self.text[slice(*span)], span

    def _word(self, at: int) -> str:
        return self.words[at].word if 0 <= at < len(self.words) else "."

    def _is(self, at: int, name: str) -> bool:
        return self._word(at) in self.known.words[name]


_LINKS = {
    Relation.BEFORE: "before phrases",
    Relation.AFTER: "after phrases",
    Relation.SINCE: "since phrases",
    Relation.UNTIL: "until phrases",
}
_RELATIONS = {
    "before": Relation.BEFORE, "prior": Relation.BEFORE, "bevor": Relation.BEFORE,
    "ehe": Relation.BEFORE, "vor": Relation.BEFORE,
    "after": Relation.AFTER, "nachdem": Relation.AFTER, "nach": Relation.AFTER,
    "since": Relation.SINCE, "seit": Relation.SINCE, "seitdem": Relation.SINCE,
    "until": Relation.UNTIL, "till": Relation.UNTIL, "bis": Relation.UNTIL,
}  # fmt: skip
_DATE = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_UNITS = frozenset({"day", "week", "month", "quarter", "year", "decade"}) | frozenset(
    {"tag", "woche", "monat", "quartal", "jahr", "jahrzehnt"}
)
_PRETERITE = {
    "en": re.compile(r"\w{2}[^e]ed$"),  # not "need"
    "de": re.compile(r"(?<!let)(?<!heu)(?<!ers)(?<!bit)(?:te|ten)$"),
}
_CLAUSES = frozenset({"bevor", "ehe", "nachdem", "seitdem", "während"})
_WH = frozenset({"where", "what", "who", "whom", "whose", "which", "how", "why", "did", "does"})
_BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "get", "got"})
