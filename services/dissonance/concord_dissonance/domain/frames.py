"""Aligns two clauses: what they share is the frame, and where they differ stand the fillers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from concord_dissonance.domain.clauses import Clause
from concord_dissonance.domain.tokens import Token


class Fillers(NamedTuple):
    """Two fillers at one place of a frame; one of them can be empty."""

    first: tuple[Token, ...]
    second: tuple[Token, ...]
    in_subject: bool
    """Whether they stand before the verb, as far as a clause without a parse shows."""


def align(first: Clause, second: Clause) -> list[Fillers]:
    """Return the fillers of two clauses, in order; determiners are not compared.

    Clauses of one length are compared place by place, others by what they begin and end with.
    """
    one, other = _compared(first), _compared(second)
    if len(one) == len(other):
        places = [(begin, end, end) for begin, end in _differing(one, other)]
    else:
        begin = _shared(one, other)
        end = _shared(one[begin:][::-1], other[begin:][::-1])
        places = [(begin, len(one) - end, len(other) - end)]
    verb = next((at for at, token in enumerate(one) if _is_auxiliary(token, first)), 1)
    return [
        Fillers(tuple(one[begin:end]), tuple(other[begin:other_end]), begin < verb)
        for begin, end, other_end in places
    ]


def _is_auxiliary(token: Token, clause: Clause) -> bool:
    return token.word in clause.words.words["auxiliary"]


def _compared(clause: Clause) -> list[Token]:
    skipped = clause.words.words["determiner"]
    return [token for token in clause.tokens if token.word not in skipped]


def _differing(one: Sequence[Token], other: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where runs of differing places begin and end."""
    differs = [mine.stem != yours.stem for mine, yours in zip(one, other, strict=True)]
    for differing, places in groupby(range(len(one)), key=differs.__getitem__):
        if differing:
            run = list(places)
            yield run[0], run[-1] + 1


def _shared(one: Sequence[Token], other: Sequence[Token]) -> int:
    """Return how many tokens the two begin with alike."""
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine.stem != yours.stem:
            break
        count += 1
    return count
