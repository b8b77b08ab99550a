"""Compares the fillers at one place of two clauses: they are the same, opposed, or unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from concord_reading.lexicon import Lexicon, lexicon, read_classes
from concord_reading.quantities import Date, Same, same_value, values
from concord_reading.tokens import Token, joined
from concord_dissonance.domain.sides import Rules
from concord_dissonance.domain.verdicts import Reason

_PLACES = frozenset({"countries", "nationalities", "continents"})


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of two fillers."""

    same: Same
    reason: Reason = Reason.SAME_VALUE
    """Why they differ if `same` is NO; CONTAINED if one contains the other."""
    family: str = ""
    """The list or kind of values that decided."""

    @property
    def is_place(self) -> bool:
        """Whether they name places."""
        return self.family in _PLACES


UNKNOWN = Compared(Same.UNKNOWN)
YES = Compared(Same.YES)


def compare(one: Sequence[Token], other: Sequence[Token], words: Lexicon, rules: Rules) -> Compared:
    """Compare two fillers. A value within the other (Berlin in Germany) is not opposed to it."""
    first, second = joined(one), joined(other)
    names = rules.names_by_stems
    if first == second or names.get(first, first) == names.get(second, second):
        return YES
    around = rules.containers_by_stems
    if second in around.get(first, ()) or first in around.get(second, ()):
        return Compared(Same.UNKNOWN, Reason.CONTAINED)
    if any({first, second} <= values for values in rules.exclusive_stems):
        return Compared(Same.NO, Reason.EXCLUSIVE_VALUES, "declared")
    if section := _antonyms(words.language).get((first, second)):
        return Compared(Same.NO, Reason.ANTONYM, section)
    if (valued := _compare_values(one, other, words)) is not UNKNOWN:
        return valued
    if first.endswith(f" {second}") or second.endswith(f" {first}"):
        return UNKNOWN  # an acoustic guitar is a guitar
    sets = _exclusive(words.language)
    if shared := sets.get(first, frozenset()) & sets.get(second, frozenset()):
        return Compared(Same.NO, Reason.EXCLUSIVE_WORDS, min(shared))
    return UNKNOWN


def _compare_values(one: Sequence[Token], other: Sequence[Token], words: Lexicon) -> Compared:
    """Compare two fillers that are each one number, quantity or date and nothing else."""
    mine, yours = values(one, words), values(other, words)
    if len(mine) != 1 or len(yours) != 1:
        return UNKNOWN
    if (mine[0].begin, mine[0].end, yours[0].begin, yours[0].end) != (0, len(one), 0, len(other)):
        return UNKNOWN
    same, what = same_value(mine[0].what, yours[0].what), mine[0].what
    if same is not Same.NO:
        return Compared(same)
    if isinstance(what, Date):
        return Compared(same, Reason.DATE, "value")
    counted = what.dimension in ("", "ordinal", "version")
    return Compared(same, Reason.NUMBER if counted else Reason.QUANTITY, "value")


@cache
def _antonyms(language: str) -> Mapping[tuple[str, str], str]:
    """Return the section of each ordered pair of antonyms, which are joined stems."""
    found: dict[tuple[str, str], str] = {}
    words = lexicon(language)
    for section, body in read_classes(f"antonyms.{language}.txt"):
        for line in body.splitlines():
            left, right = (_entries(half, words) for half in line.split("/"))
            for one in left:
                for other in right:
                    if one != other:
                        found[one, other] = found[other, one] = section
    return found


@cache
def _exclusive(language: str) -> Mapping[str, frozenset[str]]:
    """Return the names of the exclusive sets with an entry, by its joined stems."""
    found: dict[str, frozenset[str]] = {}
    words = lexicon(language)
    for name, body in read_classes(f"exclusive.{language}.txt"):
        for entry in body.replace("\n", " ").split(","):
            stems = " ".join(map(words.stem, entry.split()))
            found[stems] = found.get(stems, frozenset()) | {name}
    return found


_PARTICLES = frozenset({"on", "off", "up", "down", "away", "from", "to", "out"})


def _entries(half: str, words: Lexicon) -> list[str]:
    """Return the words of one half of a line; particles belong to the word before."""
    entries: list[str] = []
    for word in half.split():
        if word in _PARTICLES and entries:
            entries[-1] += f" {words.stem(word)}"
        else:
            entries.append(words.stem(word))
    return entries
