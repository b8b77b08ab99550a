"""Finds numbers, quantities and dates of one attribute that differ between two texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concord_dissonance.domain.judges.finding import Finding
from concord_reading.clauses import Mention, Reading
from concord_reading.quantities import Date, Same, same_value
from concord_dissonance.domain.verdicts import Reason

_ENOUGH = 2.0
_NEAR_ENOUGH = 5.0


def revised_values(first: Reading, second: Reading) -> Iterator[Finding]:
    """Yield the pair of differing values whose surroundings share most, if they share enough.

    Values that both texts name are not compared: they did not change.
    """
    pairs = [
        (_shared(one, other), one, other)
        for one in _only(first.mentions, second.mentions)
        for other in _only(second.mentions, first.mentions)
        if same_value(one.what, other.what) is Same.NO
    ]
    if pairs:
        score, one, other = max(pairs, key=lambda pair: pair[0])
        if score >= _ENOUGH:
            pattern = "revision" if score >= _NEAR_ENOUGH else "revision in part"
            yield Finding(_reason(one.what), pattern, one.clause, other.clause)


def _only(mentions: Sequence[Mention], others: Sequence[Mention]) -> list[Mention]:
    """Return the mentions of values that the other text does not mention."""
    return [
        each
        for each in mentions
        if not any(same_value(each.what, other.what) is Same.YES for other in others)
    ]


def _shared(one: Mention, other: Mention) -> float:
    """Score two mentions: 2 if they count the same thing, 1 for a dimension, 2 for words of change,
    1 for each shared word near the values and 1/2 for each further off. The weights were set by
    reading pairs, not fitted."""
    measured = isinstance(one.what, Date) or one.what.dimension != ""
    changed = one.clause.has("latter phrases") or other.clause.has("latter phrases")
    near = one.near & other.near
    return (
        2 * bool(one.counted & other.counted)
        + measured
        + 2 * changed
        + len(near)
        + len((one.around & other.around) - near) / 2
    )


def _reason(what: object) -> Reason:
    if isinstance(what, Date):
        return Reason.DATE
    return Reason.QUANTITY if getattr(what, "dimension", "") else Reason.NUMBER
