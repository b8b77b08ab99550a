"""Reads the names of single periods of the calendar: dates, months, seasons, years."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from concord_reading.periods import FIRST_YEAR, LAST_YEAR, Period, Recurring, whole_days
from concord_reading.time_words import TimeWords, Word

Found = tuple[Period | Recurring, int]
"""What is named, and the place behind its words."""
_CENTURY = 50
"""A year of two figures up to this one is of this century."""


class CalendarNames:
    """The names of periods in the words of one text."""

    def __init__(self, words: Sequence[Word], known: TimeWords) -> None:
        self.words = words
        self.known = known

    def figures(self, at: int) -> Found | None:
        """Read "2024-05-03", "2024-05", "03.05.2024", "3.5.", "13/5/2024" and "5/2024"."""
        word = self.word(at)
        if iso := re.fullmatch(r"(\d{4})-(\d\d)(?:-(\d\d))?", word):
            year, month, day = (int(part) if part else None for part in iso.groups())
            return at_place(whole_days(year, month, day), at + 1)
        if dotted := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d+)?", word):
            return self._dated(int(dotted[1]), int(dotted[2]), dotted[3], at + 1)
        if slashed := re.fullmatch(r"(\d{1,2})/(\d{1,2})/(\d{4}|\d\d)", word):
            one, two = int(slashed[1]), int(slashed[2])
            if one != two and one <= 12 and two <= 12:
                return None  # the day or the month first: not known
            day, month = (one, two) if two <= 12 else (two, one)
            return self._dated(day, month, slashed[3], at + 1)
        if slashed := re.fullmatch(r"(\d{1,2})/(\d{4})", word):
            return at_place(whole_days(int(slashed[2]), int(slashed[1]), None), at + 1)
        return None

    def _dated(self, day: int, month: int, year: str | None, end: int) -> Found | None:
        if year is None:
            return (Recurring("day", month=month, day=day, days=1), end) if month <= 12 else None
        number = _of_century(int(year)) if len(year) == 2 else int(year)
        return at_place(whole_days(number, month, day), end)

    def date(self, at: int) -> Found | None:
        """Read "[Monday,] 3 May [2024]", "May 3rd, 2024", "the 3rd of May" and "May 2024"."""
        weekday = self.known.known.weekdays.get(self.word(at), 0)
        if weekday:
            place = self.skip(at + 1, "joining", 2)
            is_other = self.word(place) not in self.known.known.weekdays
            dated = (self.date(place) if is_other else None) or self.figures(place)
            if dated is not None and _is_day(dated[0]):
                return dated
            return Recurring("day", weekday=weekday), at + 1
        place, day = at, self.day(at)
        if day is not None:
            place = at + 1 + (self.word(at + 1) in ("of", ","))
        month = self._month(place, has_day=day is not None)
        if month is None:
            return None
        place += 1
        place += place < len(self.words) and self.word(place) == "."  # "Feb."
        if day is None:
            day = self.day(place + (self.word(place) == "the"))
            if day is not None:
                place += 1 + (self.word(place) == "the")
        behind = place + (self.word(place) == ",")
        year = self._figure_of_year(behind)
        if year is not None:
            return at_place(whole_days(year, month, day), behind + 1)
        if day is None:
            return Recurring("month", month=month, months=1), place
        return Recurring("day", month=month, day=day, days=1), place

    def _month(self, at: int, *, has_day: bool) -> int | None:
        word = self.word(at)
        month = self.known.known.months.get(word) or self.known.known.months.get(word.rstrip("."))
        if month is None or word == "-":
            return None
        if word not in self.known.words["ambiguous months"] or has_day:
            return month
        before = self.word(at - 1)
        is_named = any(
            before in self.known.words[name] for name in ("in", "last", "this", "next", "since")
        )
        is_named |= before in _LINKS | {"of", "and", "to", "-", "–", "bis", "und", "mid", ","}
        is_named |= self.day(at + 1) is not None or self._figure_of_year(at + 1) is not None
        return month if is_named or self._is_late_capital(at) else None

    def _is_late_capital(self, at: int) -> bool:
        """Whether a month is written as such, not as what somebody may do or be called."""
        word = self.words[at]
        is_late = word.is_capital and at > 0 and not self.has(at - 1, "asking")  # "who March is"
        return is_late and word.word in ("march", "august")

    def day(self, at: int) -> int | None:
        """Return the day of a month that a word names: "3", "3rd", "third"."""
        word = self.word(at)
        found = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|\.|te|ten|ter)?", word)
        number = int(found[1]) if found else self.ordinal(at)
        return number if number is not None and 1 <= number <= 31 else None

    def _figure_of_year(self, at: int) -> int | None:
        word = self.word(at)
        if word[0] in "'’‘" and word[1:].isdecimal():  # "May '24"
            return _of_century(int(word[1:]))
        is_year = word.isdecimal() and len(word) == 4 and 1800 <= int(word) <= 2100
        return int(word) if is_year and FIRST_YEAR < int(word) < LAST_YEAR else None

    def quarter(self, at: int) -> Found | None:
        """Read "Q3 2024", "the third quarter of 2024", "3. Quartal" and "H1 2023"."""
        word, place = self.word(at), at + 1
        if found := re.fullmatch(r"q([1-4])|h([12])", word):
            months = 3 if found[1] else 6
            first = (int(found[1] or found[2]) - 1) * months + 1
        else:
            number = self.ordinal(at)
            if number is None or self.known.units.get(self.word(place)) != "quarter":
                return None
            if not 1 <= number <= 4:
                return None
            months, first, place = 3, number * 3 - 2, place + 1
        named = Recurring("quarter" if months == 3 else "half", month=first, months=months)
        joint = place + (self.word(place) == "/")
        joint = joint if joint > place else self.skip(place, "joining", 2)
        year = self._figure_of_year(joint)
        return at_place(named.of_year(year), joint + 1) if year is not None else (named, place)

    def ordinal(self, at: int) -> int | None:
        """Return the number of "3rd", "third" or "dritten"."""
        word = self.word(at)
        if found := re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|\.|te|ten|ter|tes)", word):
            return int(found[1])
        ordinals = self.known.known.ordinals
        number = ordinals.get(word)
        if number is None and self.known.language == "de" and word[-2:] in ("es", "en", "em"):
            number = ordinals.get(word[:-1] + "r")
        if number is None and self.known.language == "de" and word.endswith("e"):
            number = ordinals.get(word + "r")
        return number

    def named(self, at: int) -> Found | None:
        """Read seasons, holidays and decades, with a year if one follows."""
        word = self.word(at)
        if (decade := self._decade(word)) is not None and self.word(at - 1) not in _OWN:
            place = at + 1
            if self.known.units.get(self.word(place)) == "year":
                place += 1
            return decade, place
        if (found := self._week(at) or self._weekend(at) or self.recurring(at)) is None or found[
            0
        ].grain == "month":
            return None
        what, place = found
        joint = self.skip(place, "joining", 2)
        year = self._figure_of_year(joint)
        return at_place(what.of_year(year), joint + 1) if year is not None else found

    def _week(self, at: int) -> tuple[Recurring, int] | None:
        """Read "KW 12" and "calendar week 12"."""
        place = at + self.known.length("calendar week phrases", self.words, at)
        number = self.word(place).rstrip(".")
        if place == at or not number.isdecimal() or not 1 <= int(number[:3]) <= 53:
            return None
        return Recurring("week", week=int(number), days=7), place + 1

    def _weekend(self, at: int) -> tuple[Recurring, int] | None:
        """Read the bare weekend of "over the weekend" and "am Wochenende"."""
        before = at - 1 - self.has(at - 1, "article")
        is_one = self.word(at) in ("weekend", "wochenende") and self.has(before, "in")
        return (Recurring("weekend", weekday=6, days=2), at + 1) if is_one else None

    def _decade(self, word: str) -> Period | None:
        year = self.known.decades.get(word)
        if found := re.fullmatch(r"(\d{3}0)(?:s|er|ern)", word):
            year = int(found[1])
        if year is None or not FIRST_YEAR < year < LAST_YEAR - 10:
            return None
        begin = datetime(year, 1, 1, tzinfo=UTC)
        return Period(begin, begin.replace(year=year + 10), "decade", fixed=True)

    def recurring(self, at: int) -> tuple[Recurring, int] | None:
        """Read a month, season or holiday, or a weekday."""
        if self.is_called(at):
            return None
        if weekday := self.known.known.weekdays.get(self.word(at), 0):
            return Recurring("day", weekday=weekday), at + 1
        if quarter := self.known.recurring.get((self.word(at),)):
            if quarter.grain == "season" and not self._is_season(at):
                return None
            longer = self._longer(at)
            return longer or (quarter, at + 1)
        return self._longer(at)

    def is_called(self, at: int) -> bool:
        """Whether a word is somebody's name: "Frau Sommer"."""
        return self.word(at - 1).rstrip(".") in _TITLES

    def _longer(self, at: int) -> tuple[Recurring, int] | None:
        length = self.known.length("recurring phrases", self.words, at)
        key = tuple(each.word for each in self.words[at : at + length])
        return (self.known.recurring[key], at + length) if length else None

    def _is_season(self, at: int) -> bool:
        """Whether a season is not what somebody or something does: "fall", "spring"."""
        if self.word(at) not in ("fall", "spring"):
            return True
        before = self.word(at - 1)
        names = ("in", "last", "this", "next", "article", "since")
        is_named = any(before in self.known.words[name] for name in names) or before in _LINKS
        return is_named or self._figure_of_year(at + 1) is not None

    def year(self, at: int) -> Found | None:
        """Read "2024" and "the year 2024"."""
        year = self._figure_of_year(at)
        if year is None:
            if self.known.units.get(self.word(at)) == "year":
                year = self._figure_of_year(at + 1)
                return at_place(whole_days(year, None, None), at + 2) if year else None
            return None
        if self.known.units.get(self.word(at + 1)) or self.word(at - 1) in "#$€£":
            return None
        if self.word(at - 1) in _NUMBERED or self.word(at + 1) in _COUNTED:
            return None  # "room 2024", "2000 euros"
        before = self.word(at - 1)
        if not self.word(at)[0].isdecimal() and not (self.has(at - 1, "in") or before in _LINKS):
            return None  # "he said '24 is fine'"
        return at_place(whole_days(year, None, None), at + 1)

    def word(self, at: int) -> str:
        """Return the word at a place; a full stop outside the text."""
        return self.words[at].word if 0 <= at < len(self.words) else "."

    def has(self, at: int, name: str) -> bool:
        """Whether the word at a place is of a class."""
        return self.word(at) in self.known.words[name]

    def skip(self, at: int, name: str, most: int) -> int:
        """Return the place behind at most so many words of a class."""
        end = at
        while end < at + most and self.has(end, name):
            end += 1
        return end


