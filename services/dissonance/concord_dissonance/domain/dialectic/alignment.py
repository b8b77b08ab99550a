"""Aligns two clauses: shared words are the frame, words that differ are the fillers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, takewhile
from typing import NamedTuple

from concord_reading.clauses import Clause
from concord_reading.tokens import Token


class Fillers(NamedTuple):
    """Two fillers at one place of a frame; one of them can be empty."""

    first: tuple[Token, ...]
    second: tuple[Token, ...]
    after: str
    """The word of the frame before them; empty at its beginning."""
    in_subject: bool
    """Whether they come before the verb, as far as this shows without a parser."""
    before: str = ""
    """The word of the frame after them; empty at its end."""
    ends_subject: bool = False
    """Whether they come between a word of content and the verb: "Room 3" is a name."""


def align(first: Clause, second: Clause) -> list[Fillers]:
    """Return the fillers of two clauses, in order; determiners are not compared.

    Clauses of equal length are compared place by place, others by their common beginning and end. A
    value with its unit is one place.
    """
    one, other, mine, yours = first.places, second.places, first.spelt, second.spelt
    if len(one) == len(other):
        runs = [(begin, end, end) for begin, end in _differing(mine, yours)]
    else:
        begin = _shared(mine, yours)
        end = _shared(mine[begin:][::-1], yours[begin:][::-1])
        runs = [(begin, len(one) - end, len(other) - end)]
    verb = _verb(first)
    found: list[Fillers] = []
    for begin, end, other_end in runs:
        after = one[begin - 1][-1].word if begin else ""
        before = one[end][0].word if end < len(one) else ""
        parts = _tokens(one[begin:end]), _tokens(other[begin:other_end])
        names = end == verb and bool(after) and after not in first.words.function
        found.append(Fillers(*parts, after, begin < verb, before, names))
    return found


def _verb(clause: Clause) -> int:
    """Return the verb's place: the first auxiliary's, else the one after a noun or "Room 3"."""
    auxiliaries = (at for at, p in enumerate(clause.places) if _is_auxiliary(p, clause))
    is_numbered = len(clause.places) > 2 and clause.places[1][0].word[0].isdecimal()
    return next(auxiliaries, 2 if is_numbered else 1)


def _is_auxiliary(place: Sequence[Token], clause: Clause) -> bool:
    return place[0].word in clause.words.words["auxiliary"]


def _tokens(places: Sequence[tuple[Token, ...]]) -> tuple[Token, ...]:
    return tuple(chain.from_iterable(places))


def _differing(mine: Sequence[str], yours: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of each run of differing places."""
    differs = [one != other for one, other in zip(mine, yours, strict=True)]
    for differing, places in groupby(range(len(mine)), key=differs.__getitem__):
        if differing:
            run = list(places)
            yield run[0], run[-1] + 1


def _shared(mine: Sequence[str], yours: Sequence[str]) -> int:
    """Return the number of equal places at the beginning of both."""
    pairs = zip(mine, yours, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
