"""Finds how two frames disagree: they say the same of one thing, but for one word or number.

Words are matched by their stems. What is left over must be the two words that cannot both hold,
what belongs to them, or what limits neither frame.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from concord_reading.frame import Aspect, Frame, Kind, Role, Word
from concord_reading.lexicon import lexicon
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
    content,
    denies,
    head_of,
    identifies,
    is_copula,
    is_identity,
    is_light,
    is_modifier,
    is_naming,
    is_said,
    verb_of,
)
from concord_dissonance.domain.sides import Rules
from concord_dissonance.domain.verdicts import Abstained, Older, Reason

_COUNTED = (Reason.NUMBER, Reason.QUANTITY)
_DATED = frozenset({"start", "end", "birth", "death", "founding"})
_EXACT = frozenset({"", "at", "on", "in", "to", "of", "for", "um", "am", "im", "bei", "auf", "zu"})
"""Prepositions of a value that is no bound."""
_BY_CLOCK = ("at", "um")
_HALF_DAY = 12 * 3600
_ONE_AT_A_TIME = (Values.OBJECT, Values.KIND)
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
    if not {"some", "most"}.isdisjoint((pair.one.quantifier, pair.other.quantifier)):
        return Abstained.OTHER_SCOPE
    if not pair.is_covered(one, other):
        return Abstained.TOO_DIFFERENT
    if not pair.same_doer():
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
    if not pair.is_covered():
        return Abstained.TOO_DIFFERENT
    if not (pair.subjects_match() and pair.same_doer()):
        return Abstained.NO_COMPARABLE_SUBJECT
    if _is_of_other_time(pair, None):
        return Abstained.OTHER_TIME
    if followed := _by_phase(pair, None):
        return followed
    if denies(one) == denies(other):
        return Abstained.NOTHING_TO_COMPARE
    denying, said = (one, other) if denies(one) else (other, one)
    none_of_some = denying.quantifier == "none" and said.quantifier == "some"
    limits = {"some", "most"} & {denying.quantifier, said.quantifier}
    if limits and not none_of_some:
        return Abstained.OTHER_SCOPE
    return Disagreement(Reason.NEGATION, one, other)


def _tells(word: Word, pair: Aligned) -> bool:
    """Whether a shared word tells more than who speaks: "I know" and "I do not know" are of what
    follows them."""
    empty = any(pair.lexicon.has(word.key, name) for name in ("neutral", "mental"))
    return word.kind is not Kind.PERSON and not empty


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
    if not pair.is_covered(*(pivot[:2] if pivot else ())):
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
        return names or (follows and _is_value(pair, head, pair.one, _ONE_AT_A_TIME))
    if why.reason in (*_COUNTED, Reason.DATE):
        is_exact = one.link in _EXACT and pair.hang_alike(one, other)
        says = _measure_same if why.reason in _COUNTED else _is_dating
        return is_exact and says(pair, one, other)
    frames = (one, pair.one), (other, pair.other)
    if any(each.role is Role.SUBJECT or not is_said(each, frame) for each, frame in frames):
        return False
    if why.reason is Reason.EXCLUSIVE_WORDS:
        return all(
            is_copula(frame) or _is_value(pair, each, frame, _ONE_AT_A_TIME)
            for each, frame in frames
        )
    verb = verb_of(pair.one)
    if verb is not None and heads[0] is verb and pair.lexicon.has(verb.key, "many valued"):
        return False
    return all(each.kind is not Kind.VERB or _is_state(each, frame) for each, frame in frames)


def _is_state(verb: Word, frame: Frame) -> bool:
    """Whether a verb tells how its subject is: "loves tea", "is locked", but not "opens at 9"."""
    does = (e for e in content(frame) if e.role is not Role.SUBJECT and e is not verb)
    return lexicon(frame.language).has(verb.key, "state") or not any(does)


def _measure_same(pair: Aligned, one: Word, other: Word) -> bool:
    """Whether two numbers count or measure the same thing."""
    heads = head_of(one, pair.one), head_of(other, pair.other)
    if any(each is not None and each.kind in (Kind.NOUN, Kind.NAME) for each in heads):
        return pair.same(*heads) and _is_plain(pair, one)  # two doors, three doors
    if _are_of_two_clocks(one, other):
        return False
    if _names_measure(pair):
        return True
    if one.link in _BY_CLOCK:
        return False  # a bus goes at 8, and at 9
    if pair.same(*heads):
        return True
    if not isinstance(one.value, Quantity) or one.value.dimension in ("", "ordinal"):
        return False
    if one.value.dimension in ("time", "months"):
        return pair.same_verb
    return pair.attributes_agree and Role.SUBJECT not in (one.role, other.role)


def _is_plain(pair: Aligned, count: Word) -> bool:
    """Whether a count is all that its frame says of the things: "has two doors", "seats 80 guests",
    and not "sells two cakes"."""
    verb = verb_of(pair.one)
    if verb is None or not isinstance(count.value, Quantity) or count.value.dimension:
        return False
    told = (Role.COMPLEMENT, Role.PREDICATE)
    if count.role is Role.SUBJECT and any(e.role in told for e in content(pair.one)):
        return False  # "two doors are open"
    return pair.same_verb and (is_light(verb, pair.one) or _names_measure(pair))


def _names_measure(pair: Aligned) -> bool:
    return any(each.values is Values.NUMBER for each in pair.attributes)


def _are_of_two_clocks(one: Word, other: Word) -> bool:
    """Whether two times of a day may be one: "at 3", "at 15:00", "um 13.30 Uhr"."""
    if one.link not in _BY_CLOCK:
        return False
    first, second = one.value, other.value
    if not (isinstance(first, Quantity) and isinstance(second, Quantity)):
        return False
    half = _HALF_DAY if first.dimension == "time" else 12
    apart = abs(first.value - second.value)
    return apart == half or any(e.value % 1 for e in (first, second))


def _is_dating(pair: Aligned, one: Word, other: Word) -> bool:
    """Whether dates say when something begins or ends; a weekday comes again."""
    dates = [each.value for each in (one, other) if isinstance(each.value, Date)]
    if any(each.year is None and each.month is None for each in dates):
        return False
    return any(each.attribute in _DATED for each in pair.attributes)


def _is_one_valued(pair: Aligned, one: Word, other: Word) -> bool:
    """Whether two names are values of an attribute that holds one at a time."""
    if {one.kind, other.kind} != {Kind.NAME} or is_same_name(one, other):
        return False
    if not any(_tells(a, pair) for a, _ in pair.matched):
        return False
    if names_country(one, pair.one.language) != names_country(other, pair.other.language):
        return False  # one may lie in the other
    if any(each.values is Values.KIND for named in pair.named for each in named):
        return False  # of which kind the values are, nobody knows: "in Berlin", "in Postgres"
    return all(
        is_identity(word, frame) or _is_value(pair, word, frame)
        for word, frame in ((one, pair.one), (other, pair.other))
    )


def _is_value(
    pair: Aligned, word: Word, frame: Frame, of: Collection[Values] = (Values.OBJECT,)
) -> bool:
    """Whether a word is the value of an attribute that both frames name."""
    if is_modifier(word, frame):
        return False
    kinds = {each.values for each in pair.attributes}
    if word.role is Role.SUBJECT or word.link in ("by", "von"):
        return Values.SUBJECT in kinds
    if word.link not in _EXACT:
        return False
    head = head_of(word, frame)
    named = () if head is None else named_by(head, frame)
    return any(each in pair.attributes and each.values in of for each in named)


# -- time


def _is_of_other_time(pair: Aligned, why: Compared | None) -> bool:
    """Whether both frames may hold, each at its time."""
    aspects = {pair.one.aspect, pair.other.aspect}
    if pair.is_origin:
        return False
    changes = any(each.phase is not Phase.HOLDS for each in pair.attributes)
    if Aspect.EVENT in aspects:
        is_dated = why is None and pair.has_same_date and len(aspects) == 1
        return not (is_dated or (changes and Aspect.STATE in aspects))
    return why is not None and len(aspects) == 1 and Aspect.STATE not in aspects


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
