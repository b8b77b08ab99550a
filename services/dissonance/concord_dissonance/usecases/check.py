"""Checks the statements around a node (D1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from unicodedata import normalize

from concord.dissonance.v1.dissonance_pb2 import CHECK_SCOPE_FULL, CheckDissonanceRequest

from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.domain.declared import read_by, rules_of
from concord_dissonance.domain.episodic import without_episodic
from concord_dissonance.domain.statements import Coverage, Statement
from concord_dissonance.ports.calls import Clock
from concord_dissonance.usecases.examine import Examination, Examine
from concord_dissonance.usecases.outdated import end_outdated, outdated
from concord_dissonance.usecases.record import (
    Found,
    in_groups,
    not_reviewed,
    record,
    without_excess,
)

RECENT_DAYS = 30
_DAY = 86_400_000_000


@dataclass(slots=True)
class CheckAnswer:
    """The findings, the surest first; `earlier_ids`: open conflicts not found again.

    `token`: the freshness token of the recording.
    """

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

    def __init__(self, graph: GraphClient, examine: Examine, clock: Clock) -> None:
        self._graph, self._examine, self._clock = graph, examine, clock

    async def __call__(self, space: str, request: CheckDissonanceRequest) -> CheckAnswer:
        """Checks, and records the findings unless it is a dry run.

        Raises `ServiceUnavailable` when graph does not answer.
        """
        node = normalize("NFC", request.context_node)
        there = await self._graph.around(space, node, request.radius or 1)
        if there is None:
            return CheckAnswer(Coverage(), is_node_known=False)
        relations = await self._graph.relations(space)
        around = await self._graph.edges_with(space, read_by(relations))
        rules = rules_of(relations, [*there, *around])
        chosen, left_out = without_episodic(self._chosen(there, request))
        exam = Examination(space, chosen, rules, is_dry=request.dry_run)
        exam.coverage.skipped += left_out
        if not request.dry_run:
            exam.again = await outdated(self._graph, exam)
        async for _ in self._examine(exam):
            pass
        await end_outdated(self._graph, exam)
        answer = CheckAnswer(exam.coverage)
        if request.dry_run:
            answer.found = await not_reviewed(self._graph, space, exam.findings)
        else:
            findings, excess = await without_excess(
                self._graph, space, exam.findings, request.max_text_findings
            )
            findings = await in_groups(self._graph, space, findings)
            answer.found, answer.token = await record(
                self._graph, space, request.request_id, findings
            )
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

    def _chosen(
        self, there: Sequence[Statement], request: CheckDissonanceRequest
    ) -> Sequence[Statement]:
        """Those to check: all, or the recent ones and those of the request's session."""
        if request.scope == CHECK_SCOPE_FULL:
            return there
        since = self._clock() - RECENT_DAYS * _DAY
        return [
            each
            for each in there
            if max(each.changed, each.read) >= since
            or (each.session_id and each.session_id == request.session_id)
        ]
