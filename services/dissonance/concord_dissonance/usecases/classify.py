"""Judges pairs of a caller, and records nothing."""

import asyncio
import time
from collections.abc import Sequence

from concord_chassis.call import deadline
from concord_chassis.server.workers import Workers

from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.domain.declared import read_by, rules_of
from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.sides import Rules, Side
from concord_dissonance.domain.statements import Coverage
from concord_dissonance.domain.verdicts import Abstained, Abstention, Verdict
from concord_dissonance.usecases.ask_models import AskModels


class ClassifyPairs:
    """The use case. If a statement is a fact, graph is asked for the space's relations."""

    def __init__(self, graph: GraphClient, workers: Workers, models: AskModels) -> None:
        self._graph, self._workers, self._models = graph, workers, models

    async def __call__(
        self, space: str, pairs: Sequence[tuple[Side, Side]], *, rules_only: bool = False
    ) -> tuple[Sequence[Verdict | Abstention], Coverage]:
        """Verdicts or abstentions, in the order of the pairs; `rules_only`: no model is asked.

        From the pair on at which the caller's time is over, all are OUT_OF_TIME.

        Raises `ServiceUnavailable`.
        """
        rules = Rules()
        if any(side.fact for pair in pairs for side in pair):
            relations = await self._graph.relations(space)
            rules = rules_of(relations, await self._graph.edges_with(space, read_by(relations)))
        said = await self._judged(pairs, rules)
        coverage = Coverage(candidates=len(pairs), is_degraded=OUT_OF_TIME in said[-1:])
        if rules_only:
            self._models.count(said)
            return said, coverage
        return await self._models(self._models.begin(space, coverage), pairs, said), coverage

    async def _judged(
        self, pairs: Sequence[tuple[Side, Side]], rules: Rules
    ) -> list[Verdict | Abstention]:
        left = deadline.remaining()
        seconds = None if left is None else left - deadline.RESERVE
        said: list[Verdict | Abstention] = []
        try:
            async with asyncio.timeout(seconds):
                until = None if seconds is None else time.monotonic() + seconds
                await self._workers.run(_judge_until, until, pairs, rules, said)
        except TimeoutError:  # the thread waits, or reads a long text: what it has said counts
            pass
        in_time = list(said)
        return [*in_time, *[OUT_OF_TIME] * (len(pairs) - len(in_time))]


OUT_OF_TIME = Abstention(Abstained.OUT_OF_TIME)


def _judge_until(
    until: float | None,
    pairs: Sequence[tuple[Side, Side]],
    rules: Rules,
    said: list[Verdict | Abstention],
) -> None:
    """Append the rules' verdicts to `said`, until this time of the monotonic clock."""
    for one, other in pairs:
        if until is not None and time.monotonic() >= until:
            return
        said.append(judge(one, other, rules))
