"""What typed facts are judged to be (D2, D3, D4)."""

from dataclasses import replace

import pytest
from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.sides import (
    Kind,
    Micros,
    RelationRule,
    Rules,
    Side,
    TemporalClass,
    TypedFact,
)
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    Judge,
    Older,
    Reason,
    Severity,
    Verdict,
)

STATE = RelationRule(functional=True, temporal_class=TemporalClass.STATE)


def fact(value: str, begin: int | None = None, end: int | None = None, **fields: object) -> Side:
    """Return an edge that says where Anna lives."""
    side = Side(value, Kind.EDGE, fact=TypedFact("Anna", "LIVES_IN", value))
    times = {
        "valid_from": None if begin is None else Micros(begin),
        "valid_until": None if end is None else Micros(end),
    }
    return replace(side, **times, **fields)  # type: ignore[arg-type] # as the fields are


def judged(first: Side, second: Side, rule: RelationRule = STATE) -> Verdict | Abstention:
    """Judge two facts, and see that the other order says the same."""
    rules = Rules({"LIVES_IN": rule}, {"Berlin": frozenset({"Germany"})})
    said, swapped = judge(first, second, rules), judge(second, first, rules)
    assert swapped == (said.swapped() if isinstance(said, Verdict) else said)
    return said


def told(said: Verdict | Abstention) -> tuple[object, ...]:
    """Return what was said in short."""
    if isinstance(said, Abstention):
        return (said.reason,)
    return said.conflict, said.reason, said.older


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        (fact("Bonn", 1), fact("Rome", 2), (Reason.LATER_STATE, Older.FIRST)),
        (fact("Bonn", 2), fact("Rome", 1), (Reason.LATER_STATE, Older.SECOND)),
        (fact("Bonn", 1, 2), fact("Rome", 2), (Reason.SUCCEEDED, Older.FIRST)),
        (fact("Bonn", None, 2), fact("Rome", 2), (Reason.SUCCEEDED, Older.FIRST)),
    ],
)
def test_a_later_state_is_an_evolution(
    first: Side, second: Side, wanted: tuple[Reason, Older]
) -> None:
    """D4 By the stated begin; that stated times do not overlap is told, for D3 asks for it."""
    assert told(judged(first, second)) == (ConflictClass.EVOLUTION, *wanted)


@pytest.mark.parametrize(("begin", "other"), [(None, None), (5, 5), (None, 5)])
def test_two_values_with_no_order_contradict(begin: int | None, other: int | None) -> None:
    """D3 D7 Different values with equal or no stated begin are a finding; arrival orders none."""
    first = fact("Bonn", begin, written=Micros(1))
    second = fact("Rome", other, written=Micros(9))

    said = judged(first, second)
    assert told(said) == (ConflictClass.CONTRADICTION, Reason.TWO_VALUES, Older.NEITHER)
    assert isinstance(said, Verdict)
    assert (said.judge, said.severity) == (Judge.STRUCTURAL, Severity.MODERATE)


def test_what_one_source_says_anew_is_an_evolution() -> None:
    """D4 Where no begin is stated, and the same source said both."""
    first = fact("Bonn", written=Micros(1), sources=frozenset({"Anna"}))
    second = fact("Rome", written=Micros(9), sources=frozenset({"Anna", "Bob"}))

    assert told(judged(first, second)) == (
        ConflictClass.EVOLUTION,
        Reason.RESTATED,
        Older.FIRST,
    )


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        (RelationRule(), (Abstained.UNDECLARED,)),
        (RelationRule(functional=True), (Abstained.UNDECLARED,)),
        (RelationRule(temporal_class=TemporalClass.STATE), (Abstained.UNDECLARED,)),
        (replace(STATE, functional=False), (ConflictClass.NONE, Reason.MANY_VALUES, Older.NEITHER)),
        (
            replace(STATE, temporal_class=TemporalClass.EVENT),
            (ConflictClass.NONE, Reason.EVENTS, Older.NEITHER),
        ),
        (
            replace(STATE, temporal_class=TemporalClass.ETERNAL),
            (ConflictClass.CONTRADICTION, Reason.TWO_VALUES, Older.NEITHER),
        ),
        (
            replace(STATE, functional=None, exclusive=(frozenset({"Bonn", "Rome"}),)),
            (ConflictClass.EVOLUTION, Reason.LATER_STATE, Older.FIRST),
        ),
    ],
)
def test_a_relation_is_what_is_declared_of_it(
    rule: RelationRule, wanted: tuple[object, ...]
) -> None:
    """D4 Nothing undeclared is assumed; events never conflict, eternal values always do."""
    assert told(judged(fact("Bonn", 1), fact("Rome", 2), rule)) == wanted


def test_what_is_not_comparable() -> None:
    """D3 D4 Another subject, relation or scope; an alias is the same subject."""
    bonn = fact("Bonn")
    bob = replace(fact("Rome"), fact=TypedFact("Bob", "LIVES_IN", "Rome"))
    works = replace(fact("Rome"), fact=TypedFact("Anna", "WORKS_IN", "Rome"))

    assert told(judged(bonn, bob)) == (Abstained.NO_COMPARABLE_SUBJECT,)
    assert told(judged(bonn, works)) == (Abstained.NO_COMPARABLE_ATTRIBUTE,)
    assert told(judged(bonn, fact("Rome", scope={"region": "eu"}))) == (Abstained.OTHER_SCOPE,)
    named = Rules({"LIVES_IN": STATE}, names={"Bob": "Anna"})
    assert told(judge(bonn, bob, named))[0] is ConflictClass.CONTRADICTION
    alike = Rules({"LIVES_IN": STATE}, names={"Bob": "Anna", "Rome": "Bonn"})
    assert told(judge(bonn, bob, alike))[:2] == (ConflictClass.NONE, Reason.SAME_VALUE)


def test_a_value_within_another_is_a_nuance_at_most() -> None:
    """D2 Berlin lies in Germany; the same value twice is a duplicate."""
    said = judged(fact("Berlin", 1), fact("Germany", 2))

    assert told(said) == (ConflictClass.NUANCE, Reason.CONTAINED, Older.NEITHER)
    assert isinstance(said, Verdict)
    assert said.severity is Severity.MINOR
    assert told(judged(fact("Bonn", 1), replace(fact("Bonn", 2), id="again")))[0] is (
        ConflictClass.NONE
    )


def test_a_constitutive_side_is_critical() -> None:
    """D2 How much hangs on a conflict."""
    said = judged(fact("Bonn"), fact("Rome", is_constitutive=True))

    assert isinstance(said, Verdict)
    assert said.severity is Severity.CRITICAL
