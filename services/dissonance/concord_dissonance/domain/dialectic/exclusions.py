"""By what two answers to one question exclude each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from concord_reading.frame import Frame, Role
from concord_reading.quantities import Same, same_value

from concord_dissonance.domain.dialectic.answers import MAIN, Amount, Answer, Stance
from concord_dissonance.domain.dialectic.questions import LEAST_PART, NOUNS, share
from concord_dissonance.domain.verdicts import Reason

_OPPOSED = frozenset(
    {
        frozenset({Stance.REQUIRES, Stance.FREES}),
        frozenset({Stance.REQUIRES, Stance.FORBIDS}),
        frozenset({Stance.ALLOWS, Stance.FORBIDS}),
        frozenset({Stance.AFFIRMS, Stance.DENIES}),
        frozenset({Stance.AFFIRMS, Stance.FORBIDS}),
        frozenset({Stance.ALLOWS, Stance.DENIES}),
    }
)


def differ(one: Answer, other: Answer, *, is_apart: bool) -> Reason | None:
    """Return by what two answers exclude each other; None: by nothing that is seen.

    `is_apart`: whether they hold for different regions or times, or by law of different rank. That
    explains a difference, so that their subjects may be told in different words.
    """
    if (reason := _by_amount(one, other, is_apart=is_apart)) is not None:
        return reason
    if _are_opposed(one, other):
        return Reason.NEGATION if _is_one_topic(one, other, is_apart=is_apart) else None
    found = _by_date(one, other) or _by_denial(one, other)
    return found or _by_holder(one, other) or _by_place(one, other)


def agree(one: Answer, other: Answer) -> bool:
    """Whether two answers take the same stance, or name the same amount."""
    if one.stance is not None and one.stance is other.stance:
        return True
    shared = {a.dimension for a, _ in one.amounts} & {a.dimension for a, _ in other.amounts}
    return bool(shared)


def _are_opposed(one: Answer, other: Answer) -> bool:
    if not (one.stance and other.stance):
        return False
    return frozenset({one.stance, other.stance}) in _OPPOSED


def _by_amount(one: Answer, other: Answer, *, is_apart: bool) -> Reason | None:
    for dimension in sorted({amount.dimension for amount, _ in one.amounts}):
        mine, yours = (
            [(amount, frame) for amount, frame in each.amounts if amount.dimension == dimension]
            for each in (one, other)
        )
        if is_apart and (both := {e.value for e, _ in mine} & {e.value for e, _ in yours}):
            # "Hedges above 1.80 m" may be what both rules speak of.
            mine, yours = (
                [each for each in side if each[0].value not in both] or side
                for side in (mine, yours)
            )
        if not yours or not _are_disjoint(
            _plain(mine, one, is_apart=is_apart), _plain(yours, other, is_apart=is_apart)
        ):
            continue
        first, second = mine[0][1], yours[0][1]
        subjects = (
            frozenset() if amount.is_subject else each.subject(frame)
            for each, (amount, frame) in ((one, mine[0]), (other, yours[0]))
        )
        is_one_thing = is_apart or (len({*subjects}) == 1 and _are_of_one_kind(one, other))
        if not dimension and _are_two(_objects(one, first), _objects(other, second)):
            continue
        if is_one_thing and (one.question.text or _are_of_one_clause(one, other, first, second)):
            return Reason.QUANTITY if dimension else Reason.NUMBER
    return None


def _objects(answer: Answer, frame: Frame) -> frozenset[str]:
    """Return the nouns of a frame's complement that its question does not name."""
    return frozenset(
        word.key
        for word in frame.words
        if word.role is Role.COMPLEMENT
        and word.kind in NOUNS
        and word.key.isalpha()
        and not share([word.key], answer.question.content)
    )


def _are_two(mine: frozenset[str], yours: frozenset[str]) -> bool:
    return bool(mine and yours) and mine.isdisjoint(yours)


def _are_of_one_kind(one: Answer, other: Answer) -> bool:
    """Whether two claims name no two kinds of what is asked about: "Sportbecken", "Lehrbecken"."""
    kinds = [
        {
            each
            for each in answer.subjects - answer.question.content
            if each.endswith(tuple(e for e in answer.question.content if len(e) >= LEAST_PART))
        }
        for answer in (one, other)
    ]
    return not all(kinds) or kinds[0] == kinds[1]


