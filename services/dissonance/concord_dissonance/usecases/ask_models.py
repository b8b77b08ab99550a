"""Asks models about the pairs of texts that no rule is sure of, and about what rules found."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from concord.dissonance.v1.dissonance_pb2 import (
    JUDGE_STATE_DEAD,
    JUDGE_STATE_READY,
    JudgeState,
    JudgeStatus,
)
from concord_chassis.call import deadline
from concord_models.budget import Budget, BudgetSpent, Cost

from concord_dissonance.domain.errors import JudgeUnavailable
from concord_dissonance.domain.sides import Kind, Side
from concord_dissonance.domain.statements import Coverage
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    Judge,
    Older,
    Reason,
    Verdict,
)
from concord_dissonance.ports.calls import Clock
from concord_dissonance.ports.models import TextJudge

AT_ONCE = 4
"""The most questions that one check has under way."""
RESERVE = 2.0
"""Seconds before the caller's deadline that are kept for recording findings."""
_SETTLED = frozenset({Abstained.NOT_ASSERTED, Abstained.OTHER_SCOPE, Abstained.UNDECLARED})
"""Abstentions that need no model: the pair has nothing to compare."""

Said = Verdict | Abstention


@dataclass(slots=True)
class Asking:
    """The models of one check, their budget, and those that have failed in it."""

    judges: Sequence[TextJudge]
    budget: Budget
    coverage: Coverage
    is_dry: bool = False
    estimate: Cost = field(default_factory=Cost)
    """The most that a dry check would cost."""
    failed: dict[Judge, str] = field(default_factory=dict)
    """Why a judge is no longer asked: "NO_TIME", "UNAVAILABLE" or "BUDGET_SPENT"."""

    @property
    def cost(self) -> Cost:
        """The models' cost of this check; in a dry check the most that it would be."""
        return self.estimate if self.is_dry else self.budget.spent


class AskModels:
    """The use case. `budget` returns the budget of a check in a space."""

    def __init__(
        self,
        judges: Sequence[TextJudge],
        budget: Callable[[str], Budget],
        remote_spaces: frozenset[str],
        clock: Clock,
    ) -> None:
        """`remote_spaces`: the spaces whose memories may be sent to an endpoint."""
        self._judges, self._budget, self._remote_spaces = judges, budget, remote_spaces
        self._clock = clock
        self.states = {each.kind: JudgeStatus(state=JUDGE_STATE_READY) for each in judges}
        self.outcomes: Counter[tuple[str, ...]] = Counter()
        """Pairs since the start by (judge, conflict class); ("", "ABSTAINED") if none was sure."""

    def answering(self) -> dict[str, bool]:
        """Whether each model answered its last question, by its judge's name, such as "LLM"."""
        return {kind.name: not each.reason for kind, each in self.states.items()}

    def begin(self, space: str, coverage: Coverage, *, is_dry: bool = False) -> Asking:
        """Begin a check with the models that may see the space's memories."""
        allowed = [judge for judge in self._judges if self._may_see(judge, space)]
        return Asking(allowed, self._budget(space), coverage, is_dry)

    def _may_see(self, judge: TextJudge, space: str) -> bool:
        """Whether a model may see a space's memories; an endpoint only if an operator allows it."""
        return judge.kind is not Judge.LLM or space in self._remote_spaces

    async def __call__(
        self, asking: Asking, pairs: Sequence[tuple[Side, Side]], said: Sequence[Said]
    ) -> list[Said]:
        """The pairs' verdicts or abstentions after the models were asked, in order.

        A model that does not answer is not asked again in this check. The pairs that it was not
        asked about are counted, and the check is degraded.
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
        """Count the pairs by their outcome."""
        for each in said:
            if isinstance(each, Verdict):
                self.outcomes[each.judge.name, each.conflict.name] += 1
            else:
                self.outcomes["", "ABSTAINED"] += 1

    async def _asked(self, asking: Asking, first: Side, second: Side, said: Said) -> Said:
        are_texts = all(e.kind is not Kind.EDGE and e.prose.strip() for e in (first, second))
        by_rule = said if isinstance(said, Verdict) else None
        is_finding = by_rule and by_rule.judge is Judge.LEXICAL and by_rule.is_finding
        is_settled = isinstance(said, Abstention) and said.reason in _SETTLED
        if not are_texts or is_settled or (by_rule and not is_finding):
            return said
        for judge in asking.judges:
            if asking.is_dry:
                costs = map(asking.budget.cost, judge.questions(first, second))
                asking.estimate += sum(costs, Cost())
                continue
            answer = await self._answer(asking, judge, first, second)
            if isinstance(answer, Verdict):
                return _with_opinion(by_rule, answer) if by_rule else answer
            said = by_rule or answer or said
        return said

    async def _answer(
        self, asking: Asking, judge: TextJudge, first: Side, second: Side
    ) -> Said | None:
        left = deadline.remaining()
        if left is not None and left < RESERVE:
            asking.failed[judge.kind] = "NO_TIME"
        if judge.kind not in asking.failed:
            try:
                async with asyncio.timeout(None if left is None else left - RESERVE):
                    said = await judge.judge(first, second, asking.budget)
                self._note(judge, JUDGE_STATE_READY)
                return said
            except TimeoutError:
                asking.failed[judge.kind] = "NO_TIME"
            except JudgeUnavailable as error:
                self._note(judge, JUDGE_STATE_DEAD, str(error))
                asking.failed[judge.kind] = "UNAVAILABLE"
            except BudgetSpent:
                asking.failed[judge.kind] = "BUDGET_SPENT"
        _degrade(asking.coverage, f"{judge.kind.name}_{asking.failed[judge.kind]}")
        return None

    def _note(self, judge: TextJudge, state: JudgeState.ValueType, reason: str = "") -> None:
        """Note that a model was asked, and the reason why it is dead: it did not answer."""
        self.states[judge.kind] = JudgeStatus(state=state, reason=reason)
        self.states[judge.kind].ask_time.FromMicroseconds(self._clock())


def _with_opinion(by_rule: Verdict, opinion: Verdict) -> Verdict:
    """Return the rules' finding, UNDECIDED if a model says otherwise.

    An inference model knows nothing of times: it says otherwise only if it finds no conflict.
    """
    same = (opinion.conflict, opinion.older) == (by_rule.conflict, by_rule.older)
    if same or (opinion.judge is Judge.NLI and opinion.is_finding):
        return by_rule
    return replace(
        by_rule,
        conflict=ConflictClass.UNDECIDED,
        reason=Reason.OPINIONS,
        older=Older.NEITHER,
        type=None,
        severity=None,
    )


def _degrade(coverage: Coverage, why: str) -> None:
    """Count a pair about which a model could not be asked; the check is degraded."""
    coverage.is_degraded = True
    coverage.skipped[why] += 1
