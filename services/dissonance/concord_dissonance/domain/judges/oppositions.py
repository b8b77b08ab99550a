"""Finds clauses of one frame whose fillers cannot both hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concord_dissonance.domain.judges.denials import same_speaker
from concord_dissonance.domain.judges.fillers import Compared, compare
from concord_dissonance.domain.judges.finding import Finding
from concord_dissonance.domain.judges.frames import Fillers, align
from concord_reading.clauses import Clause, Reading
from concord_reading.lexicon import Lexicon
from concord_reading.quantities import Same
from concord_dissonance.domain.sides import Rules
from concord_dissonance.domain.verdicts import Abstained, Reason

_MOST_FILLERS = 3
_LEAST_SHARED = 2
"""Fewest words of a frame: "(ticket 7)" and "(ticket 8)" share one, and claim nothing."""
_LONGEST_FRAME = 100
"""Most tokens of a clause; a longer one without a pause is no sentence."""
_VALUES = frozenset({Reason.NUMBER, Reason.QUANTITY, Reason.DATE})


def opposed_fillers(first: Reading, second: Reading, rules: Rules) -> Iterator[Finding | Abstained]:
    """Yield pairs of clauses that differ only in known ways, or why a near pair is no finding."""
    for one in first.asserted:
        for other in second.beside(one):
            yield _opposed(one, other, rules)


def _opposed(one: Clause, other: Clause, rules: Rules) -> Finding | Abstained:
    if not same_speaker(one, other):
        return Abstained.NO_COMPARABLE_SUBJECT
    if max(len(one.tokens), len(other.tokens)) > _LONGEST_FRAME:
        return Abstained.TOO_DIFFERENT
    fillers = align(one, other)
    if not _is_one_frame(one, other, fillers):
        return Abstained.NO_COMPARABLE_ATTRIBUTE
    if len(fillers) > _MOST_FILLERS or not all(each.first and each.second for each in fillers):
        return Abstained.TOO_DIFFERENT
    compared = [compare(each.first, each.second, one.words, rules) for each in fillers]
    differing = [each for each in compared if each.same is not Same.YES]
    if one.is_denied_now != other.is_denied_now:
        return Abstained.NO_COMPARABLE_ATTRIBUTE
    if not differing:
        return Finding(Reason.SAME_VALUE, "same", one, other)
    if len(differing) == 1 and differing[0].reason is Reason.CONTAINED:
        return Finding(Reason.CONTAINED, "declared", one, other)
    if any(each.same is Same.UNKNOWN for each in differing):
        return Abstained.UNKNOWN_FILLERS
    if len(differing) > 1 and (apart := _apart(differing)):
        return apart
    if _is_other_subject(fillers, compared):
        return Abstained.NO_COMPARABLE_SUBJECT
    found = differing[0]
    if (
        found.reason not in _VALUES
        and found.family != "declared"
        and _admits_both(one, other, fillers)
    ):
        return Abstained.UNKNOWN_FILLERS
    if found.reason is Reason.DATE and not _dates(fillers[0], one.words):
        return Abstained.OTHER_TIME  # the dates say when each clause held, and both may have
    return Finding(found.reason, _pattern(found, one, other), one, other)


def _is_one_frame(one: Clause, other: Clause, fillers: Sequence[Fillers]) -> bool:
    """Whether two clauses share content, and differ in their fillers alone."""
    filled = {
        token.stem for each in fillers for part in (each.first, each.second) for token in part
    }
    mine, yours = one.content.keys() - filled, other.content.keys() - filled
    shared = [t for t in one.tokens if t.stem not in filled and not t.word.isdecimal()]
    return bool(mine) and mine == yours and len(shared) >= _LEAST_SHARED


def _admits_both(one: Clause, other: Clause, fillers: Sequence[Fillers]) -> bool:
    """Whether both fillers can hold: the clauses are about some of many, one can have or like
    several such things, or the fillers are parts of "red and white"."""
    words = one.words.words
    frame = {token.word for token in one.tokens} & {token.word for token in other.tokens}
    some = {one.tokens[0].word, other.tokens[0].word} & words["some"]
    beside = {word for each in fillers for word in (each.after, each.before)}
    return bool(some or frame & words["many valued"] or beside & words["and"])


def _dates(found: Fillers, words: Lexicon) -> bool:
    """Whether a date says when something is, or was: "founded in 1999", "1999 gegründet"."""
    return found.after in words.words["dated by"] or found.before in words.words["dated before"]


def _apart(differing: Sequence[Compared]) -> Abstained | None:
    """Return why clauses with several differences may both hold: of other times or scopes."""
    if any(each.reason is Reason.DATE for each in differing):
        return Abstained.OTHER_TIME
    # A number can limit the claim of another filler: "in Q1", "chapter 2".
    scoping = any(each.is_place or each.reason in _VALUES for each in differing)
    return Abstained.OTHER_SCOPE if scoping else None


def _is_other_subject(fillers: Sequence[Fillers], compared: Sequence[Compared]) -> bool:
    """Whether the subjects of two clauses differ, and not only in their number."""
    return any(
        each.in_subject
        and found.same is Same.NO
        and (found.reason not in _VALUES or (found.reason is Reason.NUMBER and each.ends_subject))
        for each, found in zip(fillers, compared, strict=True)
    )


def _pattern(found: Compared, one: Clause, other: Clause) -> str:
    """Return the pattern whose precision counts; events of different moments may both hold."""
    if found.reason in _VALUES or found.family == "declared":
        return found.family
    if one.is_event or other.is_event:
        return f"{found.family} of an event"
    return "antonym" if found.reason is Reason.ANTONYM else "exclusive"
