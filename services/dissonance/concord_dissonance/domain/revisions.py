"""Finds numbers, quantities and dates of one attribute that differ between two texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from concord_dissonance.domain.finding import Finding
from concord_dissonance.domain.quantities import Date, Quantity, Same, Value, same_value, values
from concord_dissonance.domain.reading import Clause, Reading, content_of
from concord_dissonance.domain.verdicts import Reason

_MOST = 64
"""Mentions of a text that are compared."""
_NEAR = 8
"""Tokens on each side of a value that say what it is of."""
_ENOUGH = 2.0
_NEAR_ENOUGH = 5.0


class _Mention(NamedTuple):
    what: Quantity | Date
    clause: Clause
    head: frozenset[str]
    """What is counted or measured: the two words of content that follow."""
    near: frozenset[str]
    context: frozenset[str]
    """Content of its clause and the one before."""


def revised_values(first: Reading, second: Reading) -> Iterator[Finding]:
    """Yield the pair of differing values whose surroundings share most, if they share enough."""
    best: tuple[float, _Mention, _Mention] | None = None
    mine, yours = _mentions(first), _mentions(second)
    for one in _only(mine, yours):
        for other in _only(yours, mine):
            if same_value(one.what, other.what) is Same.NO:
                score = _shared(one, other)
                if score >= _ENOUGH and (best is None or score > best[0]):
                    best = score, one, other
    if best:
        score, one, other = best
        pattern = "revision" if score >= _NEAR_ENOUGH else "revision in part"
        yield Finding(_reason(one.what), pattern, one.clause, other.clause)


def _only(mentions: Sequence[_Mention], others: Sequence[_Mention]) -> list[_Mention]:
    """Return the mentions of values that the other text does not mention."""
    return [
        each
        for each in mentions
        if not any(same_value(each.what, other.what) is Same.YES for other in others)
    ]


def _mentions(reading: Reading) -> Sequence[_Mention]:
    found: list[_Mention] = []
    before: frozenset[str] = frozenset()
    for clause in reading.clauses:
        content = frozenset(stem for stem in clause.content if not stem[0].isdecimal())
        for value in filter(_can_change, values(clause.tokens, clause.words)):
            if len(found) == _MOST:
                return found
            own = {token.stem for token in clause.tokens[value.begin : value.end]}
            near = clause.tokens[max(0, value.begin - _NEAR) : value.end + _NEAR]
            after = content_of(clause.tokens[value.end : value.end + 4], clause.words)
            found.append(
                _Mention(
                    value.what,
                    clause,
                    _words_of(list(after)[:2], own),
                    _words_of(content_of(near, clause.words), own),
                    (content | before) - own,
                )
            )
        before = content
    return found


def _can_change(value: Value) -> bool:
    """Whether it measures; versions and places in an order name things."""
    return isinstance(value.what, Date) or value.what.dimension not in ("version", "ordinal")


def _words_of(stems: Iterable[str], own: set[str]) -> frozenset[str]:
    return frozenset(stem for stem in stems if stem not in own and not stem[0].isdecimal())


def _shared(one: _Mention, other: _Mention) -> float:
    """Score what two mentions share: what is counted 2, a dimension 1, a word near 1, one further
    off 1/2; and 2 for words of change."""
    measured = isinstance(one.what, Date) or one.what.dimension != ""
    changed = one.clause.has("latter phrases") or other.clause.has("latter phrases")
    return (
        2 * bool(one.head & other.head)
        + measured
        + 2 * changed
        + len(one.near & other.near)
        + len((one.context & other.context) - (one.near & other.near)) / 2
    )


def _reason(what: Quantity | Date) -> Reason:
    if isinstance(what, Date):
        return Reason.DATE
    return Reason.QUANTITY if what.dimension else Reason.NUMBER
