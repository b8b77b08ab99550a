"""A model that revises an answer by the weaknesses that reviewers named; it returns text alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from concord_models.budget import Cost
from concord_models.chat import Question
from pydantic import BaseModel, ConfigDict, StringConstraints

from concord_dissonance.adapters.openai_council.asking import CouncilModel
from concord_dissonance.adapters.openai_council.reviewer import texts
from concord_dissonance.domain.peer_review.review import ReviewTask
from concord_dissonance.ports.models import Asked


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    changes: Annotated[str, StringConstraints(max_length=8_000)]
    answer: Annotated[
        str, StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True)
    ]


class OpenAiReviser:
    """A reviser (port `ModelReviser`)."""

    def __init__(self, model: CouncilModel) -> None:
        self._model = model

    def cost(self, task: ReviewTask, weaknesses: Sequence[str]) -> Cost:
        return self._model.cost(self._question(task, weaknesses))

    async def revise(self, task: ReviewTask, weaknesses: Sequence[str]) -> Asked[str]:
        return await self._model.ask(self._question(task, weaknesses), lambda said: said.answer)

    def _question(self, task: ReviewTask, weaknesses: Sequence[str]) -> Question[_Said]:
        data = {**texts(task), "weaknesses": list(weaknesses)}
        return self._model.question("revise", task.language, data, _Said)
