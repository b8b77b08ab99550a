"""One question to a chat model: the answer is JSON of a given shape, or there is none.

Whatever the question is about travels as data, apart from the prompt. The answer is read into a
pydantic model that forbids what it does not name, and then held against the data by its asker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import openai
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord_models.endpoint import BadReply, ModelEndpoint

Shape = TypeVar("Shape", bound=BaseModel)
T = TypeVar("T")

CHARACTERS_A_TOKEN = 3
"""An English token has about four: an estimate that is seldom too small."""
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Question(Generic[Shape]):
    """What is asked: instructions, the data they speak of, and the shape of an answer."""

    prompt: str
    data: Mapping[str, object]
    """JSON values."""
    shape: type[Shape]
    most_tokens: int
    """Of the answer."""

    def tokens(self) -> int:
        """Estimate how many tokens question and answer take at most."""
        asked = len(self.prompt) + len(json.dumps(self.data, ensure_ascii=False))
        return asked // CHARACTERS_A_TOKEN + self.most_tokens


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A checked answer, and the tokens that the endpoint counted (0: it does not say)."""

    value: T
    tokens: int


class ChatModel:
    """A model behind an endpoint's chat completions."""

    def __init__(self, endpoint: ModelEndpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model

    @property
    def name(self) -> str:
        """The endpoint's name of the model."""
        return self._model

    async def ask(self, question: Question[Shape], check: Callable[[Shape], T]) -> Answer[T]:
        """Ask until an answer of the shape passes `check`, which raises `BadReply`.

        Raises:
            EndpointUnavailable: no usable answer.
            EndpointRefused: the content is refused.
        """

        async def call(client: openai.AsyncOpenAI) -> Any:
            data = json.dumps(question.data, ensure_ascii=False)
            return await client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": question.prompt},
                    {"role": "user", "content": data},
                ],
                response_format=_format(question.shape),
                temperature=0,
                max_tokens=question.most_tokens,
            )

        return await self._endpoint.ask(call, lambda body: _read(body, question.shape, check))

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    content: str | None
    refusal: str | None = None


class _Choice(BaseModel):
    model_config = ConfigDict(frozen=True)

    message: _Message
    finish_reason: Literal["stop"]


class _Usage(BaseModel):
    model_config = ConfigDict(frozen=True)

    total_tokens: int = Field(default=0, ge=0)


class _Completion(BaseModel):
    model_config = ConfigDict(frozen=True)

    choices: list[_Choice] = Field(min_length=1, max_length=1)
    usage: _Usage | None = None


def _format(shape: type[BaseModel]) -> Any:
    schema = {"name": "answer", "strict": True, "schema": shape.model_json_schema()}
    return {"type": "json_schema", "json_schema": schema}


def _read(body: bytes, shape: type[Shape], check: Callable[[Shape], T]) -> Answer[T]:
    try:
        completion = _Completion.model_validate_json(body)
        message = completion.choices[0].message
        if message.refusal:
            raise BadReply("it refuses to answer")
        content = message.content or ""
        fenced = _FENCED.fullmatch(content)
        answer = shape.model_validate_json(fenced[1] if fenced else content)
    except ValidationError:
        # The library's own message would show what came back.
        raise BadReply("its reply is not an answer of the shape that was asked for") from None
    return Answer(check(answer), completion.usage.total_tokens if completion.usage else 0)
