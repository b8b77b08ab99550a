"""Decides typed facts exactly: same subject, cardinality, temporal class and stated time (D4)."""

from concord_dissonance.domain.sides import RelationRule, Rules, Side, TemporalClass
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    ConflictType,
    Judge,
    Older,
    Reason,
    Verdict,
)


def judge_facts(first: Side, second: Side, rules: Rules) -> Verdict | Abstention:
    """Judge two sides by the facts that they state; nothing undeclared is assumed.

    The reason SUCCEEDED means that the stated times do not overlap: an evolution, but no finding.
    """
    one, other = first.fact, second.fact
    if one is None or other is None:
        return Abstention(Abstained.NOTHING_TO_COMPARE)
    if rules.name(one.subject) != rules.name(other.subject):
        return Abstention(Abstained.NO_COMPARABLE_SUBJECT)
    if one.relation != other.relation:
        return Abstention(Abstained.NO_COMPARABLE_ATTRIBUTE)
    if rules.name(one.object) == rules.name(other.object):
        return _verdict(ConflictClass.NONE, Reason.SAME_VALUE)
    if _contains(one.object, other.object, rules) or _contains(other.object, one.object, rules):
        return _verdict(ConflictClass.NUANCE, Reason.CONTAINED, type=ConflictType.FACTUAL)
    return _two_values(first, second, rules.of(one.relation), {one.object, other.object})


def older_by_stated_time(first: Side, second: Side) -> Older:
    """Return the side that began, or had ended, before the other began, by stated times alone."""
    if first.valid_from is not None and second.valid_from is not None:
        if first.valid_from != second.valid_from:
            return Older.FIRST if first.valid_from < second.valid_from else Older.SECOND
        return Older.NEITHER
    if _ended_before(first, second):
        return Older.FIRST
    return Older.SECOND if _ended_before(second, first) else Older.NEITHER


def older_by_restating(first: Side, second: Side) -> Older:
    """Return the side that was recorded first, if one source stated both."""
    if not first.sources & second.sources or first.written == second.written:
        return Older.NEITHER
    return Older.FIRST if first.written < second.written else Older.SECOND


def are_apart(first: Side, second: Side) -> bool:
    """Return whether the stated times do not overlap."""
    return _ended_before(first, second) or _ended_before(second, first)


def _two_values(
    first: Side, second: Side, rule: RelationRule, values: set[str]
) -> Verdict | Abstention:
    exclusive = any(values <= each for each in rule.exclusive)
    if rule.functional is None and not exclusive:
        return Abstention(Abstained.UNDECLARED)
    if not rule.functional and not exclusive:
        return _verdict(ConflictClass.NONE, Reason.MANY_VALUES)
    two = Reason.EXCLUSIVE_VALUES if exclusive else Reason.TWO_VALUES
    match rule.temporal_class:
        case None:
            return Abstention(Abstained.UNDECLARED)
        case TemporalClass.EVENT:
            return _verdict(ConflictClass.NONE, Reason.EVENTS)
        case TemporalClass.ETERNAL:
            return _contradiction(two)
    if (older := older_by_stated_time(first, second)) is not Older.NEITHER:
        reason = Reason.SUCCEEDED if are_apart(first, second) else Reason.LATER_STATE
        return _verdict(ConflictClass.EVOLUTION, reason, older, ConflictType.TEMPORAL)
    if (older := older_by_restating(first, second)) is not Older.NEITHER:
        return _verdict(ConflictClass.EVOLUTION, Reason.RESTATED, older, ConflictType.TEMPORAL)
    return _contradiction(two)


def _contains(whole: str, part: str, rules: Rules) -> bool:
    return whole in rules.containers.get(part, frozenset())


def _ended_before(one: Side, other: Side) -> bool:
    ended, began = one.valid_until, other.valid_from
    return ended is not None and began is not None and ended <= began


def _contradiction(reason: Reason) -> Verdict:
    return _verdict(ConflictClass.CONTRADICTION, reason, type=ConflictType.FACTUAL)


def _verdict(
    conflict: ConflictClass,
    reason: Reason,
    older: Older = Older.NEITHER,
    type: ConflictType | None = None,  # noqa: A002 - the contract's word
) -> Verdict:
    return Verdict(conflict, Judge.STRUCTURAL, reason, 1.0, older, type)
