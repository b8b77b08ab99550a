"""The framing judge over a model behind an OpenAI-compatible endpoint.

The note to judge travels as data, and the answer can be a label and nothing else: neutral, or the
words that are not, each of which must stand in the note. What a text tells the model to say can at
most lose this second check: the lexicon was asked before, and decides alone.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Annotated, Any, Literal

import openai
from concord_models.endpoint import (
    BadReply,
    EndpointRefused,
    EndpointUnavailable,
    ModelEndpoint,
)
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from concord_governance.domain.errors import JudgeUnavailable
from concord_governance.domain.spelling import plain

PROMPT = "neutral.v2.md"
MOST_TOKENS = 400

_Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class _Verdict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    neutral: bool
    words: list[_Word] = Field(max_length=50)


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    content: str | None
    refusal: str | None = None


class _Choice(BaseModel):
    model_config = ConfigDict(frozen=True)

    message: _Message
    finish_reason: Literal["stop"]


class _Completion(BaseModel):
    model_config = ConfigDict(frozen=True)

    choices: list[_Choice] = Field(min_length=1, max_length=1)


class OpenAiFraming:
    """The framing judge over an endpoint's chat completions."""

    def __init__(self, endpoint: ModelEndpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model
        self._prompt = resources.files(__package__).joinpath(PROMPT).read_text("utf-8")

    async def violations(self, note: str) -> tuple[str, ...]:
        """Return the words that are not neutral, as the lexicon compares them.

        Raises:
            JudgeUnavailable: there was no usable answer.
        """

        async def call(client: openai.AsyncOpenAI) -> Any:
            return await client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": self._prompt},
                    {"role": "user", "content": json.dumps({"note": note}, ensure_ascii=False)},
                ],
                response_format={"type": "json_schema", "json_schema": _SCHEMA},
                temperature=0,
                max_tokens=MOST_TOKENS,
            )

        try:
            return await self._endpoint.ask(call, lambda body: _read(body, note))
        except (EndpointUnavailable, EndpointRefused) as error:
            raise JudgeUnavailable(str(error)) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()


_SCHEMA: Any = {
    "name": "verdict",
    "strict": True,
    "schema": {
        "type": "object",
        "additionalProperties": False,
        "required": ["neutral", "words"],
        "properties": {
            "neutral": {"type": "boolean"},
            "words": {"type": "array", "items": {"type": "string"}},
        },
    },
}


def _read(body: bytes, note: str) -> tuple[str, ...]:
    """Read a verdict. Its words are held against the text: none but the text's own are returned."""
    try:
        message = _Completion.model_validate_json(body).choices[0].message
        verdict = _Verdict.model_validate_json(message.content or "")
    except ValidationError:
        # The library's own message would show what came back.
        raise BadReply("its reply is not a verdict") from None
    if message.refusal:
        raise BadReply("it refuses to judge")
    if verdict.neutral == bool(verdict.words):
        raise BadReply("its verdict contradicts itself")
    text = plain(note)
    found = [plain(word).strip() for word in verdict.words]
    if not all(word and word in text for word in found):
        raise BadReply("its verdict names words that the text does not have")
    return tuple(dict.fromkeys(found))