_LINKS = frozenset(
    {
        *("since", "before", "after", "until", "till", "by", "between", "from", "during"),
        *("early", "late", "mid", "vor", "nach", "seit", "bis", "ab", "zwischen"),
        *("anfang", "mitte", "ende", "im"),
    }
)


_OWN = frozenset(
    {
        *("my", "your", "his", "her", "its", "our", "their"),
        *("meinen", "deinen", "seinen", "ihren", "unseren", "euren"),
    }
)
"""Whose twenties are an age, and no decade."""


_COUNTED = frozenset(
    {
        *("euro", "euros", "eur", "dollar", "dollars", "usd", "pounds", "francs", "franken"),
        *("km", "kg", "mb", "gb", "kcal", "watt", "words", "tokens", "people", "photos", "steps"),
        *("wörter", "leute", "personen", "fotos", "schritte"),
    }
)
"""What figures are a number of, and no year."""


_TITLES = frozenset({"frau", "herr", "herrn", "familie", "mr", "mrs", "ms", "miss", "dr"})


_NUMBERED = frozenset(
    {
        *("room", "flat", "apartment", "suite", "flight", "ticket", "issue", "number", "no", "nr"),
        *("version", "port", "page", "bus", "train", "model", "error"),
        *("zimmer", "raum", "wohnung", "flug", "nummer", "seite", "zug", "modell", "fehler"),
    }
)
"""What has a number that is no year, in both languages: each reading sees the other's words."""


def _of_century(figures: int) -> int:
    """The year that two figures mean."""
    return figures + (2000 if figures <= _CENTURY else 1900)


def at_place(what: Period | None, end: int) -> Found | None:
    """Return what is named with the place behind its words, if it is something."""
    return None if what is None else (what, end)


def _is_day(what: Period | Recurring) -> bool:
    return what.grain == "day" and not (isinstance(what, Recurring) and what.weekday)
