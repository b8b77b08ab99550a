"""Judges pairs of a caller, and records nothing."""

from collections.abc import Sequence

from concord_chassis.workers import Workers

from concord_dissonance.domain.declared import read_by, rules_of
from concord_dissonance.domain.sides import Rules, Side
from concord_dissonance.domain.statements import Coverage
from concord_dissonance.domain.verdicts import Abstention, Verdict
from concord_dissonance.ports.graph import Graph
from concord_dissonance.usecases.ask_models import AskModels
from concord_dissonance.usecases.examine import judged


class ClassifyPairs:
    """The use case. If a statement is a fact, graph is asked for the space's relations."""

    def __init__(self, graph: Graph, workers: Workers, models: AskModels) -> None:
        self._graph, self._workers, self._models = graph, workers, models

    async def __call__(
        self, space: str, pairs: Sequence[tuple[Side, Side]], *, rules_only: bool = False
    ) -> tuple[Sequence[Verdict | Abstention], Coverage]:
        """Verdicts or abstentions, in the order of the pairs; `rules_only`: no model is asked.

        Raises `ServiceUnavailable`.
        """
        has_facts = any(side.fact for pair in pairs for side in pair)
        rules = await self._rules(space) if has_facts else Rules()
        said = await self._workers.run(judged, pairs, rules)
        coverage = Coverage(candidates=len(pairs))
        if rules_only:
            self._models.count(said)
            return said, coverage
        return await self._models(self._models.begin(space, coverage), pairs, said), coverage

    async def _rules(self, space: str) -> Rules:
        relations = await self._graph.relations(space)
        return rules_of(relations, await self._graph.edges_with(space, read_by(relations)))
