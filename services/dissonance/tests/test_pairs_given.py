"""Pairs that a caller gives to judge."""

import threading
from contextlib import closing
from dataclasses import replace
from typing import cast

import pytest
from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.type.v1 import type_pb2
from concord_chassis.call import deadline
from concord_chassis.server.workers import Workers
from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.domain.sides import Micros, Rules, Side
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    Judge,
    Older,
    Reason,
    Verdict,
)
from concord_dissonance.servicer import incoming, outgoing
from concord_dissonance.usecases import classify
from concord_dissonance.usecases.ask_models import AskModels
from concord_models.budget import Budget, Cost
from concord_testing.daily_cost import Day


def test_a_statement_of_many_pairs_is_one_side() -> None:
    """S6 So it is read once: ten results beside 25 values took eight times their reading."""
    results = [pb.Statement(text=f"Result {number}") for number in range(3)]
    values = [
        pb.Statement(text=f"agent VALUES {name}", fact=fact(name)) for name in ("honesty", "peace")
    ]
    given = [pb.StatementPair(first=one, second=other) for one in results for other in values]

    pairs = incoming.pairs(pb.ClassifyPairsRequest(pairs=given))

    assert [(one.text, other.text) for one, other in pairs] == [
        (each.first.text, each.second.text) for each in given
    ]
    assert len({id(side) for pair in pairs for side in pair}) == len(results) + len(values)


def test_what_differs_in_its_speaker_is_another_side() -> None:
    """D2 The same words of another are another's."""
    said = [pb.Statement(text="It is open", speaker=name) for name in ("Ada", "Bo")]
    pairs = [pb.StatementPair(first=each, second=each) for each in said]

    found = incoming.pairs(pb.ClassifyPairsRequest(pairs=pairs))

    assert [(one.sources, other.sources) for one, other in found] == [
        (frozenset({name}), frozenset({name})) for name in ("Ada", "Bo")
    ]
    assert all((one.id, other.id) == ("1", "2") for one, other in found)


async def test_pairs_beyond_the_callers_time_are_left_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S6 What was judged in time is answered, though a pair takes longer; then judging ends."""
    pairs = incoming.pairs(
        pb.ClassifyPairsRequest(
            pairs=[
                pb.StatementPair(
                    first=pb.Statement(text=text), second=pb.Statement(text="It is not")
                )
                for text in ("It is", "It was", "It will be")
            ]
        )
    )
    answered, seen = threading.Event(), list[str]()

    def judged(one: Side, _other: Side, _rules: Rules) -> Verdict | Abstention:
        seen.append(one.text)
        if len(seen) == 2:
            answered.wait(10.0)
        return Abstention(Abstained.UNSURE)

    monkeypatch.setattr(classify, "judge", judged)
    nothing = Budget(Cost(), Cost(), Day(), micros_per_1000_tokens=0)
    models = AskModels((), lambda _: nothing, frozenset(), lambda: Micros(0))
    with closing(Workers(1, "judges")) as workers:
        deadline.enter(deadline.RESERVE + 0.5)
        ask = classify.ClassifyPairs(cast(GraphClient, None), workers, models)  # no fact: not asked
        said, coverage = await ask("default", pairs, rules_only=True)
        answered.set()

    assert [each.reason for each in said if isinstance(each, Abstention)] == [
        Abstained.UNSURE,
        *[Abstained.OUT_OF_TIME] * 2,
    ]
    assert coverage.is_degraded
    assert len(seen) == 2


def test_what_a_check_would_not_record_is_marked() -> None:
    """D4 An evolution that is settled already is a verdict, and no finding."""
    sure = Verdict(ConflictClass.EVOLUTION, Judge.STRUCTURAL, Reason.LATER_STATE, 1.0, Older.FIRST)
    settled = replace(sure, reason=Reason.SUCCEEDED)
    none = Verdict(ConflictClass.NONE, Judge.STRUCTURAL, Reason.SAME_VALUE, 1.0)
    said: list[Verdict | Abstention] = [sure, settled, none, Abstention(Abstained.UNSURE)]

    assert [outgoing.verdict(each).unsure for each in said] == [False, True, False, False]


def fact(name: str) -> type_pb2.Fact:
    """What the agent values."""
    return type_pb2.Fact(subject="agent", relation="VALUES", object=name)
