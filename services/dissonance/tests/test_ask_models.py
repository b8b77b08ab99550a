"""Which pairs models are asked about, what they may cost, and what a failing one leaves behind."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from concord_chassis.call import deadline
from concord_dissonance.domain.errors import JudgeUnavailable
from concord_dissonance.domain.sides import Kind, Micros, Side
from concord_dissonance.domain.statements import Coverage
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    Judge,
    Older,
    Reason,
    Verdict,
)
from concord_dissonance.usecases.ask_models import RESERVE, AskModels, Said
from concord_models.budget import Budget, Cost
from concord_testing.daily_cost import Day

MANY = Cost(1_000, 1_000_000, 1_000_000)
UNKNOWN = Abstention(Abstained.UNKNOWN_FILLERS)


def side(name: str, kind: Kind = Kind.FACT) -> Side:
    """A memory or an edge."""
    return Side(name, kind, f"The text of {name}.")


def pairs(count: int) -> list[tuple[Side, Side]]:
    """Different pairs."""
    return [(side(f"a{number}"), side(f"b{number}")) for number in range(count)]


@dataclass
class Model:
    """A judge that finds a contradiction in every pair, until it fails."""

    kind: Judge = Judge.LLM
    fails_after: int = 10_000
    seconds: float = 0.0
    asked: list[tuple[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    def questions(self, first: Side, second: Side) -> Sequence[int]:
        """One of ten a pair; the local model none."""
        del first, second
        return [10] if self.kind is Judge.LLM else []

    async def judge(self, first: Side, second: Side, budget: Budget) -> Verdict | Abstention:
        """As promised."""
        if self.kind is Judge.LLM:
            await budget.reserve(10)
        self.asked.append((first.id, second.id))
        place = len(self.asked)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.seconds)
        self.at_once -= 1
        if place > self.fails_after:
            raise JudgeUnavailable("gone")
        if self.kind is Judge.NLI:
            return Abstention(Abstained.UNSURE)
        return Verdict(ConflictClass.CONTRADICTION, self.kind, Reason.MODEL, 0.75)

    async def close(self) -> None:
        """Nothing is open."""


def asking(*judges: Model, request: Cost = MANY) -> AskModels:
    """The use case at two millionths a token."""
    return AskModels(
        judges,
        lambda _: Budget(request, MANY, Day(), micros_per_1000_tokens=2_000),
        frozenset({"home"}),
        lambda: Micros(0),
    )


async def ask(
    models: AskModels, count: int, before: Sequence[Said] = (), *, is_dry: bool = False
) -> tuple[list[Said], Coverage]:
    """Ask about pairs, by default of unknown words; return what was said and covered."""
    covered = Coverage()
    asked = models.begin("home", covered, is_dry=is_dry)
    return await models(asked, pairs(count), before or [UNKNOWN] * count), covered


async def test_models_are_asked_where_the_exact_judges_abstained() -> None:
    """D4 A verdict stands, and so does an abstention that says there is nothing to compare."""
    model = Model()
    exact = Verdict(ConflictClass.NONE, Judge.STRUCTURAL, Reason.SAME_VALUE, 1.0)
    before: list[Said] = [
        exact,
        Abstention(Abstained.NOT_ASSERTED),
        Abstention(Abstained.OTHER_SCOPE),
        UNKNOWN,
    ]

    said, covered = await ask(asking(model), 4, before)

    assert said[:3] == before[:3]
    assert isinstance(said[3], Verdict)
    assert said[3].judge is Judge.LLM
    assert model.asked == [("a3", "b3")]
    assert not covered.is_degraded


async def test_a_model_s_opinion_on_a_finding_of_text_leaves_it_undecided() -> None:
    """D4 Where the two differ; where they agree the rules' finding stands, by its own judge."""
    same: Said = Verdict(ConflictClass.CONTRADICTION, Judge.LEXICAL, Reason.NUMBER, 0.9)
    other: Said = Verdict(ConflictClass.EVOLUTION, Judge.LEXICAL, Reason.RESTATED, 0.9, Older.FIRST)
    model = Model()

    said, _ = await ask(asking(model), 2, [same, other])
    unasked, _ = await ask(asking(Model(fails_after=0)), 1, [other])

    assert len(model.asked) == 2
    assert said[0] == same
    assert isinstance(said[1], Verdict)
    assert (said[1].conflict, said[1].reason, said[1].older) == (
        ConflictClass.UNDECIDED,
        Reason.OPINIONS,
        Older.NEITHER,
    )
    assert unasked == [other]


