"""Checks a whole space, or only the statements that changed since the last check (D1)."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from concord.dissonance.v1.dissonance_pb2 import CheckProgress, DetectContradictionsRequest
from concord.graph.v1 import governed_pb2, relation_pb2

from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.domain.declared import declares, rules_of
from concord_dissonance.domain.episodic import without_episodic
from concord_dissonance.domain.errors import NoPlace, ServiceUnavailable
from concord_dissonance.domain.learned import learned
from concord_dissonance.domain.statements import Coverage, Finding, Statement
from concord_dissonance.domain.verdicts import JUDGES
from concord_dissonance.ports.feed import JUDGED, Reached
from concord_dissonance.usecases.examine import Examination, Examine
from concord_dissonance.usecases.outdated import end_outdated, outdated
from concord_dissonance.usecases.record import (
    BATCH,
    Found,
    Tally,
    in_groups,
    not_reviewed,
    record,
    without_excess,
)
from concord_dissonance.usecases.suggestions import Suggestions


@dataclass(slots=True)
class Summary:
    """The summary at the end of a check."""

    coverage: Coverage
    findings: Counter[str] = field(default_factory=Counter)
    rules: Tally = field(default_factory=Counter)
    token: str = ""


class Detect:
    """The use case. Graph stores up to which change each space was judged."""

    def __init__(
        self, graph: GraphClient, feed: FeedClient, examine: Examine, suggestions: Suggestions
    ) -> None:
        self._graph, self._feed = graph, feed
        self._examine, self._suggestions = examine, suggestions

    async def __call__(
        self, space: str, request: DetectContradictionsRequest
    ) -> AsyncIterator[CheckProgress | Found | Summary]:
        """Yields progress and findings, and one summary at the end.

        Of more new findings of text than the request allows none is recorded, and the next check
        looks at the same changes again. No percentage of the progress is below the last one.
        Raises `ServiceUnavailable` when graph does not answer; findings recorded before stay.
        """
        yield CheckProgress(stage="reading", percent=0.0)
        judged = await self._feed.reached(space, JUDGED)
        anew = request.full or judged.version != str(JUDGES)
        changed = await self._feed.changed(space, None if anew else judged.position)
        if not changed.everything and not changed.ids:
            yield Summary(Coverage())
            return
        only = None if changed.everything else changed.ids
        exam = await self._read(space, only)
        exam.is_dry = request.dry_run
        if not request.dry_run:
            exam.again = await outdated(self._graph, exam)
        yield CheckProgress(stage="candidates", percent=20.0)
        async for share in self._examine(exam):
            yield CheckProgress(stage="judging", percent=30.0 + 60.0 * share)
        summary = Summary(exam.coverage)
        findings: Sequence[Finding] = exam.findings
        excess: Sequence[Finding] = ()
        if not request.dry_run:
            findings, excess = await without_excess(
                self._graph, space, findings, request.max_text_findings
            )
            findings = await in_groups(self._graph, space, findings)
        for start in range(0, len(findings), BATCH):
            batch = findings[start : start + BATCH]
            if request.dry_run:
                found = await not_reviewed(self._graph, space, batch)
            else:
                found, summary.token = await record(
                    self._graph, space, request.request_id, batch, first=start
                )
            for each in found:
                if each.is_shown:
                    _count(summary, each)
                    yield each
            yield CheckProgress(
                stage="recording", percent=90.0 + 10.0 * (start + len(batch)) / len(findings)
            )
        for finding in excess:
            _count(summary, unrecorded := Found(finding))
            yield unrecorded
        exam.coverage.unrecorded = len(excess)
        await end_outdated(self._graph, exam)
        if not request.dry_run and exam.only is None:
            await self._propose_learned(space, exam)
        if not request.dry_run and not exam.coverage.is_degraded and not excess:
            # Also after a lost race: then the next check judges more.
            with suppress(ServiceUnavailable):
                reached = Reached(changed.head, str(JUDGES), judged.etag)
                await self._feed.note_reached(space, JUDGED, reached)
        yield summary

    async def _propose_learned(self, space: str, exam: Examination) -> None:
        """Propose to declare relations that hold one value at a time in the whole space."""
        for each in learned(exam.statements, exam.rules):
            support = f"{each.single} of {each.subjects} subjects have one value of it at a time."
            declare = relation_pb2.DeclareRelationRequest(name=each.relation, functional=True)
            if each.is_of_states:
                declare.temporal_class = relation_pb2.TEMPORAL_CLASS_STATE
            action = governed_pb2.GovernedAction(declare_relation=declare)
            with suppress(NoPlace):  # the next full check learns it again
                await self._suggestions.open(space, action, note=support)

    async def _read(self, space: str, only: frozenset[str] | None) -> Examination:
        relations = await self._graph.relations(space)
        statements: list[Statement] = []
        async for page in self._graph.edges(space):
            statements += page
        rules = rules_of(relations, statements)
        if only and declares(relations, [each for each in statements if each.id in only]):
            only = None
        left_out = await self._episodic(space, only)
        async for page in self._graph.memories(space):
            kept, left = without_episodic(page)
            statements += kept
            if only is None:
                left_out += left
        exam = Examination(space, statements, rules, only)
        exam.coverage.skipped += left_out
        return exam

    async def _episodic(self, space: str, only: frozenset[str] | None) -> Counter[str]:
        """Of the whole space, how many turns and journals there are; else how many memories of
        `only` are not compared, by reason."""
        if only is None:
            return await self._graph.journals_and_turns(space)
        return without_episodic(await self._graph.memories_of(space, sorted(only)))[1]


def _count(summary: Summary, found: Found) -> None:
    verdict = found.finding.verdict
    summary.findings[verdict.conflict.name if verdict else "UNDECIDED"] += 1
    summary.rules[found.finding.rule, found.is_recorded] += 1
    summary.coverage.recorded += found.is_new
