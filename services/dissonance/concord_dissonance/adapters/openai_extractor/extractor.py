"""Facts by a language model: it names candidates, and what the text does not have is dropped.

A text is sent as data, each in a question of its own.
"""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import resources
from typing import Annotated

from concord_models.budget import Budget
from concord_models.chat import ChatModel, Question
from concord_models.endpoint import EndpointRefused, EndpointUnavailable
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from concord_dissonance.domain.errors import JudgeUnavailable
from concord_dissonance.domain.extraction.by_model import Claim
from concord_dissonance.domain.extraction.candidate import LONGEST, Said

PROMPT = "extract.v1.md"
MOST_TOKENS = 2_000
MOST_CLAIMS = 50

_Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST, strip_whitespace=True)]
_Quote = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    subject: _Name
    relation: _Name
    object: _Name
    quote: _Quote


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    facts: Annotated[list[_Fact], Field(max_length=MOST_CLAIMS)]


class OpenAiExtractor:
    """A model that names facts (port `FactModel`)."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._prompt = resources.files(__package__).joinpath(PROMPT).read_text("utf-8")

    async def claims(self, said: Said, budget: Budget) -> list[Claim]:
        question = Question(self._prompt, _shown(said), _Said, MOST_TOKENS)
        reserved = await budget.reserve(question.tokens())
        try:
            answer = await self._model.ask(question, lambda told: told.facts)
        except (EndpointUnavailable, EndpointRefused) as error:
            raise JudgeUnavailable(str(error)) from error
        await budget.settle(reserved, answer.tokens, answer.calls)
        return [Claim(e.subject, e.relation, e.object, e.quote) for e in answer.value]

    async def close(self) -> None:
        await self._model.close()


def _shown(said: Said) -> dict[str, str]:
    date = "" if said.time is None else datetime.fromtimestamp(said.time / 1e6, UTC).date()
    known = {"text": said.text, "speaker": said.speaker, "date": str(date)}
    return {name: value for name, value in known.items() if value}
