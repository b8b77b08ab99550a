"""Models that review answers, and that revise one by the weaknesses that reviewers named.

A review must score each criterion once; a revision is text alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from concord_models.budget import Cost
from concord_models.chat import Question
from concord_models.endpoint import BadReply
from pydantic import Field, StringConstraints

from concord_dissonance.adapters.openai_council.asking import CouncilModel, Reply
from concord_dissonance.domain.peer_review.review import (
    POINT,
    CriterionScore,
    PeerReview,
    Recommendation,
    Reviewer,
    ReviewTask,
)
from concord_dissonance.ports.calls import Clock
from concord_dissonance.ports.models import Asked

_Text = Annotated[str, StringConstraints(max_length=8_000)]
_Line = Annotated[str, StringConstraints(max_length=2_000)]
_Points = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


class _CriterionSaid(Reply):
    criterion_index: int
    comment: _Line
    score: _Points


class _Said(Reply):
    comments: _Text
    criteria: list[_CriterionSaid]
    strengths: Annotated[list[_Line], Field(max_length=20)]
    weaknesses: Annotated[list[_Line], Field(max_length=20)]
    overall_score: _Points
    recommendation: Literal["approve", "revise", "reject"]


class _Revised(Reply):
    changes: Annotated[str, StringConstraints(max_length=8_000)]
    answer: Annotated[
        str, StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True)
    ]


class OpenAiReviewer:
    """A reviewer (port `ModelReviewer`)."""

    def __init__(self, reviewer: Reviewer, model: CouncilModel, clock: Clock) -> None:
        self.reviewer = reviewer
        self._model, self._clock = model, clock

    def cost(self, task: ReviewTask) -> Cost:
        return self._model.cost(self._question(task), *_weights(task))

    async def review(self, task: ReviewTask) -> Asked[PeerReview]:
        return await self._model.ask(
            self._question(task), lambda said: self._read(said, task), *_weights(task)
        )

    def _question(self, task: ReviewTask) -> Question[_Said]:
        criteria = [
            {"index": index, "name": each.name, "description": each.description}
            for index, each in enumerate(task.criteria)
        ]
        data = {**_texts(task), "criteria": criteria, "role": self.reviewer.role.value}
        return self._model.question("review", task.language, data, _Said)

    def _read(self, said: _Said, task: ReviewTask) -> PeerReview:
        by_index = {each.criterion_index: each for each in said.criteria}
        if sorted(each.criterion_index for each in said.criteria) != list(
            range(len(task.criteria))
        ):
            raise BadReply(
                "it does not score each criterion once",
                hint=f"criteria: each criterion_index from 0 to {len(task.criteria) - 1} once",
            )
        scores = tuple(
            CriterionScore(criterion, _points(by_index[index].score), by_index[index].comment)
            for index, criterion in enumerate(task.criteria)
        )
        return PeerReview(
            reviewer=self.reviewer,
            scores=scores,
            strengths=tuple(said.strengths),
            weaknesses=tuple(said.weaknesses),
            comments=said.comments,
            recommendation=Recommendation(said.recommendation),
            told_score=_points(said.overall_score),
            time=self._clock(),
        )


class OpenAiReviser:
    """A reviser (port `ModelReviser`)."""

    def __init__(self, model: CouncilModel) -> None:
        self._model = model

    def cost(self, task: ReviewTask, weaknesses: Sequence[str]) -> Cost:
        return self._model.cost(self._question(task, weaknesses))

    async def revise(self, task: ReviewTask, weaknesses: Sequence[str]) -> Asked[str]:
        return await self._model.ask(self._question(task, weaknesses), lambda said: said.answer)

    def _question(self, task: ReviewTask, weaknesses: Sequence[str]) -> Question[_Revised]:
        data = {**_texts(task), "weaknesses": list(weaknesses)}
        return self._model.question("revise", task.language, data, _Revised)


def _texts(task: ReviewTask) -> Mapping[str, Any]:
    """Return the texts of a task that a model reads, as data."""
    return {"question": task.question, "answer": task.answer, "sources": list(task.sources)}


def _points(score: float) -> int:
    return round(score * POINT)


def _weights(task: ReviewTask) -> list[int]:
    """Return the criteria's weights: a cached review of other weights must not be reused."""
    return [each.weight for each in task.criteria]
