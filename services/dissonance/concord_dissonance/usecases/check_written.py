"""Checks a session's writes, or a reflection, against the space's other statements (D7)."""

from collections.abc import Sequence
from contextlib import suppress
from uuid import uuid4

from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.clients.search import SearchClient
from concord_dissonance.domain.declared import read_by, rules_of
from concord_dissonance.domain.episodic import without_episodic
from concord_dissonance.domain.errors import ServiceUnavailable
from concord_dissonance.domain.nearness import NEAR
from concord_dissonance.domain.sides import Kind
from concord_dissonance.domain.statements import Coverage, Statement
from concord_dissonance.usecases.check import CheckAnswer
from concord_dissonance.usecases.examine import Examination, Examine
from concord_dissonance.usecases.outdated import end_outdated, outdated
from concord_dissonance.usecases.record import in_groups, record

KINDS = frozenset({Kind.FACT, Kind.PLAN, Kind.REFLECTION})
"""The kinds of memories that are checked, and those that they are compared with."""
UNASKED = "TEXTS_NOT_ASKED_FOR"
"""Why texts are not compared: the space does not ask for findings of text by themselves."""


class CheckWritten:
    """The use case. Its cost grows with the number of new statements, not with the space."""

    def __init__(self, graph: GraphClient, search: SearchClient, examine: Examine) -> None:
        self._graph, self._search, self._examine = graph, search, examine

    async def __call__(
        self,
        space: str,
        memory_ids: Sequence[str],
        edge_ids: Sequence[str] = (),
        *,
        fresh: str = "",
        session_id: str = "",
    ) -> CheckAnswer:
        """Checks the facts that memories state, and edges; texts if the space asks for that.

        `fresh`: the token of a change that the index must have. `session_id`: the session that
        ended. Raises `ServiceUnavailable` when graph does not answer; without search the check is
        degraded.
        """
        read = await self._graph.memories_of(space, memory_ids)
        memories = [each for each in read if each.side.kind in KINDS]
        left_out = without_episodic(read)[1]
        edges = await self._graph.edges_of(space, edge_ids)
        if not memories and not edges:
            return CheckAnswer(Coverage(skipped=left_out))
        with_texts = await self._graph.records_text(space)
        exam = await self._against(space, memories, edges, fresh, with_texts=with_texts)
        exam.again = await outdated(self._graph, exam) if with_texts else {}
        async for _ in self._examine(exam):
            pass
        await end_outdated(self._graph, exam)
        exam.coverage.skipped += left_out
        if not with_texts:
            exam.coverage.skipped[UNASKED] += len(without_episodic(memories)[0])
        # Recording is idempotent by pair and versions: a repeated check records nothing new.
        findings = await in_groups(self._graph, space, exam.findings)
        found, token = await record(
            self._graph, space, uuid4().hex, findings, session_id=session_id
        )
        exam.coverage.recorded = sum(each.is_new for each in found)
        shown = [each for each in found if each.is_shown]
        return CheckAnswer(exam.coverage, shown, token=token)

    async def _against(
        self,
        space: str,
        memories: Sequence[Statement],
        edges: Sequence[Statement],
        fresh: str,
        *,
        with_texts: bool,
    ) -> Examination:
        relations = await self._graph.relations(space)
        around = await self._graph.edges_with(space, read_by(relations))
        names = rules_of(relations, around)
        facts = [fact for each in memories for fact in each.facts]
        facts += [each.side.fact for each in edges if each.side.fact is not None]
        subjects = {(name, f.relation) for f in facts for name in names.names_of(f.subject)}
        values = await self._graph.values_of(space, subjects)
        own = without_episodic(memories)[0] if with_texts else []
        texts = [*own, *await self._near(space, own, fresh)] if own else []
        ids = {each.id for each in memories}
        written = ids | {each.id for each in edges}
        written |= {each.id for each in values if not ids.isdisjoint(each.stated_by)}
        return Examination(
            space,
            [*texts, *edges, *values],
            rules_of(relations, [*around, *values]),
            frozenset(written),
        )

    async def _near(
        self, space: str, memories: Sequence[Statement], fresh: str
    ) -> Sequence[Statement]:
        """What is near to memories, and what stands in open findings with them."""
        ids = [each.id for each in memories]
        with_findings = await self._graph.open_conflicts(space, ids)
        others = {side.id for each in with_findings for side in (each.first, each.second)}
        with suppress(ServiceUnavailable):  # the examination asks again, and counts the memories
            similar = await self._search.similar(space, ids, NEAR, fresh)
            others |= {other for near in similar.values() for other, _ in near}
        found = await self._graph.memories_of(space, sorted(others.difference(ids)))
        return [each for each in without_episodic(found)[0] if each.side.kind in KINDS]
