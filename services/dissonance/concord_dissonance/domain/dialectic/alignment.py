"""Aligns two clauses: where their words differ, each has a filler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, takewhile
from typing import NamedTuple

from concord_reading.clauses import Clause
from concord_reading.tokens import Token


class Fillers(NamedTuple):
    """Two fillers at one place of two clauses; one of them can be empty."""

    first: tuple[Token, ...]
    second: tuple[Token, ...]


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
    return [
        Fillers(_tokens(one[begin:end]), _tokens(other[begin:other_end]))
        for begin, end, other_end in runs
    ]


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