def _are_of_two_cases(one: Answer, other: Answer) -> bool:
    """Whether two claims say of what each says it, and differ: "the export of ivory"."""
    cases = [
        frozenset(
            word.key
            for frame in answer.frames
            for word in frame.words
            if word.link == "of"
            and word.kind in NOUNS
            and word.head >= 0
            and share([frame.words[word.head].key], answer.question.content)
            and not share([word.key], answer.question.content)
        )
        for answer in (one, other)
    ]
    return _are_two(*cases)


def _plain(
    amounts: Sequence[tuple[Amount, Frame]], answer: Answer, *, is_apart: bool
) -> list[Amount]:
    """Return the amounts alone; where a question asks for a bound, or the rules are two, each
    amount is meant as one."""
    if not (is_apart or answer.phrases.has("asks bound", answer.question.text)):
        return [amount for amount, _ in amounts]
    return [Amount(amount.dimension, amount.value) for amount, _ in amounts]


def _are_disjoint(mine: Sequence[Amount], yours: Sequence[Amount]) -> bool:
    """Whether no amount of one fits one of the other; two amounts are a range."""
    if not all(one.excludes(other) for one in mine for other in yours):
        return False
    low, high = ([amount.value for amount in side] for side in (mine, yours))
    return max(low) < min(high) or max(high) < min(low)


def _are_of_one_clause(one: Answer, other: Answer, first: Frame, second: Frame) -> bool:
    """Whether two clauses share their subject and verb, or their claims all words but amounts."""
    if one.topic and one.topic == other.topic:
        return True
    subjects = one.stems_of(first, Role.SUBJECT), other.stems_of(second, Role.SUBJECT)
    verbs = one.stems_of(first, Role.PREDICATE), other.stems_of(second, Role.PREDICATE)
    return bool(subjects[0]) and subjects[0] == subjects[1] and verbs[0] == verbs[1]


def _by_date(one: Answer, other: Answer) -> Reason | None:
    for mine, first in one.dates:
        for yours, second in other.dates:
            if same_value(mine, yours) is not Same.NO:
                return None
            is_same = (
                one.subject(first) == other.subject(second) if one.question.asks_date else False
            )
            if is_same or _are_of_one_clause(one, other, first, second):
                return Reason.DATE
    return None


def _by_denial(one: Answer, other: Answer) -> Reason | None:
    """Return NEGATION if a clause denies all that one of the other claim says."""
    for first, second in product(one.frames, other.frames):
        stems = one.stems_of(first)
        is_alike = len(stems) > 1 and stems == other.stems_of(second)
        is_said = {first.mood, second.mood} <= MAIN
        if is_alike and is_said and first.is_denied != second.is_denied:
            return Reason.NEGATION
    return None


def _by_holder(one: Answer, other: Answer) -> Reason | None:
    """Return TWO_VALUES if two claims name one holder each of what a question asks the holder of.

    Each says little else: who has other duties besides may share it.
    """
    asked, is_sole = one.question, one.is_sole or other.is_sole
    if not one.phrases.has("asks holder", asked.text):
        return None
    if not (is_sole or one.phrases.has("duty", asked.text)):
        return None
    holders = [each.others for each in (one, other)]
    told = [share(each.content, asked.things) for each in (one, other)]
    if not all(told) or any(len(each) != 1 for each in holders):
        return None
    return Reason.TWO_VALUES if holders[0] != holders[1] else None


def _by_place(one: Answer, other: Answer) -> Reason | None:
    """Return TWO_VALUES if two claims name one place each of one thing that is asked for.

    Many things can be in many places, unless one claim says that they are in one alone.
    """
    asked, is_sole = one.question, one.is_sole or other.is_sole
    if not (asked.asks_place and (is_sole or one.phrases.has("asks of one", asked.text))):
        return None
    if not (one.asked() and other.asked() and one.places and other.places):
        return None
    return None if share(one.places, other.places) else Reason.TWO_VALUES


def _is_one_topic(one: Answer, other: Answer, *, is_apart: bool) -> bool:
    stances = {one.stance, other.stance}
    if stances == {Stance.REQUIRES, Stance.FREES} and one.is_procedural != other.is_procedural:
        return False
    if stances == {Stance.REQUIRES, Stance.FORBIDS} and not share(one.acts, other.acts):
        return False
    if one.topic and (one.topic <= other.topic or other.topic <= one.topic) and other.topic:
        return True
    if is_apart and one.subjects & other.subjects:
        return True
    if not one.question.text or _are_of_two_cases(one, other):
        return False
    asked = one.asked(), other.asked()
    if is_apart or (Stance.REQUIRES not in stances and Stance.FREES not in stances):
        return all(asked) or (is_apart and any(asked)) or share(one.topic, other.topic)
    return all(asked) and share(one.content, other.content)
