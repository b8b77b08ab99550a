"""Rounds of reviews: who is asked, what that may cost, and when there is no verdict (D9)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from concord.dissonance.v1.review_pb2 import ReviewAnswerRequest, ReviewerFailure
from concord_dissonance.domain.dialectic.said import ModelFailure
from concord_dissonance.domain.errors import (
    FieldInvalid,
    ModelBudgetSpent,
    QuorumMissed,
    ReviewersMissing,
)
from concord_dissonance.domain.peer_review.council import Approval
from concord_dissonance.domain.peer_review.criteria import criteria_set
from concord_dissonance.domain.peer_review.review import (
    CriterionScore,
    FailedReviewer,
    FailureKind,
    PeerReview,
    Recommendation,
    Reviewer,
    ReviewTask,
    Role,
)
from concord_dissonance.domain.sides import Micros
from concord_dissonance.ports.models import Asked
from concord_dissonance.servicer.dialectic_outgoing import event
from concord_dissonance.usecases.dialectic.review_answer import (
    AnswerReviewed,
    Review,
    ReviewAnswer,
    ReviewedIn,
)
from concord_dissonance.usecases.dialectic.runs import Event, Stage
from concord_models.budget import Budget, Cost
from concord_testing.daily_cost import Day
from hypothesis import given
from hypothesis import strategies as st

TASK = ReviewTask("Is it?", "It is.", (), criteria_set("general", "en"), "en")
MANY = Cost(1_000, 1_000_000, 1_000_000)
APPROVE, REVISE, REJECT = Recommendation


@dataclass
class Model:
    """A reviewer that plays its recommendations, one a round; None is a failure."""

    name: str
    plays: Sequence[Recommendation | None] = (APPROVE,)
    asked: list[str] = field(default_factory=list)

    @property
    def reviewer(self) -> Reviewer:
        """Which model it is."""
        return Reviewer(self.name, self.name, self.name, Role.BALANCED)

    def cost(self, task: ReviewTask) -> Cost:
        """Ten tokens."""
        del task
        return Cost(1, 10, 20)

    async def review(self, task: ReviewTask) -> Asked[PeerReview]:
        """As it plays; what it costs is counted where it answers."""
        played = self.plays[min(len(self.asked), len(self.plays) - 1)]
        self.asked.append(task.answer)
        await asyncio.sleep(0)
        if played is None:
            return Asked(ModelFailure(FailureKind.UNAVAILABLE, "gone"), self.cost(task))
        scores = tuple(CriterionScore(each, 8_000, "") for each in task.criteria)
        said = PeerReview(
            self.reviewer, scores, (), (f"{self.name} misses it",), "", played, 0, Micros(0)
        )
        return Asked(said, Cost(1, 7, 14))


@dataclass
class Editor:
    """A reviser that adds a mark."""

    fails: bool = False

    def cost(self, task: ReviewTask, weaknesses: Sequence[str]) -> Cost:
        """Five tokens."""
        del task, weaknesses
        return Cost(1, 5, 10)

    async def revise(self, task: ReviewTask, weaknesses: Sequence[str]) -> Asked[str]:
        """As promised."""
        said = f"{task.answer} ({len(weaknesses)})"
        failure = ModelFailure(FailureKind.UNAVAILABLE, "gone")
        return Asked(failure if self.fails else said, Cost(1, 5, 10))


@dataclass
class Models:
    """A council."""

    reviewers: Sequence[Model]
    reviser: Editor | None = None
    quorum: int = 3
    synthesizer: None = None

    async def close(self) -> None:
        """Nothing is open."""


def reviewing(
    council: Models | None, *, day: Day | None = None, limit: Cost = MANY, **asked: Any
) -> Review:
    """A review as asked for, in a space whose texts may be sent."""
    kept = day or Day()
    answer = ReviewAnswer(
        council,
        lambda _: Budget(limit, MANY, kept, micros_per_1000_tokens=0),
        frozenset({"home"}),
    )
    return answer.prepare("home", ReviewAnswerRequest(**asked))


async def carried(review: Review) -> tuple[AnswerReviewed, list[tuple[Stage, float, object]]]:
    """The result and what was said on the way."""
    said: list[tuple[Stage, float, object]] = []
    found = await review(TASK, lambda *each: said.append(each))
    return found, said


@given(
    plays=st.lists(st.sampled_from([None, *Recommendation]), min_size=2, max_size=6),
    quorum=st.integers(2, 6),
)
def test_no_verdict_without_that_many_reviews(
    plays: list[Recommendation | None], quorum: int
) -> None:
    """D9 Whoever fails: a verdict has as many real reviews as the quorum, or there is none."""
    council = Models([Model(str(place), (play,)) for place, play in enumerate(plays)])
    given_up = plays.count(None)
    if quorum > len(plays):
        with pytest.raises(ReviewersMissing):
            reviewing(council, quorum=quorum)
    elif len(plays) - given_up < quorum:
        with pytest.raises(QuorumMissed) as refused:
            asyncio.run(carried(reviewing(council, quorum=quorum)))
        counts = refused.value.metadata
        assert counts["succeeded"] == str(len(plays) - given_up)
        assert counts["expected"] == str(len(plays))
    else:
        found, _ = asyncio.run(carried(reviewing(council, quorum=quorum)))
        (last,) = found.rounds
        assert len(last.reviews) == len(plays) - given_up
        assert [each.reviewer.name for each in last.failed] == [
            str(place) for place, play in enumerate(plays) if play is None
        ]


async def test_everyone_is_told_of_as_soon_as_they_answer() -> None:
    """D10 One event a reviewer, and a share that never falls."""
    council = Models([Model("a"), Model("b", (None,)), Model("c"), Model("d")])
    _, said = await carried(reviewing(council))

    told = [each for _, _, each in said if isinstance(each, ReviewedIn)]
    assert {each.said.reviewer.name for each in told} == set("abcd")
    shares = [share for _, share, _ in said]
    assert shares == sorted(shares)
    assert shares[-1] <= 1


def test_each_kind_of_failure_has_its_number() -> None:
    """D9 D11 All kinds, in the contract's order, and no number of the contract is without one."""
    failed = [FailedReviewer(Model("a").reviewer, kind, "") for kind in FailureKind]
    told = [event("run", Event(1, Stage.REVIEWING, 9, ReviewedIn(1, each))) for each in failed]
    assert [each.failed_reviewer.failure for each in told] == ReviewerFailure.values()[1:]


