"""Numbers, units and dates as they are written, and whether two of them can be the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from math import inf

from concord_reading.lexicon import Lexicon, Phrase, phrases_at, read_lines
from concord_reading.tokens import Token

_GROUPED = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
_MIXED = re.compile(r"(\d{1,3}(?:([.,])\d{3})+)(?!\2)[.,](\d+)")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_MINUTE = 1 / 60
_DECIMAL = re.compile(r"\d+[.,]\d+")
_YEARS = range(1800, 2101)
_WORD_PRECISION = 0.5
_APPROXIMATE = 0.05
_LONGEST_BOUND = 2
"""Words of the longest phrase that makes a number approximate or a bound."""
_MOST_DIGITS = 15
_MONTH = 365.2425 / 12 * 86_400
"""Seconds of a month of the Gregorian calendar, on average."""


class Same(Enum):
    """Whether two values are the same."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Date:
    """The written parts of a date; None: not written."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None

    def parts(self) -> tuple[int | None, ...]:
        """Return its parts, in one order."""
        return self.year, self.month, self.day, self.weekday


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with the precision of its writing, in the first unit of its dimension."""

    value: float
    precision: float
    """Its largest error: half of the last written place; "about" makes it 5 % of the value."""
    dimension: str = ""
    """Empty for a count; "ordinal" for a rank, "version" for a number with two dots or more."""
    written: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A quantity or date, and the tokens `begin` to `end` that write it."""

    what: Quantity | Date
    begin: int
    end: int


def same_value(one: Quantity | Date, other: Quantity | Date) -> Same:
    """Compare two values: "March" may be "12 March", 1 km is 1000 m, "3.1" may be 3.14."""
    if isinstance(one, Date) and isinstance(other, Date):
        pairs = [
            (a, b)
            for a, b in zip(one.parts(), other.parts(), strict=True)
            if a is not None and b is not None
        ]
        if not pairs:
            return Same.UNKNOWN
        return Same.YES if all(a == b for a, b in pairs) else Same.NO
    if isinstance(one, Date) or isinstance(other, Date):
        return Same.UNKNOWN
    if {one.dimension, other.dimension} == {"time", "months"}:
        # Months differ in length, so two such durations are never known to be the same.
        far = same_value(_in_seconds(one), _in_seconds(other)) is Same.NO
        return Same.NO if far else Same.UNKNOWN
    if one.dimension != other.dimension:
        return Same.UNKNOWN
    if one.dimension == "version":
        return Same.YES if one.written == other.written else Same.NO
    if one.value == other.value:
        return Same.YES
    if abs(one.value - other.value) < max(one.precision, other.precision):
        return Same.YES
    return Same.NO


def _in_seconds(duration: Quantity) -> Quantity:
    if duration.dimension == "time":
        return duration
    return Quantity(duration.value * _MONTH, duration.precision * _MONTH, "time")


def values(tokens: Sequence[Token], words: Lexicon) -> list[Value]:
    """Return the values in a clause, from left to right, none within another."""
    found: list[Value] = []
    at = 0
    while at < len(tokens):
        value = _date(tokens, at, words) or _quantity(tokens, at, words)
        if value:
            found.append(value)
        at = value.end if value else at + 1
    return found


def _date(tokens: Sequence[Token], at: int, words: Lexicon) -> Value | None:
    word = tokens[at].word
    if word in words.weekdays:
        return Value(Date(weekday=words.weekdays[word]), at, at + 1)
    if word[:1].isdecimal() and (date := _in_figures(word)):
        return Value(date, at, at + 1)
    if word in words.months and (word != "may" or _is_number(tokens, at - 1, at + 1)):
        date, end = _of_month(tokens, at, words)
        return Value(date, at, end)
    if _is_day(tokens, at) and at + 1 < len(tokens) and tokens[at + 1].word in words.months:
        date, end = _of_month(tokens, at + 1, words)
        return Value(replace(date, day=int(word)), at, end)
    if _is_year(tokens, at) and not _unit(tokens, at + 1):
        return Value(Date(year=int(word)), at, at + 1)
    return None


def _in_figures(word: str) -> Date | None:
    if iso := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", word):
        year, month, day = map(int, iso.groups())
        return Date(year, month, day)
    if dotted := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", word):
        day, month, year = map(int, dotted.groups())
        return Date(year, month, day)
    return None


def _of_month(tokens: Sequence[Token], at: int, words: Lexicon) -> tuple[Date, int]:
    """Read "March 12th 2024", "March 12", "March 2024" and "March"."""
    day = year = None
    end = at + 1
    if _is_day(tokens, end):
        day, end = int(tokens[end].word), end + 1
    if _is_year(tokens, end):
        year, end = int(tokens[end].word), end + 1
    return Date(year, words.months[tokens[at].word], day), end


def _is_day(tokens: Sequence[Token], at: int) -> bool:
    word = tokens[at].word if at < len(tokens) else ""
    return word.isdecimal() and len(word) <= 2 and int(word) <= 31


def _is_year(tokens: Sequence[Token], at: int) -> bool:
    word = tokens[at].word if at < len(tokens) else ""
    return word.isdecimal() and len(word) == 4 and int(word) in _YEARS


def _is_number(tokens: Sequence[Token], *places: int) -> bool:
    return any(0 <= at < len(tokens) and tokens[at].word.isdecimal() for at in places)


def _quantity(tokens: Sequence[Token], at: int, words: Lexicon) -> Value | None:
    """Read a number with its currency or unit: "$5", "5 km", "one km", "5.3.0"."""
    word = tokens[at].word
    if word in _CURRENCIES and _starts_number(tokens, at + 1):
        value, precision = _number(tokens[at + 1].word, words)
        return _valued(tokens, at, at + 2, Quantity(value, precision, _units()[word][0]), words)
    if word in words.ordinals and not (word in _units() and _starts_number(tokens, at - 1)):
        return Value(Quantity(words.ordinals[word], 0, "ordinal"), at, at + 1)
    if words.numbers.get(word, 1) != 1:
        return _spelt_out(tokens, at, words)
    if word in words.words["single"] and _unit(tokens, at + 1):
        return _with_unit(tokens, at, at + 1, Quantity(1, _WORD_PRECISION), words)
    if not word[0].isdecimal():
        return None
    if word.count(".") > 1 and not _GROUPED.fullmatch(word):
        return Value(Quantity(0, 0, "version", word), at, at + 1)
    value, precision = _number(word, words)
    return _with_unit(tokens, at, at + 1, Quantity(value, precision), words)


def _spelt_out(tokens: Sequence[Token], at: int, words: Lexicon) -> Value:
    """Read "two", "twenty-one", "twenty-first"."""
    value, end = words.numbers[tokens[at].word], at + 1
    following = tokens[end].word if end < len(tokens) else ""
    if value >= 20 and 0 < words.ordinals.get(following, 0) < 10:
        return Value(Quantity(value + words.ordinals[following], 0, "ordinal"), at, end + 1)
    if value >= 20 and 0 < words.numbers.get(following, 0) < 10:
        value, end = value + words.numbers[following], end + 1
    return _with_unit(tokens, at, end, Quantity(value, _WORD_PRECISION), words)


def _with_unit(
    tokens: Sequence[Token], begin: int, end: int, number: Quantity, words: Lexicon
) -> Value:
    """Return a number with the scale and the unit that follow it: "million", "km"."""
    value, precision, dimension = number.value, number.precision, number.dimension
    if end < len(tokens) and tokens[end].word in words.scales:
        scale = words.scales[tokens[end].word]
        value, precision, end = value * scale, precision * scale, end + 1
    if unit := _unit(tokens, end):
        dimension, size = unit
        value, precision, end = value * size, precision * size, end + 1
    return _valued(tokens, begin, end, Quantity(value, precision, dimension), words)


def _valued(tokens: Sequence[Token], begin: int, end: int, what: Quantity, words: Lexicon) -> Value:
    """Return a quantity with the words before it that make it approximate or a bound, if any."""
    if length := _before(tokens, begin, words.phrases["bound phrases"]):
        return Value(replace(what, precision=inf), begin - length, end)
    if length := _before(tokens, begin, words.phrases["approximately phrases"]):
        precision = max(what.precision, _APPROXIMATE * what.value)
        return Value(replace(what, precision=precision), begin - length, end)
    return Value(what, begin, end)


def _before(tokens: Sequence[Token], at: int, phrases: Mapping[str, Sequence[Phrase]]) -> int:
    """Return the length of the longest phrase that ends at a place; 0: none does."""
    spelt = [token.word for token in tokens[max(0, at - _LONGEST_BOUND) : at]]
    lengths = range(len(spelt), 0, -1)
    return next((n for n in lengths if phrases_at(phrases, spelt, len(spelt) - n) == n), 0)


def _starts_number(tokens: Sequence[Token], at: int) -> bool:
    return 0 <= at < len(tokens) and tokens[at].word[0].isdecimal()


def _number(word: str, words: Lexicon) -> tuple[float, float]:
    """Return a number and half of its last place; "1,000" is a thousand, in German "1.000"."""
    decimal_mark = "," if words.language == "de" else "."
    if clock := _CLOCK.fullmatch(word):
        return int(clock[1]) + int(clock[2]) / 60, _MINUTE / 2
    if mixed := _MIXED.fullmatch(word):
        word = re.sub(r"[.,]", "", mixed[1]) + decimal_mark + mixed[3]
    grouped = _GROUPED.fullmatch(word)
    if grouped and (grouped[1] != decimal_mark or word.count(decimal_mark) > 1):
        return float(re.sub(r"[.,]", "", word)), _WORD_PRECISION
    if _DECIMAL.fullmatch(word):
        places = len(re.split(r"[.,]", word)[1])
        return float(word.replace(",", ".")), 0.5 * 10**-places
    return float(re.sub(r"\D", "", word)[:_MOST_DIGITS]), _WORD_PRECISION


@cache
def _units() -> Mapping[str, tuple[str, float]]:
    """Return units by their spellings: the dimension, and the size in its first unit."""
    found: dict[str, tuple[str, float]] = {}
    for line in read_lines("units.txt"):
        dimension, _, units = line.partition(":")
        for unit in units.split():
            spellings, _, size = unit.rpartition("=")
            found.update(dict.fromkeys(spellings.split("/"), (dimension, float(size))))
    return found


_CURRENCIES = frozenset("€$£")


def _unit(tokens: Sequence[Token], at: int) -> tuple[str, float] | None:
    return _units().get(tokens[at].word) if at < len(tokens) else None
