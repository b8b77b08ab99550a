"""Has several models review an answer, independently, and combines their scores (D9)."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from concord.dissonance.v1.review_pb2 import ReviewAnswerRequest
from concord_models.budget import Budget, BudgetSpent, Cost

from concord_dissonance.domain.dialectic.said import ModelFailure
from concord_dissonance.domain.errors import (
    FieldInvalid,
    ModelBudgetSpent,
    ReviewersMissing,
)
from concord_dissonance.domain.peer_review.council import LEAST_QUORUM, Approval, conclude
from concord_dissonance.domain.peer_review.report import ReviewRound
from concord_dissonance.domain.peer_review.review import FailedReviewer, PeerReview, ReviewTask
from concord_dissonance.ports.models import Council, ModelReviewer, ModelReviser
from concord_dissonance.usecases.dialectic.runs import Stage


@dataclass(frozen=True, slots=True)
class ReviewedIn:
    """A reviewer's review or failure, and its round, from 1."""

    round: int
    said: PeerReview | FailedReviewer
    is_cached: bool = False


@dataclass(frozen=True, slots=True)
class AnswerReviewed:
    """All rounds in order, and their cost; `not_revised`: why a wanted revision failed."""

    rounds: tuple[ReviewRound, ...]
    cost: Cost
    language: str
    critical: int
    not_revised: str = ""


Say = Callable[[Stage, float, ReviewedIn | None], None]
"""Called with the stage, the share of the work that is done, in [0, 1], and who answered."""


class ReviewAnswer:
    """The use case. `budget` returns the budget of a review in a space."""

    def __init__(
        self,
        council: Council | None,
        budget: Callable[[str], Budget],
        remote_spaces: frozenset[str],
    ) -> None:
        """`remote_spaces`: the spaces whose texts may be sent to an endpoint."""
        self._council, self._budget, self._remote_spaces = council, budget, remote_spaces

    def prepare(self, space: str, request: ReviewAnswerRequest) -> "Review":
        """Choose the reviewers that a request names, or all; none is asked yet.

        Raises `FieldInvalid` for a quorum of one or an unknown reviewer, and `ReviewersMissing`.
        """
        if 0 < request.quorum < LEAST_QUORUM:
            raise FieldInvalid("quorum", "must be 2 or more: a verdict needs two reviews")
        council = self._council if self._may_see(space) else None
        if council is None:
            raise ReviewersMissing(0, max(request.quorum, LEAST_QUORUM))
        known = {each.reviewer.name: each for each in council.reviewers}
        for name in request.reviewers:
            if name not in known:
                raise FieldInvalid("reviewers", "names a reviewer that is not set up")
        chosen = [known[name] for name in request.reviewers or known]
        quorum = request.quorum or council.quorum
        if len(chosen) < quorum:
            raise ReviewersMissing(len(chosen), quorum)
        if request.max_revisions and council.reviser is None:
            raise ReviewersMissing(0, 1)
        budget, most = self._budget(space), request.max_revisions
        return Review(chosen, council.reviser, budget, quorum=quorum, most_revisions=most)

    def _may_see(self, space: str) -> bool:
        return space in self._remote_spaces


class Review:
    """One review: rounds of reviewers, and revisions between them."""

    def __init__(
        self,
        chosen: Sequence[ModelReviewer],
        reviser: ModelReviser | None,
        budget: Budget,
        *,
        quorum: int,
        most_revisions: int,
    ) -> None:
        self._chosen, self._reviser, self._budget = chosen, reviser, budget
        self._quorum, self._most_revisions = quorum, most_revisions
        self._steps = (len(chosen) + 1) * (most_revisions + 1)
        self._done = 0

    async def __call__(self, task: ReviewTask, say: Say, *, critical: int = 0) -> AnswerReviewed:
        """Review until the answer is approved, or no more revisions are allowed.

        `critical`: the number of the answer's unresolved critical contradictions. Raises
        `QuorumMissed` in any round, and `ModelBudgetSpent` before a round's first call.
        """
        rounds: list[ReviewRound] = []
        failure = ""
        while True:
            rounds.append(await self._round(task, len(rounds) + 1, say, has_critical=critical > 0))
            verdict, is_last = rounds[-1].verdict, len(rounds) > self._most_revisions
            if verdict.approval is Approval.APPROVED or is_last or self._reviser is None:
                break
            say(Stage.REVISING, self._share(), None)
            answer, failure = await self._revised(self._reviser, task, verdict.recommendations)
            self._done += 1
            if failure:
                break
            task = replace(task, answer=answer)
        return AnswerReviewed(tuple(rounds), self._budget.spent, task.language, critical, failure)

    async def _round(
        self, task: ReviewTask, number: int, say: Say, *, has_critical: bool
    ) -> ReviewRound:
        say(Stage.REVIEWING, self._share(), None)
        costs = [each.cost(task) for each in self._chosen]
        try:
            await self._budget.take(sum(costs, Cost()))
        except BudgetSpent as spent:
            raise ModelBudgetSpent(str(spent)) from spent

        async def ask(reviewer: ModelReviewer, reserved: Cost) -> ReviewedIn:
            asked = await reviewer.review(task)
            await self._budget.correct(reserved, asked.cost)
            said: PeerReview | FailedReviewer | ModelFailure = asked.said
            if isinstance(said, ModelFailure):
                said = FailedReviewer(reviewer.reviewer, said.kind, said.detail)
            self._done += 1
            reviewed = ReviewedIn(number, said, asked.is_cached)
            say(Stage.REVIEWING, self._share(), reviewed)
            return reviewed

        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(ask(*each)) for each in zip(self._chosen, costs, strict=True)
            ]
        return self._concluded(task, [each.result() for each in asked], has_critical=has_critical)

    def _concluded(
        self, task: ReviewTask, reviewed: Sequence[ReviewedIn], *, has_critical: bool
    ) -> ReviewRound:
        said = [each.said for each in reviewed]
        reviews = tuple(each for each in said if isinstance(each, PeerReview))
        failed = tuple(each for each in said if isinstance(each, FailedReviewer))
        verdict = conclude(reviews, failed, quorum=self._quorum, has_critical=has_critical)
        cached = frozenset(each.said.reviewer.name for each in reviewed if each.is_cached)
        return ReviewRound(task.answer, reviews, failed, verdict, cached)

    async def _revised(
        self, reviser: ModelReviser, task: ReviewTask, weaknesses: Sequence[str]
    ) -> tuple[str, str]:
        """Return a revised answer, and, if there is none, why; the other text is empty."""
        reserved = reviser.cost(task, weaknesses)
        try:
            await self._budget.take(reserved)
        except BudgetSpent as spent:
            return "", str(spent)
        revised = await reviser.revise(task, weaknesses)
        await self._budget.correct(reserved, revised.cost)
        if isinstance(revised.said, ModelFailure):
            return "", revised.said.detail
        return revised.said, ""

    def _share(self) -> float:
        return self._done / self._steps
