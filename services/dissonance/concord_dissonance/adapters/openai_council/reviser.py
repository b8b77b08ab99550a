"""A model that revises an answer by its reviewers' weaknesses; its words are an answer, no more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from concord_models.budget import Cost, question_cost
from concord_models.chat import ChatModel, Question
from concord_models.endpoint import EndpointRefused, EndpointUnavailable
from pydantic import BaseModel, ConfigDict, StringConstraints

from concord_dissonance.adapters.openai_council.reviewer import failure, prompt, texts, took
from concord_dissonance.domain.peer_review.review import ReviewTask
from concord_dissonance.ports import Revised


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    changes: Annotated[str, StringConstraints(max_length=8_000)]
    answer: Annotated[
        str, StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True)
    ]


class OpenAiReviser:
    """A reviser (port `ModelReviser`)."""

    def __init__(
        self, model: ChatModel, turns: asyncio.Semaphore, *, price: int, most_tokens: int
    ) -> None:
        """`turns`: the provider's questions under way. `price` of 1,000 tokens, in millionths."""
        self._model, self._turns = model, turns
        self._price, self._most_tokens = price, most_tokens

    def cost(self, task: ReviewTask, weaknesses: Sequence[str]) -> Cost:
        """Estimate what a revision costs at most, without a repair."""
        return question_cost(self._question(task, weaknesses).tokens(), self._price)

    async def revise(self, task: ReviewTask, weaknesses: Sequence[str]) -> Revised:
        """Revise the answer of a task."""
        question = self._question(task, weaknesses)
        async with self._turns:
            try:
                answer = await self._model.ask(question, lambda said: said.answer)
            except (EndpointUnavailable, EndpointRefused) as error:
                return Revised("", None, failure(error)[1])
        return Revised(answer.value, took(answer, question, self._price))

    def _question(self, task: ReviewTask, weaknesses: Sequence[str]) -> Question[_Said]:
        data = {**texts(task), "weaknesses": list(weaknesses)}
        return Question(prompt("revise", task.language), data, _Said, self._most_tokens)
