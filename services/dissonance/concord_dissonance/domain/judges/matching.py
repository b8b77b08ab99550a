"""Finds how two frames disagree: they say the same of one thing, but for one word or number.

Words are matched by their stems. What is left over must be the two words that cannot both hold,
what belongs to them, or what limits neither frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from concord_reading.frame import Aspect, Frame, Kind, Role, Word
from concord_reading.quantities import Date, Quantity, Same

from concord_dissonance.domain.judges.aligned import Aligned
from concord_dissonance.domain.judges.attributes import Phase, Values, named_by
from concord_dissonance.domain.judges.opposites import (
    Compared,
    compare,
    is_same_name,
    names_country,
)
from concord_dissonance.domain.judges.places import (
    comparative,
    denies,
    head_of,
    identifies,
    is_identity,
    is_modifier,
    is_naming,
    is_said,
    owner,
    verb_of,
)
from concord_dissonance.domain.sides import Rules
from concord_dissonance.domain.verdicts import Abstained, Older, Reason

_COUNTED = (Reason.NUMBER, Reason.QUANTITY)
_DATED = frozenset({"start", "end", "birth", "death", "founding"})
_VALUE_LINKS = frozenset({"", "at", "in", "on", "to", "for", "by", "with", "from", "of", "as"})
_THINGS = (Kind.NAME, Kind.NOUN, Kind.PERSON)
_Pivot = tuple[Word, Word, Compared]


class Effect(Enum):
    """What a disagreement makes of two frames."""

    CONTRADICTS = "contradicts"
    LIMITS = "limits"
    """What one says lies within what the other says."""
    FOLLOWS = "follows"
    """One says that what the other says has begun or ended."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two frames that cannot both hold of one time without limits."""

    reason: Reason
    first: Frame
    second: Frame
    effect: Effect = Effect.CONTRADICTS
    older: Older = Older.NEITHER
    """Of one that follows: the side with the former state."""


def disagreement(one: Frame, other: Frame, rules: Rules) -> Disagreement | Abstained:
    """Compare two asserted frames of one language."""
    pair = Aligned(one, other, rules)
    if one.has_exception or other.has_exception:
        return Abstained.OTHER_SCOPE
    if not any(identifies(a) or identifies(b) for a, b in pair.matched):
        return Abstained.NO_COMPARABLE_SUBJECT
    if comparative(one) or comparative(other):
        return _compared(pair)
    pivot = _pivot(pair)
    return _denied(pair) if pivot is None else _opposed(pair, *pivot)


def _opposed(pair: Aligned, one: Word, other: Word, why: Compared) -> Disagreement | Abstained:
    if "some" in (pair.one.quantifier, pair.other.quantifier):
        return Abstained.OTHER_SCOPE
    if any(pair.uncovered(one, other)):
        return Abstained.TOO_DIFFERENT
    if why.reason is not Reason.TWO_VALUES and not _says_enough(pair, one, other):
        return Abstained.NO_COMPARABLE_ATTRIBUTE
    if Kind.VERB in (one.kind, other.kind) and not pair.same_doer():
        return Abstained.NO_COMPARABLE_SUBJECT
    if denies(pair.one) or denies(pair.other):
        return Abstained.UNKNOWN_FILLERS
    if _is_of_other_time(pair, why):
        return Abstained.OTHER_TIME
    if why.reason is Reason.CONTAINED:
        return Disagreement(why.reason, *pair.frames, Effect.LIMITS)
    return _by_phase(pair, why) or Disagreement(why.reason, *pair.frames)


def _denied(pair: Aligned) -> Disagreement | Abstained:
    """Judge frames of the same words: one denies the other, or tells its end."""
    one, other = pair.frames
    if not any(_tells(a, pair) for a, _ in pair.matched):
        return Abstained.NO_COMPARABLE_ATTRIBUTE
    left = pair.uncovered()
    if any(left) and not _denies_all(pair, left):
        return Abstained.TOO_DIFFERENT
    if not any(left) and not pair.subjects_match():
        return Abstained.NO_COMPARABLE_SUBJECT
    if _is_of_other_time(pair, None):
        return Abstained.OTHER_TIME
    if followed := _by_phase(pair, None):
        return followed
    if denies(one) == denies(other):
        return Abstained.NOTHING_TO_COMPARE
    denying, said = (one, other) if denies(one) else (other, one)
    none_of_some = denying.quantifier == "none" and said.quantifier == "some"
    if "some" in (denying.quantifier, said.quantifier) and not none_of_some:
        return Abstained.OTHER_SCOPE
    more = pair.left if denies(one) else pair.right
    scoping = pair.lexicon.words["scoping"]
    if any(each.link in scoping and each.value is None for each in more):
        return Abstained.OTHER_SCOPE
    return Disagreement(Reason.NEGATION, one, other)


