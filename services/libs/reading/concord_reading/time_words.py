"""The one table of words that name a time, by language: data in `lexicon/times.*.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from concord_concepts.normal_form import fold

from concord_reading.lexicon import Lexicon, lexicon, read_classes
from concord_reading.periods import GRAINS, Recurring

Pattern = tuple[str, ...]
"""Words, of which "n" stands for a number and "weekday" for a weekday."""
FEW = (2, 5)
"""What "a few" may be."""


class Word(NamedTuple):
    """A word, number, date or sign of a text: folded, without "'s", and its characters."""

    word: str
    start: int
    end: int
    is_capital: bool


class Away(NamedTuple):
    """How far from today a phrase of the table is: so many units, or `sign` times its number."""

    grain: str
    fixed: int | None
    sign: int = 0


_WORDS = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?![\d-])"
    r"|\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d)?(?!\d)"
    r"|['’‘]\d\d(?!\w)"
    r"|\d{1,2}/\d{1,2}/(?:\d{4}|\d\d)(?!\d)|\d{1,2}/\d{4}(?!\d)"
    r"|\d{1,2}\.(?=\s*[^\W\d])"
    r"|\w+(?:['’]\w+)*|[^\w\s]"
)
_POSSESSIVE = re.compile(r"['’]s?\Z")


def words_in(text: str) -> list[Word]:
    """Return the words, dates and signs of a text."""
    return [
        Word(_plain(each.group()), *each.span(), each.group()[0].isupper())
        for each in _WORDS.finditer(text)
    ]


def is_figure(word: str) -> bool:
    """Whether a word has the figures of a year, date, quarter or decade."""
    if len(word) < 2 or word[0].isdecimal():
        return len(word) > 1
    return word[0] in "qh'’‘" and word[1:].isdecimal()


def _plain(spelt: str) -> str:
    folded = spelt.lower() if spelt.isascii() else fold(spelt)
    return (_POSSESSIVE.sub("", folded) or folded) if "'" in folded or "’" in folded else folded


@dataclass(frozen=True)
class TimeWords:
    """The words of one language."""

    language: str
    words: Mapping[str, frozenset[str]]
    """Words by class."""
    table: Mapping[str, Sequence[tuple[Pattern, Away]]]
    """The phrases that are so far from today, by their first word or placeholder."""
    phrases: Mapping[str, Mapping[str, Sequence[Pattern]]]
    """Other phrases by class, then by their first word."""
    units: Mapping[str, str]
    """Grains by the words of their units."""
    recurring: Mapping[Pattern, Recurring]
    """Months, seasons and holidays; those of one word and of several."""
    decades: Mapping[str, int]
    known: Lexicon
    telling: frozenset[str]
    """Each dated phrase has one of these, or a figure."""
    opening: frozenset[str]
    """Each phrase begins with one of these, or with a figure."""

    def number(self, word: str) -> tuple[int, int] | None:
        """Return the least and the largest number that a word may mean."""
        if word in self.words["one"]:
            return 1, 1
        if word in self.words["few"]:
            return FEW
        if word.isdecimal():
            return (int(word), int(word)) if len(word) <= 3 else None
        number = self.known.numbers.get(word)
        return None if number is None else (number, number)

    def length(self, name: str, words: Sequence[Word], at: int) -> int:
        """Return the number of words of the longest phrase of a class at a place; 0: none."""
        return longest(self.phrases[name], words, at)


def longest(phrases: Mapping[str, Sequence[Pattern]], words: Sequence[Word], at: int) -> int:
    """Return the number of words of the longest of some phrases at a place; 0: none."""
    found = 0
    for phrase in phrases.get(words[at].word, ()) if at < len(words) else ():
        here = words[at : at + len(phrase)]
        if len(here) == len(phrase) and all(w.word == p for w, p in zip(here, phrase, strict=True)):
            found = max(found, len(phrase))
    return found


@cache
def time_words(language: str) -> TimeWords:
    """Return the words of "en" or "de"."""
    classes = dict(read_classes(f"times.{language}.txt"))
    known = lexicon(language)
    units = {
        word: _GRAIN_OF[language][group.split("/")[0]]
        for group in classes["units"].split()
        for word in group.split("/")
    }
    words = {n: frozenset(b.split()) for n, b in classes.items() if n not in GRAINS}
    table: dict[str, list[tuple[Pattern, Away]]] = {}
    for pattern, away in _table(classes):
        table.setdefault(pattern[0], []).append((pattern, away))
    recurring = dict(_recurring(classes, known))
    decades = {
        word: int(year)
        for group in classes["decades"].split()
        for names, year in [group.split("=")]
        for word in names.split("/")
    }
    listed = {n: [] if b == "-" else b.split(",") for n, b in classes.items()}  # "-": none
    phrases = {n: _by_first(each) for n, each in listed.items() if n.endswith("phrases")}
    several = [phrase for phrase in recurring if len(phrase) > 1]
    phrases["recurring phrases"] = {
        first: [each for each in several if each[0] == first] for first, *_ in several
    }
    names = {*known.months} - {"-"} | {*known.weekdays, *decades, *units}
    telling = {
        *names,
        *(phrase[-1] for phrase in recurring),
        *(phrase[-1] for found in table.values() for phrase, _ in found),
        *(
            phrase[-1]
            for name in ("rolling phrases", "calendar week phrases")
            for found in phrases[name].values()
            for phrase in found
        ),
    }
    opening = {
        *names, *table, *known.numbers, *known.ordinals, *(phrase[0] for phrase in recurring),
        *(first for found in phrases.values() for first in found),
        *(word for name in _OPENING for word in words[name]),
        *(f"{word[:-1]}{end}" for word in known.ordinals if language == "de" for end in _CASES),
    }  # fmt: skip
    return TimeWords(
        language,
        words,
        table,
        phrases,
        units,
        recurring,
        decades,
        known,
        frozenset(telling),
        frozenset(opening),
    )


_CASES = ("", "s", "n", "m")
_OPENING = ("in", "article", "between", "last", "this", "next", "one", "few", "anchors", "undated",
            "former")  # fmt: skip


_GRAIN_OF = {
    "en": {g: g for g in GRAINS},
    "de": {
        "stunde": "hour", "tag": "day", "woche": "week", "monat": "month", "jahr": "year",
        "jahrzehnt": "decade", "wochenende": "weekend", "quartal": "quarter",
    },
}  # fmt: skip
_SEASON_MONTHS = (3, 6, 9, 12)


def _table(classes: Mapping[str, str]) -> Iterator[tuple[Pattern, Away]]:
    for grain in ("hour", "day", "weekend", "week", "month", "quarter", "year", "decade"):
        for line in classes.get(grain, "").splitlines():
            phrase, _, away = line.partition(":")
            yield _pattern(phrase), _away(grain, away.strip())
    for line in classes["weekday"].splitlines():
        phrase, _, away = line.partition(":")
        yield _pattern(phrase), _away("weekday", away.strip())


def _away(grain: str, away: str) -> Away:
    if away == "few":
        return Away("few", 0)
    if away.endswith("n"):
        return Away(grain, None, -1 if away.startswith("-") else 1)
    return Away(grain, int(away))


def _pattern(phrase: str) -> Pattern:
    return tuple(_plain(word) for word in phrase.split())


def _by_first(phrases: Sequence[str]) -> dict[str, list[Pattern]]:
    found: dict[str, list[Pattern]] = {}
    for phrase in phrases:
        if pattern := _pattern(phrase.partition("=")[0]):
            found.setdefault(pattern[0], []).append(pattern)
    return found


def _recurring(classes: Mapping[str, str], known: Lexicon) -> Iterator[tuple[Pattern, Recurring]]:
    for word, month in known.months.items():
        if word == "-":  # in place of a short name
            continue
        yield (word,), Recurring("month", month=month, months=1)
    for group, month in zip(classes["seasons"].split(), _SEASON_MONTHS, strict=True):
        for word in group.split("/"):
            yield (word,), Recurring("season", month=month, months=3)
    named = [
        *((word, day) for g in classes["holidays"].split() for word, day in _days_of(g)),
        *((word, day) for g in classes["holiday phrases"].split(",") for word, day in _days_of(g)),
    ]
    for phrase, day in named:
        yield _pattern(phrase.replace("-", " ")), day


def _days_of(group: str) -> Iterator[tuple[str, Recurring]]:
    """Read "christmas/xmas=12-24:3": names, month and day, and how many days."""
    names, _, date = group.strip().partition("=")
    start, _, days = date.partition(":")
    month, day = map(int, start.split("-"))
    for name in names.split("/"):
        yield name, Recurring("day", month=month, day=day, days=int(days))
