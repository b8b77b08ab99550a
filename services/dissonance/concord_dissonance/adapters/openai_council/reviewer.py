"""A model as a reviewer of answers: what it says is checked against the criteria, then counted."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from importlib import resources
from typing import Annotated, Any, Literal

from concord_models.budget import Cost, question_cost
from concord_models.chat import Answer, ChatModel, Question
from concord_models.endpoint import BadReply, EndpointRefused, EndpointUnavailable, Trouble
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from concord_dissonance.domain.peer_review.review import (
    POINT,
    CriterionScore,
    FailedReviewer,
    FailureKind,
    PeerReview,
    Recommendation,
    Reviewer,
    ReviewTask,
)
from concord_dissonance.ports import Clock, Reviewed

VERSION = "v1"
"""Of the prompts."""
MOST_CACHED = 1_000


def _lower(said: object) -> object:
    return said.strip().lower() if isinstance(said, str) else said


_Text = Annotated[str, StringConstraints(max_length=8_000)]
_Line = Annotated[str, StringConstraints(max_length=2_000)]
_Points = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


class _CriterionSaid(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    criterion_index: int
    comment: _Line
    score: _Points


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    comments: _Text
    criteria: list[_CriterionSaid]
    strengths: Annotated[list[_Line], Field(max_length=20)]
    weaknesses: Annotated[list[_Line], Field(max_length=20)]
    overall_score: _Points
    recommendation: Annotated[Literal["approve", "revise", "reject"], BeforeValidator(_lower)]


class OpenAiReviewer:
    """A reviewer (port `ModelReviewer`)."""

    def __init__(
        self,
        reviewer: Reviewer,
        model: ChatModel,
        turns: asyncio.Semaphore,
        clock: Clock,
        *,
        price: int,
        most_tokens: int,
    ) -> None:
        """`turns`: the provider's questions under way. `price` of 1,000 tokens, in millionths.

        Reviews are kept by content, of the 1,000 tasks reviewed last.
        """
        self.reviewer = reviewer
        self._model, self._turns, self._clock = model, turns, clock
        self._price, self._most_tokens = price, most_tokens
        self._known: OrderedDict[bytes, PeerReview] = OrderedDict()

    def cost(self, task: ReviewTask) -> Cost:
        """Estimate what a review costs at most, without a repair; nothing for a known one."""
        question = self._question(task)
        if _key(question, task) in self._known:
            return Cost()
        return question_cost(question.tokens(), self._price)

    async def review(self, task: ReviewTask) -> Reviewed:
        """Review an answer."""
        question = self._question(task)
        key = _key(question, task)
        if (known := self._known.get(key)) is not None:
            return Reviewed(known, Cost(), is_cached=True)
        async with self._turns:
            try:
                answer = await self._model.ask(question, lambda said: self._read(said, task))
            except (EndpointUnavailable, EndpointRefused) as error:
                kind, detail = failure(error)
                return Reviewed(FailedReviewer(self.reviewer, kind, detail), None)
        self._known[key] = answer.value
        if len(self._known) > MOST_CACHED:
            self._known.popitem(last=False)
        return Reviewed(answer.value, took(answer, question, self._price))

    def _question(self, task: ReviewTask) -> Question[_Said]:
        criteria = [
            {"index": index, "name": each.name, "description": each.description}
            for index, each in enumerate(task.criteria)
        ]
        data = {**texts(task), "criteria": criteria, "role": self.reviewer.role.value}
        return Question(prompt("review", task.language), data, _Said, self._most_tokens)

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


def prompt(name: str, language: str) -> str:
    """Return a prompt in "en" or "de"."""
    return resources.files(__package__).joinpath(f"{name}.{VERSION}.{language}.md").read_text()


def texts(task: ReviewTask) -> Mapping[str, Any]:
    """Return what a model reads of a task, as data."""
    return {"question": task.question, "answer": task.answer, "sources": list(task.sources)}


def took(answer: Answer[Any], question: Question[Any], price: int) -> Cost:
    """Return what an answer cost; as estimated where the endpoint does not say."""
    cost = question_cost(answer.tokens or question.tokens(), price)
    return cost + Cost(answer.calls - 1)


def failure(error: EndpointUnavailable | EndpointRefused) -> tuple[FailureKind, str]:
    """Return why a model gave no answer; the text may be shown."""
    if isinstance(error, EndpointRefused):
        return FailureKind.REFUSED, str(error)
    return _FAILURES[error.trouble], str(error)


_FAILURES = {
    Trouble.TIMEOUT: FailureKind.TIMEOUT,
    Trouble.NO_ANSWER: FailureKind.UNAVAILABLE,
    Trouble.BAD_REPLY: FailureKind.MALFORMED,
    Trouble.CUT_OFF: FailureKind.CUT_OFF,
    Trouble.CALL_REFUSED: FailureKind.REFUSED,
}


def _points(score: float) -> int:
    return round(score * POINT)


def _key(question: Question[_Said], task: ReviewTask) -> bytes:
    """Return what a review is kept by: what was asked, and the weights that it is counted with."""
    weights = [each.weight for each in task.criteria]
    asked = json.dumps([question.prompt, question.data, weights])
    return hashlib.sha256(asked.encode()).digest()
