"""Has a model read sources, compare theses and word the synthesis (D8, D11).

The rules' own findings stay. After the model's first failure rules do the rest, and the result says
so.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from concord_models.budget import Budget, BudgetSpent, Cost

from concord_dissonance.domain.dialectic.extraction import Said, extend, once, settled
from concord_dissonance.domain.dialectic.said import (
    ModelFailure,
    SaidContradiction,
    SaidSynthesis,
    SourceText,
    SynthesisTask,
    resolved,
    united,
)
from concord_dissonance.domain.dialectic.scoped import Scoped
from concord_dissonance.domain.dialectic.synthesis import Conclusions, Synthesis
from concord_dissonance.domain.dialectic.theses import Batch, Source, Thesis
from concord_dissonance.domain.dialectic.wording import Wording
from concord_dissonance.domain.errors import ModelBudgetSpent, SynthesizerMissing
from concord_dissonance.ports.models import Asked, ModelSynthesizer
from concord_dissonance.usecases.dialectic.runs import Run, Stage

AT_ONCE = 4
"""The most questions that one synthesis has under way."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Degraded:
    """A model's failure, and the stage in which it failed."""

    stage: Stage
    failure: ModelFailure


@dataclass(frozen=True, slots=True)
class ModelPart:
    """A model's part in a synthesis; `name`: as in the settings."""

    name: str
    cost: Cost
    has_answered: bool
    degraded: Degraded | None


class SynthesizeByModel:
    """The use case. `budget` returns the budget of a synthesis in a space."""

    def __init__(
        self,
        model: ModelSynthesizer | None,
        budget: Callable[[str], Budget],
        remote_spaces: frozenset[str],
    ) -> None:
        """`remote_spaces`: the spaces whose texts may be sent to an endpoint."""
        self._model, self._budget, self._remote_spaces = model, budget, remote_spaces

    def prepare(self, space: str) -> "ModelSynthesis":
        """Choose the model; it is not asked yet. Raises `SynthesizerMissing`."""
        if self._model is None or not self._may_see(space):
            raise SynthesizerMissing
        return ModelSynthesis(self._model, self._budget(space))

    def _may_see(self, space: str) -> bool:
        return space in self._remote_spaces


class ModelSynthesis:
    """The model's part in one synthesis: `theses`, then `synthesis`."""

    def __init__(self, model: ModelSynthesizer, budget: Budget) -> None:
        self._model, self._budget = model, budget
        self._reserved = self._spent = Cost()
        self._has_answered = False
        self._degraded: Degraded | None = None

    @property
    def part(self) -> ModelPart:
        """The model's part so far."""
        return ModelPart(self._model.name, self._spent, self._has_answered, self._degraded)

    async def theses(
        self,
        run: Run,
        task: SynthesisTask,
        sources: Sequence[Source],
        batches: Sequence[Batch],
    ) -> list[Batch]:
        """Return the theses of each source after the model has read its text.

        `task` and `batches`: the rules' own. The cost of all steps is reserved at once: raises
        `ModelBudgetSpent` before the first call.
        """
        clashes = [each.contradiction.clash for each in task.contradictions]
        disputed = {place for each in clashes for place in (each.first, each.second)}
        stays = [settled(*each, disputed) for each in zip(sources, batches, strict=True)]
        texts = [
            SourceText(source.text, tuple(each.claim for each in kept))
            if source.text.strip()
            else None
            for source, kept in zip(sources, stays, strict=True)
        ]
        await self._reserve(self._model.cost(task, [each for each in texts if each]))
        turns = asyncio.Semaphore(AT_ONCE)

        async def read(
            source: Source, ruled: Batch, kept: Sequence[Thesis], text: SourceText | None
        ) -> Batch:
            if text is None:
                return ruled
            async with turns:
                said = await self._ask(Stage.THESES, lambda: self._model.theses(task, text))
            return extend(source, ruled, kept, said) if said is not None else ruled

        found: list[Batch] = []
        async with asyncio.TaskGroup() as group:
            each_read = zip(sources, batches, stays, texts, strict=True)
            reading = [group.create_task(read(*each)) for each in each_read]
            known = set[Said]()
            for done, each in enumerate(reading, 1):
                first = sum(len(every.theses) for every in found)
                batch = replace(once(await each, known), first=first)
                found.append(batch)
                run.say(Stage.THESES, 20 + 20 * done / len(sources), batch)
        return found

    async def synthesis(
        self,
        run: Run,
        task: SynthesisTask,
        ruled: Conclusions,
        theses: Sequence[Scoped],
        wording: Wording,
        *,
        question: str,
    ) -> Synthesis:
        """Return the synthesis of the conclusions from the theses.

        `ruled`: the rules' own conclusions. A part without words of the model is worded by rules.
        """
        task = replace(task, theses=ruled.theses)
        said = await self._contradictions(run, task)
        found = united(ruled, said, theses)
        words = await self._words(run, task, found, said, wording)
        if words is not None:
            found = resolved(found, words.resolutions, theses)
        await self._budget.correct(self._reserved, self._spent)
        return wording.synthesis(question, found, said, words)

    async def _contradictions(self, run: Run, task: SynthesisTask) -> Sequence[SaidContradiction]:
        if len(task.theses) < 2:
            return ()
        run.say(Stage.CONTRADICTIONS, 60)
        said = await self._ask(Stage.CONTRADICTIONS, lambda: self._model.contradictions(task))
        return said or ()

    async def _words(
        self,
        run: Run,
        task: SynthesisTask,
        found: Conclusions,
        said: Sequence[SaidContradiction],
        wording: Wording,
    ) -> SaidSynthesis | None:
        if not task.theses:
            return None
        run.say(Stage.SYNTHESIS, 65)
        described = wording.all_described(found.contradictions, said)
        whole = replace(task, contradictions=described)
        return await self._ask(Stage.SYNTHESIS, lambda: self._model.synthesis(whole))

    async def _reserve(self, cost: Cost) -> None:
        try:
            await self._budget.take(cost)
        except BudgetSpent as spent:
            raise ModelBudgetSpent(str(spent)) from spent
        self._reserved = cost

    async def _ask(self, stage: Stage, asking: Callable[[], Awaitable[Asked[T]]]) -> T | None:
        """Return the model's answer; None if it fails, or has failed before."""
        if self._degraded is not None:
            return None
        asked = await asking()
        self._spent += asked.cost
        if isinstance(asked.said, ModelFailure):
            self._degraded = self._degraded or Degraded(stage, asked.said)
            return None
        self._has_answered = True
        return asked.said
