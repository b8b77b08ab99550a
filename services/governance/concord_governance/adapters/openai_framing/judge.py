"""The framing judge over a model behind an OpenAI-compatible endpoint.

The note is sent as data, and the answer is a label alone: neutral, or the words of the note that
are not neutral. A note that talks the model into an answer evades only this second check: the
lexicon was asked before, and decides alone.
"""

from __future__ import annotations

from importlib import resources
from typing import Annotated

from concord_models.chat import ChatModel, Question
from concord_models.endpoint import BadReply, EndpointRefused, EndpointUnavailable
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from concord_governance.domain.errors import JudgeUnavailable
from concord_governance.domain.spelling import plain

PROMPT = "neutral.v2.md"
MOST_TOKENS = 400

_Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class _Verdict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    neutral: bool
    words: list[_Word] = Field(max_length=50)


class OpenAiFraming:
    """The framing judge over an endpoint's chat completions."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._prompt = resources.files(__package__).joinpath(PROMPT).read_text("utf-8")

    async def violations(self, note: str) -> tuple[str, ...]:
        """Return the words of a note that are not neutral. Raises JudgeUnavailable."""
        question = Question(self._prompt, {"note": note}, _Verdict, MOST_TOKENS)
        try:
            answer = await self._model.ask(question, lambda verdict: _words(verdict, note))
        except (EndpointUnavailable, EndpointRefused) as error:
            raise JudgeUnavailable(str(error)) from error
        return answer.value

    async def close(self) -> None:
        """Close the connections."""
        await self._model.close()


def _words(verdict: _Verdict, note: str) -> tuple[str, ...]:
    """Return a verdict's words, normalized by `plain`; each must occur in the note."""
    if verdict.neutral == bool(verdict.words):
        raise BadReply("its verdict contradicts itself")
    text = plain(note)
    found = [plain(word).strip() for word in verdict.words]
    if not all(word and word in text for word in found):
        raise BadReply("its verdict names words that the text does not have")
    return tuple(dict.fromkeys(found))
