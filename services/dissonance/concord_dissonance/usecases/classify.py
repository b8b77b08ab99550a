"""Judges pairs that a caller gives, and records nothing."""

from collections.abc import Sequence

from concord_chassis.workers import Workers

from concord_dissonance.domain.judging import judge
from concord_dissonance.domain.sides import Rules, Side
from concord_dissonance.domain.verdicts import Abstention, Verdict
from concord_dissonance.ports import Graph


class ClassifyPairs:
    """The use case. Graph is asked for the relations of the space, if a statement is a fact."""

    def __init__(self, graph: Graph, workers: Workers) -> None:
        self._graph, self._workers = graph, workers

    async def __call__(
        self, space: str, pairs: Sequence[tuple[Side, Side]]
    ) -> list[Verdict | Abstention]:
        """Verdicts, in the order of the pairs. Raises `ServiceUnavailable`."""
        has_facts = any(side.fact for pair in pairs for side in pair)
        rules = Rules(await self._graph.relations(space) if has_facts else {})
        return await self._workers.run(_judged, pairs, rules)


def _judged(pairs: Sequence[tuple[Side, Side]], rules: Rules) -> list[Verdict | Abstention]:
    return [judge(first, second, rules) for first, second in pairs]
