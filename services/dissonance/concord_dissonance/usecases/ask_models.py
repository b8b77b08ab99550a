"""Asks models about the pairs of texts that no exact judge is sure of."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from concord_chassis import deadline
from concord_models.budget import Budget, BudgetSpent, Cost

from concord_dissonance.domain.errors import JudgeUnavailable
from concord_dissonance.domain.sides import Kind, Micros, Side
from concord_dissonance.domain.statements import Coverage
from concord_dissonance.domain.verdicts import Abstained, Abstention, Judge, Verdict
from concord_dissonance.ports.calls import Clock
from concord_dissonance.ports.models import TextJudge

AT_ONCE = 4
"""Questions under way for one check."""
RESERVE = 2.0
"""Seconds of the caller's time that are kept for recording what was found."""
_SETTLED = frozenset({Abstained.NOT_ASSERTED, Abstained.OTHER_SCOPE, Abstained.UNDECLARED})
"""Abstentions that say enough: there is nothing to compare, whoever is asked."""

Said = Verdict | Abstention


@dataclass(frozen=True, slots=True)
class JudgeState:
    """When a model was asked last (µs, None for never), and whether it then gave no answer."""

    asked: Micros | None = None
    is_dead: bool = False


@dataclass(slots=True)
class Asking:
    """The models of one check, their budget, and those of them that have failed it."""

    judges: Sequence[TextJudge]
    budget: Budget
    coverage: Coverage
    is_dry: bool = False
    estimate: Cost = field(default_factory=Cost)
    """What a dry check would cost at most."""
    failed: dict[Judge, str] = field(default_factory=dict)
    """Why a judge is not asked any more, as a name in `Coverage.skipped`."""

    @property
    def cost(self) -> Cost:
        """What the models cost this check, or would cost it at most."""
        return self.estimate if self.is_dry else self.budget.spent


class AskModels:
    """The use case. `budget` makes the budget of a check in a space."""

    def __init__(
        self,
        judges: Sequence[TextJudge],
        budget: Callable[[str], Budget],
        remote_spaces: frozenset[str],
        clock: Clock,
    ) -> None:
        """`remote_spaces`: those whose memories may go to an endpoint."""
        self._judges, self._budget, self._remote_spaces = judges, budget, remote_spaces
        self._clock = clock
        self.states: dict[Judge, JudgeState] = {each.kind: JudgeState() for each in judges}
        self.outcomes: Counter[tuple[str, ...]] = Counter()
        """How many pairs ended how since the start, by the judge and the class that it found, or
        "ABSTAINED"; nobody's name stands before an abstention."""

    def answering(self) -> dict[str, bool]:
        """Whether each model answered when it was asked last, by its judge's name, e.g. "LLM"."""
        return {kind.name: not state.is_dead for kind, state in self.states.items()}

    def begin(self, space: str, coverage: Coverage, *, is_dry: bool = False) -> Asking:
        """Begin a check: which models may see what the space holds."""
        allowed = [judge for judge in self._judges if self._may_see(judge, space)]
        return Asking(allowed, self._budget(space), coverage, is_dry)

    def _may_see(self, judge: TextJudge, space: str) -> bool:
        """Whether a space's memories may be put to a model; to an endpoint if an operator said."""
        return judge.kind is not Judge.LLM or space in self._remote_spaces

    async def __call__(
        self, asking: Asking, pairs: Sequence[tuple[Side, Side]], said: Sequence[Said]
    ) -> list[Said]:
        """What is said of the pairs after the models were asked, in order.

        A model that does not answer is not asked again in this check; the pairs that it was not
        asked about are counted, and make the check degraded.
        """
        turns = asyncio.Semaphore(AT_ONCE)

        async def asked(pair: tuple[Side, Side], before: Said) -> Said:
            async with turns:
                return await self._asked(asking, *pair, before)

        asked_all = (asked(pair, before) for pair, before in zip(pairs, said, strict=True))
        after = await asyncio.gather(*asked_all)
        if not asking.is_dry:
            self.count(after)
        cost, covered = asking.cost, asking.coverage
        covered.model_calls, covered.model_tokens = cost.calls, cost.tokens
        covered.model_micros = cost.micros
        return after

    def count(self, said: Sequence[Said]) -> None:
        """Count how pairs ended."""
        for each in said:
            if isinstance(each, Verdict) and each.is_sure:
                self.outcomes[each.judge.name, each.conflict.name] += 1
            else:
                self.outcomes["", "ABSTAINED"] += 1

    async def _asked(self, asking: Asking, first: Side, second: Side, said: Said) -> Said:
        if _is_decided(said) or said.reason in _SETTLED or not _are_texts(first, second):
            return said
        for judge in asking.judges:
            if asking.is_dry:
                asking.estimate += _cost(asking, judge, first, second)
                continue
            said = await self._answer(asking, judge, first, second) or said
            if _is_decided(said):
                break
        return said

    async def _answer(
        self, asking: Asking, judge: TextJudge, first: Side, second: Side
    ) -> Said | None:
        left = deadline.remaining()
        if left is not None and left < RESERVE:
            asking.failed[judge.kind] = "NO_TIME"
        if judge.kind not in asking.failed:
            try:
                said = await judge.judge(first, second, asking.budget)
                self.states[judge.kind] = JudgeState(self._clock())
                return said
            except JudgeUnavailable:
                self.states[judge.kind] = JudgeState(self._clock(), is_dead=True)
                asking.failed[judge.kind] = "UNAVAILABLE"
            except BudgetSpent:
                asking.failed[judge.kind] = "BUDGET_SPENT"
        _degrade(asking.coverage, f"{judge.kind.name}_{asking.failed[judge.kind]}")
        return None


def _degrade(coverage: Coverage, why: str) -> None:
    """Count a pair that a model should have been asked about: an outage is no answer."""
    coverage.is_degraded = True
    coverage.skipped[why] += 1


def _is_decided(said: Said) -> bool:
    return isinstance(said, Verdict) and said.is_sure


def _are_texts(first: Side, second: Side) -> bool:
    return Kind.EDGE not in (first.kind, second.kind)


def _cost(asking: Asking, judge: TextJudge, first: Side, second: Side) -> Cost:
    return sum(map(asking.budget.cost, judge.questions(first, second)), Cost())
