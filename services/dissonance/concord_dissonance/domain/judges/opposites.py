"""Compares two words at one place of two frames: the same, opposed, or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from concord_reading.frame import Kind, Word
from concord_reading.lexicon import lexicon, read_classes
from concord_reading.quantities import Date, Same, same_value

from concord_dissonance.domain.sides import Rules, stems_of_name
from concord_dissonance.domain.verdicts import Reason


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of two words."""

    same: Same
    reason: Reason = Reason.SAME_VALUE
    """Why they differ if `same` is NO; CONTAINED if one contains the other."""


_COUNTRIES = ("countries", "continents")
_AKIN = 5
"""Letters that akin words share at least, and by which they differ at most."""
UNKNOWN = Compared(Same.UNKNOWN)
YES = Compared(Same.YES)


def compare(one: Word, other: Word, language: str, rules: Rules) -> Compared:
    """Compare two words. A value within the other (Berlin in Germany) is not opposed to it."""
    if one.value is not None or other.value is not None:
        return _compare_values(one, other)
    first, second = one.key, other.key
    if first == second:
        return YES if first else UNKNOWN
    if (declared := _compare_declared(_declared(one), _declared(other), rules)) is not UNKNOWN:
        return declared
    if {one.kind, other.kind} == {Kind.NOUN, Kind.VERB} and _are_akin(first, second):
        return YES
    first, second = _stemmed(one, language), _stemmed(other, language)
    if (first, second) in antonyms(language):
        return Compared(Same.NO, Reason.ANTONYM)
    sets = exclusive_sets(language)
    if sets.get(first, frozenset()) & sets.get(second, frozenset()):
        return Compared(Same.NO, Reason.EXCLUSIVE_WORDS)
    return UNKNOWN


def _compare_declared(first: str, second: str, rules: Rules) -> Compared:
    names, around = rules.names_by_stems, rules.containers_by_stems
    if names.get(first, first) == names.get(second, second):
        return YES if first else UNKNOWN
    if second in around.get(first, ()) or first in around.get(second, ()):
        return Compared(Same.UNKNOWN, Reason.CONTAINED)
    if any({first, second} <= values for values in rules.exclusive_stems):
        return Compared(Same.NO, Reason.EXCLUSIVE_VALUES)
    return UNKNOWN


def _declared(word: Word) -> str:
    """Return a word as rules have it: a name's key is its words, which rules stem."""
    return _stems_of(word.key) if word.kind is Kind.NAME else word.key


_stems_of = lru_cache(10_000)(stems_of_name)


def _compare_values(one: Word, other: Word) -> Compared:
    if one.value is None or other.value is None:
        return UNKNOWN
    same, what = same_value(one.value, other.value), one.value
    if isinstance(what, Date):
        return Compared(same, Reason.DATE) if same is Same.NO else Compared(same)
    if same is not Same.NO:
        return Compared(same)
    counted = what.dimension in ("", "ordinal", "version")
    return Compared(same, Reason.NUMBER if counted else Reason.QUANTITY)


def _are_akin(one: str, other: str) -> bool:
    """Whether a verb and a noun are of one stem: "operate" and "operation"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _AKIN and long.startswith(short) and len(long) - len(short) <= _AKIN


def is_same_name(one: Word, other: Word) -> bool:
    """Whether one name can be a short form of the other: "Maeve" and "Maeve Byrne"."""
    if Kind.NAME not in (one.kind, other.kind):
        return False
    first, second = set(one.key.split()), set(other.key.split())
    return bool(first and second) and (first <= second or second <= first)


def names_country(word: Word, language: str) -> bool:
    """Whether a word is the name of a country."""
    sets = exclusive_sets(language).get(_stemmed(word, language), frozenset())
    return any(each in sets for each in _COUNTRIES)


def _stemmed(word: Word, language: str) -> str:
    """Return a word's stems, also of a name, whose key is its words."""
    if word.kind is not Kind.NAME:
        return word.key
    return " ".join(map(lexicon(language).stem, word.key.split()))


@cache
def antonyms(language: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of antonyms, which are stems, in both orders."""
    found: set[tuple[str, str]] = set()
    words = lexicon(language)
    for _, body in read_classes(f"antonyms.{language}.txt"):
        for line in body.splitlines():
            left, right = ([*map(words.stem, half.split())] for half in line.split("/"))
            pairs = {(one, other) for one, other in product(left, right) if one != other}
            found |= pairs | {(other, one) for one, other in pairs}
    return frozenset(found)


@cache
def exclusive_sets(language: str) -> Mapping[str, frozenset[str]]:
    """Return the names of the exclusive sets with an entry, by its stem."""
    found: dict[str, frozenset[str]] = {}
    words = lexicon(language)
    for name, body in read_classes(f"exclusive.{language}.txt"):
        for entry in body.replace("\n", " ").split(","):
            stems = " ".join(map(words.stem, entry.split()))
            found[stems] = found.get(stems, frozenset()) | {name}
    return found
