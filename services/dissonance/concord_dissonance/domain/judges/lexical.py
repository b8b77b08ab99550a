"""Judges texts without a model if their frames can be compared; else it abstains (D4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from concord_dissonance.domain.judges.denials import denied_clauses, denied_experiences
from concord_dissonance.domain.judges.finding import Finding
from concord_dissonance.domain.judges.oppositions import opposed_fillers
from concord_dissonance.domain.judges.revisions import revised_values
from concord_dissonance.domain.judges.structural import (
    are_apart,
    older_by_restating,
    older_by_stated_time,
)
from concord_reading.clauses import Clause, Reading
from concord_reading.lexicon import LANGUAGES, read_classes
from concord_dissonance.domain.sides import Kind, Micros, Rules, Side
from concord_dissonance.domain.verdicts import (
    LEAST_PRECISION,
    Abstained,
    Abstention,
    ConflictClass,
    ConflictType,
    Judge,
    Older,
    Reason,
    Verdict,
)

_SURE = 1.0
_OF_ONE_STORY = frozenset(
    {"experience implied", "experience in part", "revision", "revision in part"}
)
"""Patterns that show the likelier class if one side continues the other's story."""


def judge_texts(first: Side, second: Side, rules: Rules) -> Verdict | Abstention:
    """Judge two sides by the words of their texts.

    Texts of no recognized language are read in each language, until one reading decides.
    """
    known = {each.language for each in (first.reading, second.reading) if each.is_language_known}
    said: Verdict | Abstention = Abstention(Abstained.NOTHING_TO_COMPARE)
    if (first.kind is Kind.PLAN) != (second.kind is Kind.PLAN):
        return Abstention(Abstained.NOT_ASSERTED)
    for language in known or LANGUAGES if len(known) < len(LANGUAGES) else ():
        said = _judge_in(language, first, second, rules)
        if isinstance(said, Verdict):
            break
    return said


def _judge_in(language: str, first: Side, second: Side, rules: Rules) -> Verdict | Abstention:
    one, other = first.read_in(language), second.read_in(language)
    if not one.clauses or not other.clauses:
        return Abstention(Abstained.NOTHING_TO_COMPARE)
    if one.stems == other.stems:
        return Verdict(ConflictClass.NONE, Judge.LEXICAL, Reason.SAME_STATEMENT, _SURE)
    if are_apart(first, second):
        return Abstention(Abstained.OTHER_TIME)
    followed = _follow_each_other(first, second)
    said: list[Verdict] = []
    missed: list[Abstained] = []
    for each in findings_in(one, other, rules, followed=followed):
        if isinstance(each, Abstained):
            missed.append(each)
        elif not _counts(each, followed=followed):
            missed.append(Abstained.OTHER_TIME)
        elif verdict := verdict_on(each, first, second):
            said.append(verdict)
    if not said:
        return Abstention(max(missed, key=_NEAREST.index, default=_apart(one, other)))
    return max(said, key=lambda each: (each.conflict is not ConflictClass.NONE, each.confidence))


def findings_in(
    one: Reading, other: Reading, rules: Rules, *, followed: bool
) -> Iterator[Finding | Abstained]:
    """Yields what disagrees in two readings, each with its pattern, and why others do not."""
    yield from denied_clauses(one, other)
    yield from opposed_fillers(one, other, rules)
    yield from denied_experiences(one, other)
    if followed:
        yield from revised_values(one, other)


def _counts(found: Finding, *, followed: bool) -> bool:
    """Whether a finding is sure; it may be less sure if one side follows the other."""
    return _precision(found) >= LEAST_PRECISION or (found.pattern in _OF_ONE_STORY and followed)


def _follow_each_other(first: Side, second: Side) -> bool:
    """Whether both sides share a source; if one states no source, whether both state times."""
    if first.sources and second.sources:
        return not first.sources.isdisjoint(second.sources)
    return first.valid_from is not None and second.valid_from is not None


def verdict_on(found: Finding, first: Side, second: Side) -> Verdict | None:
    """Returns what a finding makes of its sides; None if it decides nothing."""
    if found.reason is Reason.SAME_VALUE:
        whole = len(first.reading.clauses) == len(second.reading.clauses) == 1
        return _said(ConflictClass.NONE, found, found.reason) if whole else None
    if found.reason is Reason.CONTAINED:
        return _said(ConflictClass.NUANCE, found, found.reason)
    older, why = _older(found, first, second)
    if found.denies_experience is not Older.NEITHER and older is not found.denies_experience:
        older = Older.NEITHER  # "never" denies the time before it, so its side is the older one
    if older is not Older.NEITHER:
        return _said(ConflictClass.EVOLUTION, found, why, older)
    if found.pattern.startswith("revision"):
        return None  # two values of one attribute, and nothing shows which one holds now
    return _said(ConflictClass.CONTRADICTION, found, found.reason)