def _tells(word: Word, pair: Aligned) -> bool:
    """Whether a shared word tells more than who speaks: "I know" and "I do not know" are of what
    follows them."""
    empty = any(pair.lexicon.has(word.key, name) for name in ("neutral", "mental"))
    return word.kind is not Kind.PERSON and not empty


def _denies_all(pair: Aligned, left: tuple[list[Word], list[Word]]) -> bool:
    """Whether only the asserting frame says more: "was never thrown away" denies that somebody
    threw it into the river."""
    if denies(pair.one) == denies(pair.other):
        return False
    of_denying = left[0] if denies(pair.one) else left[1]
    same_verb = pair.same(verb_of(pair.one), verb_of(pair.other))
    return not of_denying and len(pair.matched) > 2 and same_verb


def _compared(pair: Aligned) -> Disagreement | Abstained:
    """Judge two comparisons: "A is colder than B" against "B is colder than A"."""
    one, other = comparative(pair.one), comparative(pair.other)
    if one is None or other is None:
        return Abstained.NO_COMPARABLE_ATTRIBUTE
    swapped = pair.share(one[0], other[1]) and pair.share(one[1], other[0])
    if not swapped and not (pair.share(one[0], other[0]) and pair.share(one[1], other[1])):
        return Abstained.NO_COMPARABLE_SUBJECT
    if denies(pair.one) or denies(pair.other):
        return Abstained.UNKNOWN_FILLERS
    pivot = _pivot(pair)
    opposed = pivot is not None and pivot[2].reason is Reason.ANTONYM
    if any(pair.uncovered(*(pivot[:2] if pivot else ()))):
        return Abstained.TOO_DIFFERENT
    if _is_of_other_time(pair, None):
        return Abstained.OTHER_TIME
    if opposed == swapped:
        return Abstained.NOTHING_TO_COMPARE
    return Disagreement(Reason.ANTONYM, *pair.frames)


# -- two words that cannot both hold


def _pivot(pair: Aligned) -> _Pivot | None:
    for one in pair.left:
        for other in pair.right:
            why = compare(one, other, pair.one.language, pair.rules)
            if why.reason is Reason.CONTAINED:
                return one, other, why
            if why.same is Same.NO and _can_be_values(pair, one, other, why):
                return one, other, why
    for one in pair.left:
        for other in pair.right:
            if _is_one_valued(pair, one, other):
                return one, other, Compared(Same.NO, Reason.TWO_VALUES)
    return None


def _says_enough(pair: Aligned, one: Word, other: Word) -> bool:
    """Whether more than a person is shared, or nothing else is said of it."""
    if any(a.kind is not Kind.PERSON for a, _ in pair.matched):
        return True
    return pair.left == [one] and pair.right == [other]


def _can_be_values(pair: Aligned, one: Word, other: Word, why: Compared) -> bool:
    """Whether two opposed words say something of one thing, and do not name two things."""
    heads = head_of(one, pair.one), head_of(other, pair.other)
    naming = is_naming(one, pair.one), is_naming(other, pair.other)
    if any(naming):
        head = heads[0]
        if head is None or not all(naming) or not pair.same(*heads):
            return False
        names = any(each in pair.attributes for each in named_by(head, pair.one))
        follows = pair.one.words.index(head) > pair.one.verb  # "is in room 3", not "Ticket 3: ..."
        return names or (follows and _is_value(pair, head, pair.one))
    if why.reason in _COUNTED:
        return _measure_same(pair, one, other)
    if why.reason is Reason.DATE:
        return _is_dating(pair, one, pair.one) and _is_dating(pair, other, pair.other)
    if one is pair.one.subject or other is pair.other.subject:
        return False
    verb = verb_of(pair.one)
    if heads[0] is verb and verb is not None and pair.lexicon.has(verb.key, "many valued"):
        return False
    owners = owner(one, pair.one), owner(other, pair.other)
    if is_said(one, pair.one) and is_said(other, pair.other):
        return True
    return pair.same(*owners) and any(each is not None and each.is_definite for each in owners)


