"""Flags texts that say the same but for two amounts of other units, as 5 EUR and 7 USD (D4)."""

from itertools import product

from concord_reading.frame import Aspect, Frame, Word
from concord_reading.quantities import Quantity

from concord_dissonance.domain.judges.text import MOST_FRAMES
from concord_dissonance.domain.sides import Side
from concord_dissonance.domain.verdicts import ConflictClass, Judge, Reason, Verdict


def uncompared(first: Side, second: Side) -> Verdict | None:
    """Return the verdict that nobody can say how two texts disagree; None: nothing is flagged."""
    frames = (each.frames.asserted[:MOST_FRAMES] for each in (first, second))
    for one, other in product(*frames):
        if _differ_in_amount(one, other):
            return Verdict(
                ConflictClass.UNDECIDED,
                Judge.LEXICAL,
                Reason.UNKNOWN_VALUES,
                0.0,
                first=(one.span,),
                second=(other.span,),
            )
    return None


def _differ_in_amount(one: Frame, other: Frame) -> bool:
    states = one.aspect is other.aspect is Aspect.STATE and not (one.is_denied or other.is_denied)
    if not states or len(one.words) != len(other.words) or one.adverbs != other.adverbs:
        return False
    pairs = list(zip(one.words, other.words, strict=True))
    if any((a.role, a.link, a.head) != (b.role, b.link, b.head) for a, b in pairs):
        return False
    differing = [pair for pair in pairs if not pair[0].key or pair[0].key != pair[1].key]
    return len(differing) == 1 and _are_of_two_units(*differing[0])


def _are_of_two_units(one: Word, other: Word) -> bool:
    first, second = one.value, other.value
    if not isinstance(first, Quantity) or not isinstance(second, Quantity):
        return False
    return bool(first.dimension and second.dimension) and first.dimension != second.dimension
