"""One question to a chat model: the answer is JSON of a given shape, or there is none.

The question's subject travels as data, apart from the prompt. The answer is read into a pydantic
model that forbids unknown fields; then its caller checks it against the data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import openai
from concord_attestation.visible import in_json, visible
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord_models.answer_text import read_answer
from concord_models.endpoint import BadReply, CutOff, EndpointRefused, ModelEndpoint

Shape = TypeVar("Shape", bound=BaseModel)
T = TypeVar("T")

CHARACTERS_A_TOKEN = 3
"""An English token has about four, so an estimate by three is seldom too small."""


@dataclass(frozen=True, slots=True)
class Question(Generic[Shape]):
    """A question: instructions, their data, and the shape of an answer."""

    prompt: str
    data: Mapping[str, object]
    """JSON values."""
    shape: type[Shape]
    most_tokens: int
    """The most tokens of the answer."""

    def content(self) -> str:
        """Return the data as the model sees them: as JSON in which hidden characters are JSON's
        own escapes, so that a model sees what it is given, and quotes it exactly."""
        return in_json(json.dumps(self.data, ensure_ascii=False))

    def tokens(self) -> int:
        """Return an estimate of the most tokens that question and answer take."""
        asked = len(self.prompt) + len(self.content())
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
        self._accepted = _Dialect()
        """The parameters that the endpoint accepted last."""

    @property
    def name(self) -> str:
        """The endpoint's name of the model."""
        return self._model

    async def ask(self, question: Question[Shape], check: Callable[[Shape], T]) -> Answer[T]:
        """Ask until an answer of the shape passes `check`, which raises `BadReply`.

        An answer that fails is shown to the model once, with its defect. A parameter that the
        endpoint refuses is left out, now and in later questions.

        Raises:
            EndpointUnavailable: no usable answer.
            EndpointRefused: the content is refused.
        """
        dialect = self._accepted
        while True:
            try:
                answer = await self._conversation(question, check, dialect)
            except EndpointRefused as refused:
                simpler = dialect.without(refused)
                if simpler is None:
                    raise
                dialect = simpler
            else:
                self._accepted = dialect
                return answer

    async def _conversation(
        self, question: Question[Shape], check: Callable[[Shape], T], dialect: _Dialect
    ) -> Answer[T]:
        talk = _Talk(question, check)

        async def call(client: openai.AsyncOpenAI) -> Any:
            return await client.chat.completions.with_raw_response.create(
                model=self._model, messages=talk.messages, **dialect.parameters(question)
            )

        return await self._endpoint.ask(call, talk.read)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The parameters of a question that an endpoint accepts."""

    format: int = 0
    """The index in `_FORMATS` of the one that it accepts; it refused those before."""
    limit: str = "max_tokens"
    """Its name of the most tokens; "": it accepts none."""
    has_temperature: bool = True

    def parameters(self, question: Question[Any]) -> dict[str, Any]:
        """Return a question's parameters."""
        limit = {self.limit: question.most_tokens} if self.limit else {}
        temperature = {"temperature": 0} if self.has_temperature else {}
        return {**_FORMATS[self.format](question.shape), **limit, **temperature}

    def without(self, refused: EndpointRefused) -> _Dialect | None:
        """Return a dialect without the refused parameter; None: there is nothing to leave out.

        An endpoint that does not name the parameter is asked with plainer formats, then with
        neither limit nor temperature.
        """
        if refused.status not in _BAD_REQUESTS:
            return None
        if self.limit and self.limit in refused.body:
            return replace(self, limit=_NEXT_LIMIT[self.limit])
        if self.has_temperature and "temperature" in refused.body:
            return replace(self, has_temperature=False)
        if self.format + 1 < len(_FORMATS):
            return replace(self, format=self.format + 1)
        if self.limit or self.has_temperature:
            return replace(self, limit="", has_temperature=False)
        return None


_BAD_REQUESTS = frozenset({400, 422})
_NEXT_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": ""}


class _Talk(Generic[Shape, T]):
    """The conversation so far: a question, and at most one unusable answer with its defect."""

    def __init__(self, question: Question[Shape], check: Callable[[Shape], T]) -> None:
        self._question, self._check = question, check
        self._calls = self._tokens = 0
        self.messages: list[Any] = [
            {"role": "system", "content": question.prompt},
            {"role": "user", "content": question.content()},
        ]

    def read(self, body: bytes) -> Answer[T]:
        """Read a reply. Raises `BadReply`."""
        self._calls += 1
        completion = _completion(body)
        self._tokens += completion.usage.tokens if completion.usage else 0
        content = completion.choices[0].message.text
        try:
            if completion.choices[0].finish_reason == "length":
                raise CutOff("it ran out of tokens", is_final=not content)
            value = self._check(read_answer(content, self._question.shape))
        except BadReply as bad:
            bad.is_final = bad.is_final or len(self.messages) > _ASKED_ONCE
            self.messages += [
                {"role": "assistant", "content": visible(content)},
                {"role": "user", "content": f"{_REPAIR}\n\n{visible(bad.hint)}"},
            ]
            raise
        return Answer(value, self._tokens, self._calls)


_ASKED_ONCE = 2
"""The number of messages before any answer."""
_REPAIR = (
    "Your answer cannot be used, for the reason below. Answer once more, with one JSON object of "
    "the shape that was asked for and nothing else."
)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)

    type: str = ""
    text: str | None = None


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    content: str | list[_Part] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        """The answer; without parts that are no answer, such as thoughts."""
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content if part.type in _ANSWER_PARTS)
        return self.content or ""


_ANSWER_PARTS = frozenset({"text", "output_text"})


class _Choice(BaseModel):
    model_config = ConfigDict(frozen=True)

    message: _Message
    finish_reason: str | None = None
    """"length": the model ran out of tokens. Servers have words of their own for the rest."""


class _Usage(BaseModel):
    model_config = ConfigDict(frozen=True)

    total_tokens: int | None = Field(default=None, ge=0)
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)

    @property
    def tokens(self) -> int:
        """All tokens of the call; 0: the endpoint does not count them."""
        counted = (self.prompt_tokens or 0) + (self.completion_tokens or 0)
        return counted if self.total_tokens is None else self.total_tokens


class _Completion(BaseModel):
    model_config = ConfigDict(frozen=True)

    choices: list[_Choice] = Field(min_length=1)
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


def _schema_format(shape: type[BaseModel]) -> dict[str, Any]:
    schema = {"name": "answer", "strict": True, "schema": flat_schema(shape)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


_FORMATS: Sequence[Callable[[type[BaseModel]], dict[str, Any]]] = (
    _schema_format,
    lambda _: {"response_format": {"type": "json_object"}},
    lambda _: {},
)
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