def _measure_same(pair: Aligned, one: Word, other: Word) -> bool:
    """Whether two numbers count or measure the same thing."""
    heads = head_of(one, pair.one), head_of(other, pair.other)
    if pair.attributes or pair.same(*heads):
        return True
    if not isinstance(one.value, Quantity) or one.value.dimension in ("", "ordinal"):
        return False
    if one.value.dimension in ("time", "months"):
        return pair.same_verb
    return pair.attributes_agree and Role.SUBJECT not in (one.role, other.role)


def _is_dating(pair: Aligned, word: Word, frame: Frame) -> bool:
    """Whether a date says when something is, and not only when a claim held."""
    if any(each.attribute in _DATED for each in pair.attributes):
        return True
    happened = frame.aspect is Aspect.EVENT and word.link in ("in", "on", "at", "am", "im", "um")
    return happened and pair.is_once


def _is_one_valued(pair: Aligned, one: Word, other: Word) -> bool:
    """Whether two names are values of an attribute that holds one at a time."""
    if one.kind not in _THINGS or other.kind not in _THINGS or is_same_name(one, other):
        return False
    if one.kind is Kind.NOUN and other.kind is Kind.NOUN:
        return False
    if not any(_tells(a, pair) for a, _ in pair.matched):  # where a person is passes quickly
        named = {each.attribute for each in pair.attributes}
        if not named - {"place"}:
            return False
    if names_country(one, pair.one.language) != names_country(other, pair.other.language):
        return False  # one may lie in the other
    return all(
        is_identity(word, frame) or _is_value(pair, word, frame)
        for word, frame in ((one, pair.one), (other, pair.other))
    )


def _is_value(pair: Aligned, word: Word, frame: Frame) -> bool:
    """Whether a word is the value of an attribute that both frames name."""
    if is_modifier(word, frame) or word.link not in _VALUE_LINKS:
        return False
    kinds = {each.values for each in pair.attributes}
    if word.role is Role.SUBJECT or word.link in ("by", "von"):
        return Values.SUBJECT in kinds
    head = head_of(word, frame)
    named = () if head is None else named_by(head, frame)
    return Values.OBJECT in kinds and any(each in pair.attributes for each in named)


# -- time


def _is_of_other_time(pair: Aligned, why: Compared | None) -> bool:
    """Whether both frames may hold, each at its time."""
    aspects = {pair.one.aspect, pair.other.aspect}
    dates = [any(isinstance(e.value, Date) for e in side) for side in (pair.left, pair.right)]
    if all(dates) and (why is None or why.reason is not Reason.DATE):
        return True
    if why is not None and why.reason in _COUNTED and Aspect.STATE not in aspects:
        return Aspect.CHANGE not in aspects and not (pair.has_same_date or pair.is_origin)
    changes = any(each.phase is not Phase.HOLDS for each in pair.attributes)
    if Aspect.EVENT not in aspects or (changes and len(aspects) > 1):
        return False
    if len(aspects) > 1:
        return not pair.is_origin
    return not (pair.has_same_date or pair.is_once or pair.is_origin)


def _by_phase(pair: Aligned, why: Compared | None) -> Disagreement | None:
    """Return that one frame tells how what the other says began or ended."""
    if denies(pair.one) or denies(pair.other):
        return None
    phases = [{each.phase for each in side if each in pair.attributes} for side in pair.named]
    ends = [Phase.ENDS in each for each in phases]
    begins = [Phase.BEGINS in each for each in phases]
    changed = ends if why is None or ends[0] != ends[1] else begins
    if changed[0] == changed[1] or (why is None and any(begins)):
        return None
    older = Older.SECOND if changed[0] else Older.FIRST
    return Disagreement(Reason.WORDS_OF_CHANGE, *pair.frames, Effect.FOLLOWS, older)