async def test_edges_are_shown_to_no_model() -> None:
    """D4 Typed facts are decided exactly, or not at all."""
    model = Model()
    models = asking(model)
    of_edges = [(side("a", Kind.EDGE), side("b", Kind.EDGE))]

    assert await models(models.begin("home", Coverage()), of_edges, [UNKNOWN]) == [UNKNOWN]
    assert not model.asked


async def test_the_next_judge_is_asked_when_one_abstains() -> None:
    """D4 From cheap to dear: the endpoint is asked what the local model cannot say."""
    local, remote = Model(kind=Judge.NLI), Model()

    (said,), _ = await ask(asking(local, remote), 1)

    assert isinstance(said, Verdict)
    assert local.asked == remote.asked == [("a0", "b0")]


async def test_a_slow_model_ends_before_the_caller_s_deadline() -> None:
    """D1 D11 What the others said is not lost with the call; the pair counts as not asked about."""
    deadline.enter(RESERVE + 0.1)

    async with asyncio.timeout(RESERVE):
        said, covered = await ask(asking(Model(seconds=30.0)), 1)

    assert said == [UNKNOWN]
    assert (covered.is_degraded, dict(covered.skipped)) == (True, {"LLM_NO_TIME": 1})


async def test_a_model_that_fails_leaves_a_degraded_check() -> None:
    """D1 D11 What it said before stands; what it was not asked about is counted."""
    model = Model(fails_after=3)

    said, covered = await ask(asking(model), 20)

    assert sum(isinstance(each, Verdict) for each in said) == 3
    assert covered.is_degraded
    assert covered.skipped == {"LLM_UNAVAILABLE": 17}
    assert len(model.asked) <= 3 + 4, "asked on after it had failed"


async def test_how_pairs_ended_is_counted_by_judge() -> None:
    """D4 W6 For figures: sure verdicts by class, all else as abstained; a dry check counts none."""
    models = asking(Model(fails_after=2))
    exact: Said = Verdict(ConflictClass.NONE, Judge.STRUCTURAL, Reason.SAME_VALUE, 1.0)
    sure: Said = Verdict(ConflictClass.CONTRADICTION, Judge.LEXICAL, Reason.NUMBER, 1.0)

    await ask(models, 4, [exact, sure, UNKNOWN, UNKNOWN])
    await ask(models, 1, [exact], is_dry=True)

    assert models.outcomes == {
        ("STRUCTURAL", "NONE"): 1,
        ("LEXICAL", "CONTRADICTION"): 1,
        ("LLM", "CONTRADICTION"): 1,
        ("", "ABSTAINED"): 1,
    }
    assert models.answering() == {"LLM": False}


@pytest.mark.parametrize("limit", [Cost(5, 10**6, 10**6), Cost(99, 50, 10**6), Cost(99, 999, 100)])
async def test_a_spent_budget_leaves_a_degraded_check(limit: Cost) -> None:
    """D11 Calls, tokens and money each end the asking, and the reply says what they came to."""
    model = Model()

    said, covered = await ask(asking(model, request=limit), 20)

    assert sum(isinstance(each, Verdict) for each in said) == len(model.asked) == 5
    assert covered.skipped == {"LLM_BUDGET_SPENT": 15}
    assert covered.is_degraded
    assert (covered.model_calls, covered.model_tokens, covered.model_micros) == (5, 50, 100)


async def test_few_questions_are_under_way_at_once() -> None:
    """D11 A check sends at most four questions at a time."""
    model = Model()

    await ask(asking(model), 40)

    assert model.most_at_once <= 4
