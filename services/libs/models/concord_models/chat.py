"""One question to a chat model: the answer is JSON of a given shape, or there is none.

The question's subject travels as data, apart from the prompt. The answer is read into a pydantic
model that forbids unknown fields; then its caller checks it against the data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import openai
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord_models.endpoint import BadReply, CutOff, EndpointRefused, ModelEndpoint

Shape = TypeVar("Shape", bound=BaseModel)
T = TypeVar("T")

CHARACTERS_A_TOKEN = 3
"""An English token has about four, so an estimate by three is seldom too small."""
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Question(Generic[Shape]):
    """A question: instructions, their data, and the shape of an answer."""

    prompt: str
    data: Mapping[str, object]
    """JSON values."""
    shape: type[Shape]
    most_tokens: int
    """The most tokens of the answer."""

    def tokens(self) -> int:
        """Return an estimate of the most tokens that question and answer take."""
        asked = len(self.prompt) + len(json.dumps(self.data, ensure_ascii=False))
        return asked // CHARACTERS_A_TOKEN + self.most_tokens


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A checked answer, the tokens that the endpoint counted (0: it does not count them), and the
    number of calls."""

    value: T
    tokens: int
    calls: int = 1


class ChatModel:
    """A model behind an endpoint's chat completions."""

    def __init__(self, endpoint: ModelEndpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model
        self._format = 0
        """The index in `_FORMATS` of the one that the endpoint accepts; it refused those before."""

    @property
    def name(self) -> str:
        """The endpoint's name of the model."""
        return self._model

    async def ask(self, question: Question[Shape], check: Callable[[Shape], T]) -> Answer[T]:
        """Ask until an answer of the shape passes `check`, which raises `BadReply`.

        An answer that fails is shown to the model once, with its defect.

        Raises:
            EndpointUnavailable: no usable answer.
            EndpointRefused: the content is refused.
        """
        at = self._format
        while True:
            try:
                answer = await self._conversation(question, check, _FORMATS[at](question.shape))
            except EndpointRefused as refused:
                at += 1
                if refused.status != _BAD_REQUEST or at == len(_FORMATS):
                    raise
            else:
                self._format = at
                return answer

    async def _conversation(
        self, question: Question[Shape], check: Callable[[Shape], T], demanded: dict[str, Any]
    ) -> Answer[T]:
        talk = _Talk(question, check)

        async def call(client: openai.AsyncOpenAI) -> Any:
            return await client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=talk.messages,
                temperature=0,
                max_tokens=question.most_tokens,
                **demanded,
            )

        return await self._endpoint.ask(call, talk.read)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()


class _Talk(Generic[Shape, T]):
    """The conversation so far: a question, and at most one unusable answer with its defect."""

    def __init__(self, question: Question[Shape], check: Callable[[Shape], T]) -> None:
        self._question, self._check = question, check
        self._calls = self._tokens = 0
        data = json.dumps(question.data, ensure_ascii=False)
        self.messages: list[Any] = [
            {"role": "system", "content": question.prompt},
            {"role": "user", "content": data},
        ]

    def read(self, body: bytes) -> Answer[T]:
        """Read a reply. Raises `BadReply`."""
        self._calls += 1
        completion = _completion(body)
        self._tokens += completion.usage.total_tokens if completion.usage else 0
        content = completion.choices[0].message.content or ""
        try:
            if completion.choices[0].finish_reason == "length":
                raise CutOff("it ran out of tokens", is_final=not content)
            value = self._check(_parsed(content, self._question.shape))
        except BadReply as bad:
            bad.is_final = bad.is_final or len(self.messages) > _ASKED_ONCE
            self.messages += [
                {"role": "assistant", "content": content},
                {"role": "user", "content": f"{_REPAIR}\n\n{bad.hint}"},
            ]
            raise
        return Answer(value, self._tokens, self._calls)


_ASKED_ONCE = 2
"""The number of messages before any answer."""
_BAD_REQUEST = 400
_REPAIR = (
    "Your answer cannot be used, for the reason below. Answer once more, with one JSON object of "
    "the shape that was asked for and nothing else."
)


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    content: str | None
    refusal: str | None = None


class _Choice(BaseModel):
    model_config = ConfigDict(frozen=True)

    message: _Message
    finish_reason: Literal["stop", "length"]


class _Usage(BaseModel):
    model_config = ConfigDict(frozen=True)

    total_tokens: int = Field(default=0, ge=0)


class _Completion(BaseModel):
    model_config = ConfigDict(frozen=True)

    choices: list[_Choice] = Field(min_length=1, max_length=1)
    usage: _Usage | None = None


def _completion(body: bytes) -> _Completion:
    try:
        completion = _Completion.model_validate_json(body)
    except ValidationError:
        # The library's own message would show the reply.
        raise BadReply("its reply is no completion") from None
    if completion.choices[0].message.refusal:
        raise BadReply("it refuses to answer")
    return completion


def _parsed(content: str, shape: type[Shape]) -> Shape:
    fenced = _FENCED.fullmatch(content)
    try:
        return shape.model_validate_json(fenced[1] if fenced else content)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found]
    # Outside the handler: pydantic's own error shows the values.
    raise BadReply(
        "its reply is not an answer of the shape that was asked for",
        hint="\n".join(wrong[:_SHOWN_FAULTS]),
    )


_SHOWN_FAULTS = 10


def _schema_format(shape: type[BaseModel]) -> dict[str, Any]:
    schema = {"name": "answer", "strict": True, "schema": flat_schema(shape)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _object_format(_shape: type[BaseModel]) -> dict[str, Any]:
    return {"response_format": {"type": "json_object"}}


def _no_format(_shape: type[BaseModel]) -> dict[str, Any]:
    return {}


_FORMATS = (_schema_format, _object_format, _no_format)
"""The ways to demand a shape, the strictest first; it is checked here in any case."""


def flat_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """Return a shape's JSON schema without references: some servers follow none."""
    schema = shape.model_json_schema()
    named = schema.pop("$defs", {})

    def flat(node: Any) -> Any:
        if isinstance(node, list):
            return [flat(each) for each in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return flat(named[node["$ref"].rpartition("/")[2]])
        return {key: flat(value) for key, value in node.items()}

    found: dict[str, Any] = flat(schema)
    return found
