"""Takes the facts that texts of a caller state, and stores nothing (D13)."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from concord_chassis.call import deadline
from concord_chassis.server.workers import Workers
from concord_concepts.normal_form import fold
from concord_models.budget import Budget, BudgetSpent

from concord_dissonance.domain.errors import JudgeUnavailable
from concord_dissonance.domain.extraction.by_model import Claim, checked
from concord_dissonance.domain.extraction.by_reading import can_read, extract
from concord_dissonance.domain.extraction.candidate import (
    Candidate,
    Extracted,
    Outcome,
    Said,
    dialogue,
)
from concord_dissonance.ports.models import FactModel

AT_ONCE = 16
"""Texts that are read before it looks at the clock again."""
QUESTIONS_AT_ONCE = 4
"""Texts that a model is asked about at a time."""


class ExtractFacts:
    """The use case. `budget` returns the budget of an extraction in a space."""

    def __init__(
        self,
        workers: Workers,
        model: FactModel | None,
        budget: Callable[[str], Budget],
        remote_spaces: frozenset[str],
    ) -> None:
        """`remote_spaces`: the spaces whose texts may be sent to an endpoint."""
        self._workers, self._model = workers, model
        self._budget, self._remote_spaces = budget, remote_spaces

    async def __call__(
        self, space: str, texts: Sequence[Said], *, rules_only: bool = False
    ) -> Extracted:
        """Return candidates in the order of the texts; those are left that time does not reach."""
        said = dialogue(texts)
        found = await self._read(said)
        if self._model is not None and not rules_only and self._may_see(space):
            await self._ask(self._model, self._budget(space), said, found)
        return found

    def _may_see(self, space: str) -> bool:
        """Whether a model may see a space's texts: only if an operator allows it."""
        return space in self._remote_spaces

    async def _read(self, said: Sequence[Said]) -> Extracted:
        left = deadline.remaining()
        seconds = None if left is None else left - deadline.RESERVE
        read: list[tuple[int, list[Candidate]]] = []
        try:
            async with asyncio.timeout(seconds):
                until = None if seconds is None else time.monotonic() + seconds
                await self._workers.run(_read_until, until, said, read)
        except TimeoutError:  # the thread reads on for one batch more: what it has read counts
            pass
        batches = [*read]
        found = Extracted(texts=sum(count for count, _ in batches))
        found.candidates = [each for _, batch in batches for each in batch]
        found.texts_left = len(said) - found.texts
        return found

    async def _ask(
        self, model: FactModel, budget: Budget, said: Sequence[Said], found: Extracted
    ) -> None:
        """Add what a model finds beside reading. After its first failure it is asked no more."""
        known = {_key(each) for each in found.candidates}
        for begin in range(0, len(said), QUESTIONS_AT_ONCE):
            batch = range(begin, min(begin + QUESTIONS_AT_ONCE, len(said)))
            asked = (self._claims(model, budget, said[at]) for at in batch)
            answers = await asyncio.gather(*asked)
            for at, claims in zip(batch, answers, strict=True):
                if isinstance(claims, Outcome):
                    continue
                kept, dropped = await self._workers.run(checked, at, said[at], claims)
                found.dropped += dropped
                found.candidates += (each for each in kept if _key(each) not in known)
            if failed := [each for each in answers if isinstance(each, Outcome)]:
                unasked = len(said) - batch.stop
                found.budget_spent = failed.count(Outcome.BUDGET_SPENT)
                found.invalid_replies = failed.count(Outcome.INVALID_REPLY)
                if found.invalid_replies:
                    found.invalid_replies += unasked
                else:
                    found.budget_spent += unasked
                break
        found.candidates.sort(key=lambda each: each.text)
        found.cost = budget.spent

    async def _claims(
        self, model: FactModel, budget: Budget, said: Said
    ) -> Sequence[Claim] | Outcome:
        left = deadline.remaining()
        try:
            async with asyncio.timeout(None if left is None else left - deadline.RESERVE):
                return await model.claims(said, budget)
        except (BudgetSpent, TimeoutError):
            return Outcome.BUDGET_SPENT
        except JudgeUnavailable:
            return Outcome.INVALID_REPLY


def _key(each: Candidate) -> tuple[int, str, str]:
    """What a fact of a model shares with the same one by reading."""
    return each.text, fold(each.subject), fold(each.object)


def _read_until(
    until: float | None, said: Sequence[Said], read: list[tuple[int, list[Candidate]]]
) -> None:
    """Append the texts read and their candidates to `read`, until this time of the clock."""
    for begin in range(0, len(said), AT_ONCE):
        if until is not None and time.monotonic() >= until:
            return
        batch = said[begin : begin + AT_ONCE]
        readable = sum(map(can_read, batch))
        read.append((readable, [replace(e, text=begin + e.text) for e in extract(batch)]))
