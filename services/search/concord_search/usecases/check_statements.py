"""Compares the best results with constitutive statements, within a time budget (spec S6)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

from concord_chassis.call import deadline

from concord_search.ports.graph import Hydrated, Statement
from concord_search.ports.judges import CheckStatus, Compared, Judges, Verdicts
from concord_search.usecases.progress import ANSWER_RESERVE

CHECKED_RESULTS = 10
CHECKED_STATEMENTS = 25
"""So many statements that their pairs with all results fit into one call."""

CHECKED_CHARACTERS = 20_000
"""Of the results together: what the rules read in half of the time. Longer ones are left out first,
so that one long text does not leave all others unjudged."""

BUDGET = 0.15
"""In seconds; the best results' pairs come first, those not judged by then count as unjudged."""

BUDGET_WITH_MODELS = 20.0
"""In seconds, within the caller's deadline, when models are asked: an answer takes them seconds."""


@dataclass(frozen=True, slots=True)
class Check:
    """How a check ended, and how many pairs of a result and a statement it judged."""

    status: CheckStatus
    pairs: int = 0
    judged: int = 0


@dataclass(frozen=True, slots=True)
class Clash:
    """A statement that contradicts a result, the contract's conflict class, and the confidence.

    `is_text_finding`: a judge saw it in the words alone. `unsure`: a check would not record it.
    """

    statement: Statement
    conflict_class: int
    confidence: float
    is_text_finding: bool
    unsure: bool

    @property
    def is_flagged(self) -> bool:
        """Whether it counts: what was merely found in texts is shown, and moves nothing."""
        return not self.is_text_finding and not self.unsure


class CheckStatements:
    """The use case. `judges` is None if search has no dissonance service to ask."""

    def __init__(self, judges: Judges | None) -> None:
        self._judges = judges

    async def __call__(
        self,
        space: str,
        results: Sequence[Hydrated],
        statements: Sequence[Statement],
        use_models: bool,
    ) -> tuple[list[list[Clash]], Check]:
        """The clashes of each result, and how far the check came."""
        clashes: list[list[Clash]] = [[] for _ in results]
        wanted = [
            (at, _compared(result, each))
            for at, result in enumerate(results[:CHECKED_RESULTS])
            for each in statements[:CHECKED_STATEMENTS]
            if result.state.id not in (each.edge_id, *each.memory_ids)
        ]
        if not wanted:
            return clashes, Check(CheckStatus.NOTHING_TO_CHECK)
        readable = _readable(results, {at for at, _ in wanted})
        pairs = [(at, pair) for at, pair in wanted if at in readable]
        said = Verdicts(CheckStatus.UNAVAILABLE)
        if self._judges is not None:
            compared, seconds = [pair for _, pair in pairs], _budget(use_models)
            said = await self._judges.verdicts(space, compared, seconds, use_models=use_models)
        for (at, pair), verdict in zip(pairs, said.verdicts, strict=False):
            if verdict.conflict_class:
                clashes[at].append(
                    Clash(
                        pair.statement,
                        verdict.conflict_class,
                        verdict.confidence,
                        verdict.is_of_text,
                        verdict.unsure,
                    )
                )
        judged = sum(each.judged for each in said.verdicts)
        return clashes, Check(said.status, len(wanted), judged)


def _budget(use_models: bool) -> float:
    if not use_models:
        return BUDGET
    left = deadline.remaining()
    return BUDGET_WITH_MODELS if left is None else min(BUDGET_WITH_MODELS, left - ANSWER_RESERVE)


def _readable(results: Sequence[Hydrated], places: Collection[int]) -> set[int]:
    """Of these places those of the shortest results that are short enough together."""
    shortest_first = sorted(places, key=lambda at: (len(results[at].state.content), at))
    ends = accumulate(len(results[at].state.content) for at in shortest_first)
    return {at for at, end in zip(shortest_first, ends, strict=True) if end <= CHECKED_CHARACTERS}


def _compared(result: Hydrated, statement: Statement) -> Compared:
    speakers = {origin.speaker for origin in result.state.origins}
    speaker = speakers.pop() if len(speakers) == 1 else ""
    facts = result.state.facts
    fact = facts[0] if len(facts) == 1 else None
    return Compared(result.state.content, fact, speaker, statement)