def _said(
    conflict: ConflictClass, found: Finding, reason: Reason, older: Older = Older.NEITHER
) -> Verdict:
    return Verdict(
        conflict,
        Judge.LEXICAL,
        reason,
        _precision(found),
        older,
        _type(conflict, found),
        first=(found.first.span,),
        second=(found.second.span,),
    )


def _older(found: Finding, first: Side, second: Side) -> tuple[Older, Reason]:
    """Return the side with the former state, and the reason; arrival alone is never a reason."""
    stated = older_by_stated_time(first, second)
    restated = older_by_restating(first, second)
    changed = _older_by_words(found.first, found.second)
    if changed is not Older.NEITHER and changed in (
        stated,
        restated,
        _older_by_time(first, second),
    ):
        return changed, Reason.WORDS_OF_CHANGE
    if stated is not Older.NEITHER:
        return stated, Reason.LATER_STATE
    if restated is not Older.NEITHER:
        return restated, Reason.RESTATED
    if changed is not Older.NEITHER and _implied(found) and _time(first) == _time(second):
        return changed, Reason.WORDS_OF_CHANGE
    return Older.NEITHER, found.reason


def _older_by_words(one: Clause, other: Clause) -> Older:
    """Return the side with the former state: it says "used to", or the other one says "now"."""
    first = one.has("former phrases") or (
        other.has("latter phrases") and not one.has("latter phrases")
    )
    second = other.has("former phrases") or (
        one.has("latter phrases") and not other.has("latter phrases")
    )
    if first == second:
        return Older.NEITHER
    return Older.FIRST if first else Older.SECOND


def _implied(found: Finding) -> bool:
    """Whether words such as "used to" or "no longer" imply by themselves that something changed."""
    return any(each.has("implied change phrases") for each in (found.first, found.second))


def _older_by_time(first: Side, second: Side) -> Older:
    one, other = _time(first), _time(second)
    if one == other:
        return Older.NEITHER
    return Older.FIRST if one < other else Older.SECOND


def _time(side: Side) -> Micros:
    return side.written if side.valid_from is None else side.valid_from


def _type(conflict: ConflictClass, found: Finding) -> ConflictType | None:
    if conflict is ConflictClass.NONE:
        return None
    if conflict is ConflictClass.EVOLUTION or found.reason is Reason.DATE:
        return ConflictType.TEMPORAL
    for name, kind in (("legal", ConflictType.LEGAL), ("method", ConflictType.METHODOLOGICAL)):
        if found.first.has(name) and found.second.has(name):
            return kind
    return ConflictType.FACTUAL


def _apart(one: Reading, other: Reading) -> Abstained:
    """Return why no clauses of two texts can be compared."""
    if not one.content & other.content:
        return Abstained.NO_COMPARABLE_SUBJECT
    if not one.asserted or not other.asserted:
        return Abstained.NOT_ASSERTED
    return Abstained.NO_COMPARABLE_ATTRIBUTE


_NEAREST = (
    Abstained.NOTHING_TO_COMPARE,
    Abstained.NO_COMPARABLE_SUBJECT,
    Abstained.NO_COMPARABLE_ATTRIBUTE,
    Abstained.NOT_ASSERTED,
    Abstained.TOO_DIFFERENT,
    Abstained.OTHER_SCOPE,
    Abstained.OTHER_TIME,
    Abstained.UNKNOWN_FILLERS,
)
"""Abstentions in order: the last one came nearest to a verdict."""


def _precision(found: Finding) -> float:
    """Return a pattern's precision on development data; 0 if it did not occur there."""
    right, of = _measured().get(found.pattern, (0, 0))
    return right / of if of else 0.0


@cache
def _measured() -> Mapping[str, tuple[int, int]]:
    """Return, by pattern, how often it was right, and how often it was found."""
    ((_, body),) = read_classes("precision.txt")
    rows = (line.rsplit(maxsplit=2) for line in body.splitlines())
    return {pattern: (int(right), int(of)) for pattern, right, of in rows}
