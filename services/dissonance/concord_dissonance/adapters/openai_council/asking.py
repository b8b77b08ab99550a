"""A model of the settings file: asked in its provider's turns, its answers kept by content."""

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
from concord_models.chat import Answer, ChatModel, Question
from concord_models.endpoint import EndpointRefused, EndpointUnavailable, Trouble
from pydantic import BaseModel

from concord_dissonance.domain.dialectic.said import ModelFailure
from concord_dissonance.domain.peer_review.review import FailureKind
from concord_dissonance.ports.models import Asked

Shape = TypeVar("Shape", bound=BaseModel)
T = TypeVar("T")

VERSION = "v1"
"""Of the prompts."""
MOST_CACHED = 1_000


class CouncilModel:
    """A model, whatever it is asked for."""

    def __init__(
        self, model: ChatModel, turns: asyncio.Semaphore, *, price: int, most_tokens: int
    ) -> None:
        """`turns`: the provider's questions under way. `price` of 1,000 tokens, in millionths.

        Answers are kept by content, of the 1,000 questions asked last.
        """
        self._model, self._turns = model, turns
        self._price, self._most_tokens = price, most_tokens
        self._known: OrderedDict[bytes, Any] = OrderedDict()

    def question(
        self, name: str, language: str, data: Mapping[str, Any], shape: type[Shape]
    ) -> Question[Shape]:
        """Return the question of a prompt in "en" or "de"."""
        file = resources.files(__package__).joinpath(f"{name}.{VERSION}.{language}.md")
        return Question(file.read_text("utf-8"), data, shape, self._most_tokens)

    def cost(self, question: Question[Shape], *besides: object) -> Cost:
        """Estimate what a question costs at most, without a repair; nothing for a known one."""
        if _key(question, besides) in self._known:
            return Cost()
        return question_cost(question.tokens(), self._price)

    async def ask(
        self, question: Question[Shape], check: Callable[[Shape], T], *besides: object
    ) -> Asked[T]:
        """Ask, unless the answer is known.

        `check` raises `BadReply`; what it returns hangs on the question and `besides` alone.
        """
        key = _key(question, besides)
        if key in self._known:
            return Asked(self._known[key], Cost(), is_cached=True)
        async with self._turns:
            try:
                answer = await self._model.ask(question, check)
            except (EndpointUnavailable, EndpointRefused) as error:
                return Asked(_failure(error), self.cost(question))
        self._known[key] = answer.value
        if len(self._known) > MOST_CACHED:
            self._known.popitem(last=False)
        return Asked(answer.value, self._took(answer, question))

    def _took(self, answer: Answer[Any], question: Question[Any]) -> Cost:
        """Return what an answer cost; as estimated where the endpoint does not say."""
        cost = question_cost(answer.tokens or question.tokens(), self._price)
        return replace(cost, calls=answer.calls)


def _failure(error: EndpointUnavailable | EndpointRefused) -> ModelFailure:
    if isinstance(error, EndpointRefused):
        return ModelFailure(FailureKind.REFUSED, str(error))
    return ModelFailure(_FAILURES[error.trouble], str(error))


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