@pytest.mark.parametrize(("revisions", "rounds"), [(0, 1), (1, 2), (2, 3)])
async def test_an_answer_that_is_not_approved_is_revised(revisions: int, rounds: int) -> None:
    """D9 As often as was asked for; each round reviews the answer of the one before."""
    council = Models([Model(name, (REVISE,)) for name in "abc"], Editor())
    found, said = await carried(reviewing(council, max_revisions=revisions))

    answers = [each.answer for each in found.rounds]
    assert answers == ["It is.", "It is. (3)", "It is. (3) (3)"][:rounds]
    assert council.reviewers[0].asked == answers
    assert [stage for stage, _, _ in said].count(Stage.REVISING) == revisions
    assert [share for _, share, _ in said] == sorted(share for _, share, _ in said)


async def test_a_revision_that_fails_leaves_the_last_verdict_and_says_so() -> None:
    """D9 What was reviewed stands."""
    council = Models([Model(name, (REJECT,)) for name in "abc"], Editor(fails=True))
    found, _ = await carried(reviewing(council, max_revisions=2))

    assert [each.verdict.approval for each in found.rounds] == [Approval.REJECTED]
    assert found.not_revised == "gone"


async def test_a_second_round_below_the_quorum_has_no_verdict() -> None:
    """D9 The first round's verdict is not one on the revised answer."""
    plays = ((REVISE,), (REVISE,), (REVISE, None))
    council = Models([Model(str(at), each) for at, each in enumerate(plays)], Editor())

    with pytest.raises(QuorumMissed):
        await carried(reviewing(council, max_revisions=1))


