"""A model of the settings file: its provider limits the questions, its answers are cached."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import resources
from typing import Any, TypeVar

from concord_models.budget import Cost, question_cost
from concord_models.chat import ChatModel, Question
from concord_models.endpoint import EndpointRefused, EndpointUnavailable, Trouble
from pydantic import BaseModel, ConfigDict

from concord_dissonance.domain.dialectic.said import ModelFailure
from concord_dissonance.domain.peer_review.review import FailureKind
from concord_dissonance.ports.models import Asked

T = TypeVar("T")

VERSION = "v1"
"""The version of the prompts."""
MOST_CACHED = 1_000


class Reply(BaseModel):
    """The shape of a model's reply, or of a part of one: no other fields, no converted types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Shape = TypeVar("Shape", bound=Reply)


class CouncilModel:
    """A model that reviews, revises or synthesizes."""

    def __init__(
        self, model: ChatModel, turns: asyncio.Semaphore, *, price: int, most_tokens: int
    ) -> None:
        """`turns`: limits the provider's questions under way. `price`: of 1,000 tokens, in
        millionths. Answers to the last 1,000 questions are cached by content.
        """
        self._model, self._turns = model, turns
        self._price, self._most_tokens = price, most_tokens
        self._known: OrderedDict[bytes, Any] = OrderedDict()

    def question(
        self, name: str, language: str, data: Mapping[str, Any], shape: type[Shape]
    ) -> Question[Shape]:
        """Return a question with the prompt `name` in "en" or "de"."""
        file = resources.files(__package__).joinpath(f"{name}.{VERSION}.{language}.md")
        return Question(file.read_text("utf-8"), data, shape, self._most_tokens)

    def cost(self, question: Question[Shape], *besides: object) -> Cost:
        if _key(question, besides) in self._known:
            return Cost()
        return question_cost(question.tokens(), self._price)

    async def ask(
        self, question: Question[Shape], check: Callable[[Shape], T], *besides: object
    ) -> Asked[T]:
        """Ask, unless the answer is cached.

        `check` may raise `BadReply`; its result depends on the reply, the question and `besides`.
        """
        key = _key(question, besides)
        if key in self._known:
            return Asked(self._known[key], Cost(), is_cached=True)
        async with self._turns:
            try:
                answer = await self._model.ask(question, check)
            except EndpointRefused as error:
                failure = ModelFailure(FailureKind.REFUSED, str(error))
                return Asked(failure, self.cost(question))
            except EndpointUnavailable as error:
                failure = ModelFailure(_FAILURES[error.trouble], str(error))
                return Asked(failure, self.cost(question))
        self._known[key] = answer.value
        if len(self._known) > MOST_CACHED:
            self._known.popitem(last=False)
        # An endpoint that counts no tokens leaves the estimate.
        cost = question_cost(answer.tokens or question.tokens(), self._price)
        return Asked(answer.value, replace(cost, calls=answer.calls))


_FAILURES = {
    Trouble.TIMEOUT: FailureKind.TIMEOUT,
    Trouble.NO_ANSWER: FailureKind.UNAVAILABLE,
    Trouble.BAD_REPLY: FailureKind.MALFORMED,
    Trouble.CUT_OFF: FailureKind.CUT_OFF,
    Trouble.CALL_REFUSED: FailureKind.REFUSED,
}


def _key(question: Question[Any], besides: tuple[object, ...]) -> bytes:
    asked = json.dumps([question.prompt, question.data, besides])
    return hashlib.sha256(asked.encode()).digest()
