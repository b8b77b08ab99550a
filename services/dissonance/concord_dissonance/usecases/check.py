"""Checks the statements around a node (D1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from concord_dissonance.domain.declared import rules_of
from concord_dissonance.domain.sides import Micros
from concord_dissonance.domain.statements import Coverage, Statement
from concord_dissonance.ports.calls import Clock
from concord_dissonance.ports.graph import Graph
from concord_dissonance.usecases.examine import Examination, Examine
from concord_dissonance.usecases.record import (
    MOST_TEXT_FINDINGS,
    Found,
    not_reviewed,
    record,
    without_excess,
)

RECENT_DAYS = 30
_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class CheckQuery:
    """Which statements to check: those up to `radius` edges from a node, all or recent ones."""

    node: str
    radius: int = 1
    recent_only: bool = True
    session_id: str = ""
    dry_run: bool = False
    most_text: int = MOST_TEXT_FINDINGS
    """The most new findings of text to record; of more, none is."""


@dataclass(slots=True)
class CheckAnswer:
    """The findings, the surest first; `earlier_ids`: open conflicts not found again."""

    coverage: Coverage
    found: list[Found] = field(default_factory=list)
    earlier_ids: list[str] = field(default_factory=list)
    token: str = ""
    is_node_known: bool = True

    @property
    def is_insufficient(self) -> bool:
        """Whether there were fewer than two statements."""
        return self.coverage.statements < 2


class Check:
    """The use case."""

    def __init__(self, graph: Graph, examine: Examine, clock: Clock) -> None:
        self._graph, self._examine, self._clock = graph, examine, clock

    async def __call__(self, space: str, request_id: str, query: CheckQuery) -> CheckAnswer:
        """Checks, and records the findings unless it is a dry run.

        Raises `ServiceUnavailable` when graph does not answer.
        """
        there = await self._graph.around(space, query.node, query.radius)
        if there is None:
            return CheckAnswer(Coverage(), is_node_known=False)
        relations = await self._graph.relations(space)
        rules = rules_of(relations, there)
        exam = Examination(space, self._chosen(there, query), rules, is_dry=query.dry_run)
        async for _ in self._examine(exam):
            pass
        answer = CheckAnswer(exam.coverage)
        if query.dry_run:
            answer.found = await not_reviewed(self._graph, space, exam.findings)
        else:
            findings, excess = await without_excess(
                self._graph, space, exam.findings, query.most_text
            )
            answer.found, answer.token = await record(self._graph, space, request_id, findings)
            answer.found += map(Found, excess)
            answer.found.sort(key=lambda each: -each.finding.confidence)
            answer.coverage.unrecorded = len(excess)
        answer.coverage.recorded = sum(each.is_new for each in answer.found)
        answer.found = [each for each in answer.found if each.is_shown]
        answer.earlier_ids = await self._earlier(space, exam, answer)
        return answer

    async def _earlier(self, space: str, exam: Examination, answer: CheckAnswer) -> list[str]:
        """The ids of open conflicts of the checked statements that this check did not find."""
        if not exam.statements:
            return []
        known = {each.recorded.conflict_id for each in answer.found if each.recorded}
        there = await self._graph.open_conflicts(space, [each.id for each in exam.statements])
        return sorted({each.id for each in there} - known)

    def _chosen(self, there: Sequence[Statement], query: CheckQuery) -> list[Statement]:
        since = Micros(self._clock() - RECENT_DAYS * _DAY)
        return [each for each in there if not query.recent_only or _is_recent(each, since, query)]


def _is_recent(statement: Statement, since: Micros, query: CheckQuery) -> bool:
    of_session = bool(query.session_id) and statement.session_id == query.session_id
    return of_session or max(statement.changed, statement.read) >= since
