"""Checks a whole space, or only the statements that changed since the last check (D1)."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from concord.graph.v1 import governed_pb2, relation_pb2

from concord_dissonance.domain.declared import declares, rules_of
from concord_dissonance.domain.learned import learned
from concord_dissonance.domain.statements import Coverage, Finding, Statement
from concord_dissonance.ports.feed import Judged
from concord_dissonance.ports.graph import Graph
from concord_dissonance.usecases.examine import Examination, Examine
from concord_dissonance.usecases.record import (
    BATCH,
    Found,
    not_reviewed,
    record,
    without_excess,
)
from concord_dissonance.usecases.suggestions import Suggestions

JUDGES = "4"
"""The version of candidates and judges. After a change of it every space is judged anew."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The stage of a check, and its percentage in [0, 100], which never falls."""

    stage: str
    percent: float


@dataclass(slots=True)
class Summary:
    """The summary at the end of a check."""

    coverage: Coverage
    findings: Counter[str] = field(default_factory=Counter)
    token: str = ""


class Detect:
    """The use case. Graph stores up to which change each space was judged."""

    def __init__(self, graph: Graph, examine: Examine, suggestions: Suggestions) -> None:
        self._graph, self._examine, self._suggestions = graph, examine, suggestions

    async def __call__(
        self, space: str, request_id: str, *, full: bool, dry_run: bool, most_text: int
    ) -> AsyncIterator[Progress | Found | Summary]:
        """Yields progress and findings, and one summary at the end.

        Of more than `most_text` new findings of text none is recorded, and the next check looks at
        the same changes again.
        Raises `ServiceUnavailable` when graph does not answer; findings recorded before stay.
        """
        yield Progress("reading", 0.0)
        judged = await self._graph.judged(space)
        anew = full or judged.version != JUDGES
        changed = await self._graph.changed(space, None if anew else judged.position)
        if not changed.everything and not changed.ids:
            yield Summary(Coverage())
            return
        only = None if changed.everything else changed.ids
        exam = await self._read(space, only)
        exam.is_dry = dry_run
        yield Progress("candidates", 20.0)
        async for share in self._examine(exam):
            yield Progress("judging", 30.0 + 60.0 * share)
        summary = Summary(exam.coverage)
        findings: Sequence[Finding] = exam.findings
        excess: Sequence[Finding] = ()
        if not dry_run:
            findings, excess = await without_excess(self._graph, space, findings, most_text)
        for start in range(0, len(findings), BATCH):
            batch = findings[start : start + BATCH]
            if dry_run:
                found = await not_reviewed(self._graph, space, batch)
            else:
                found, summary.token = await record(self._graph, space, request_id, batch, start)
            for each in found:
                if each.is_shown:
                    _count(summary, each)
                    yield each
            yield Progress("recording", 90.0 + 10.0 * (start + len(batch)) / len(findings))
        for finding in excess:
            _count(summary, unrecorded := Found(finding))
            yield unrecorded
        exam.coverage.unrecorded = len(excess)
        if not dry_run and exam.only is None:
            await self._propose_learned(space, exam)
        if not dry_run and not exam.coverage.is_degraded and not excess:
            await self._graph.note_judged(space, Judged(changed.head, JUDGES, judged.etag))
        yield summary

    async def _propose_learned(self, space: str, exam: Examination) -> None:
        """Propose to declare relations that hold one value at a time in the whole space."""
        for each in learned(exam.statements, exam.rules):
            support = f"{each.single} of {each.subjects} subjects have one value of it at a time."
            declare = relation_pb2.DeclareRelationRequest(name=each.relation, functional=True)
            if each.is_of_states:
                declare.temporal_class = relation_pb2.TEMPORAL_CLASS_STATE
            action = governed_pb2.GovernedAction(declare_relation=declare)
            await self._suggestions.open(space, action, note=support)

    async def _read(self, space: str, only: frozenset[str] | None) -> Examination:
        relations = await self._graph.relations(space)
        statements: list[Statement] = []
        async for page in self._graph.edges(space):
            statements += page
        rules = rules_of(relations, statements)
        if only and declares(relations, [each for each in statements if each.id in only]):
            only = None
        async for page in self._graph.memories(space):
            statements += page
        return Examination(space, statements, rules, only)


def _count(summary: Summary, found: Found) -> None:
    verdict = found.finding.verdict
    summary.findings[verdict.conflict.name if verdict else "UNDECIDED"] += 1
    summary.coverage.recorded += found.is_new