async def test_what_is_critical_is_never_approved() -> None:
    """D9 Unresolved critical contradictions come with the task."""
    council = Models([Model(name) for name in "abc"])
    found = await reviewing(council)(TASK, lambda *_: None, critical=1)

    assert found.rounds[-1].verdict.approval is Approval.CONDITIONAL
    assert found.critical == 1


@pytest.mark.parametrize("limit", [Cost(2, 10**6, 10**6), Cost(9, 29, 10**6), Cost(9, 99, 59)])
async def test_a_review_that_would_cost_too_much_asks_nobody(limit: Cost) -> None:
    """D11 Calls, tokens and money are taken for all reviewers before the first call."""
    council, day = Models([Model(name) for name in "abc"]), Day()
    with pytest.raises(ModelBudgetSpent):
        await carried(reviewing(council, day=day, limit=limit))

    assert not any(each.asked for each in council.reviewers)
    assert day.cost == Cost()


async def test_a_budget_that_ends_at_the_revision_leaves_the_verdict_and_says_so() -> None:
    """D9 D11 What was reviewed stands; nobody revises beyond the budget."""
    council = Models([Model(name, (REVISE,)) for name in "abc"], Editor())
    found, _ = await carried(reviewing(council, limit=Cost(3, 99, 99), max_revisions=2))

    assert [each.verdict.approval for each in found.rounds] == [Approval.CONDITIONAL]
    assert found.not_revised == "the budget of this request is spent"
    assert found.cost == Cost(3, 3 * 7, 3 * 14)


async def test_the_cost_is_what_was_counted_and_else_the_estimate() -> None:
    """D11 The reply and the day agree."""
    council, day = Models([Model("a"), Model("b"), Model("c", (None,))], quorum=2), Day()
    found, _ = await carried(reviewing(council, day=day))

    assert found.cost == day.cost == Cost(3, 7 + 7 + 10, 14 + 14 + 20)


def test_nobody_reviews_or_revises_where_nobody_is_set_up() -> None:
    """D9 D11 Refused before anybody is asked."""
    for council, revisions in ((None, 0), (Models([Model(name) for name in "abc"]), 1)):
        with pytest.raises(ReviewersMissing):
            reviewing(council, max_revisions=revisions)


@pytest.mark.parametrize("asked", [{"quorum": 1}, {"reviewers": ["a", "b", "c", "z"]}])
def test_a_quorum_of_one_and_an_unknown_reviewer_are_refused(asked: dict[str, Any]) -> None:
    """D9 D11 Refused by field, before anybody is asked."""
    council = Models([Model(name) for name in "abc"])
    with pytest.raises(FieldInvalid) as refused:
        reviewing(council, **asked)

    assert [field for field, _ in refused.value.violations] == list(asked)
    assert not any(each.asked for each in council.reviewers)


async def test_only_who_is_named_is_asked() -> None:
    """D9 D11 Three of four review; two of four are too few for a quorum of three."""
    council = Models([Model(name) for name in "abcd"])
    found, _ = await carried(reviewing(council, reviewers=["c", "a", "b"]))

    assert [each.reviewer.name for each in found.rounds[-1].reviews] == ["c", "a", "b"]
    assert [len(each.asked) for each in council.reviewers] == [1, 1, 1, 0]
    with pytest.raises(ReviewersMissing):
        reviewing(council, reviewers=["a", "b"])


async def test_cancelling_a_review_cancels_its_questions() -> None:
    """D10 Nobody is left asking."""
    ended: list[str] = []

    class Waiting(Model):
        async def review(self, task: ReviewTask) -> Asked[PeerReview]:
            self.asked.append(task.answer)
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(self.name)
            raise AssertionError

    council = Models([Waiting(name) for name in "abc"])
    running = asyncio.create_task(carried(reviewing(council)))
    while not all(each.asked for each in council.reviewers):  # noqa: ASYNC110 # turns, not time
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert sorted(ended) == ["a", "b", "c"]
