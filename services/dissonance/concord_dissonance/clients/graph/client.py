"""Graph, asked under dissonance's own name. No read here counts as a use of an item."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import UTC, datetime
from uuid import uuid4

import grpc
from concord.graph.v1 import (
    conflict_pb2,
    conflict_pb2_grpc,
    feed_pb2,
    feed_pb2_grpc,
    graph_pb2,
    graph_pb2_grpc,
    lineage_pb2,
    lineage_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    relation_pb2,
    relation_pb2_grpc,
    space_pb2,
    space_pb2_grpc,
)
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import TokenIssuer
from concord_chassis.channel.records import Body, SmallRecords
from concord_models.budget import Cost

from concord_dissonance.clients.graph import messages
from concord_dissonance.clients.service_calls import OwnCalls, own
from concord_dissonance.domain import episodic, model_spend
from concord_dissonance.domain.errors import PairStale
from concord_dissonance.domain.sides import Kind, RelationRule
from concord_dissonance.domain.statements import Finding, Statement, Versions
from concord_dissonance.domain.verdicts import JUDGES
from concord_dissonance.ports.calls import Clock

GRAPH = "graph"
PAGE = 200
REFS_A_CALL = 64
"""Memories in one request: at 20,000 characters each their reply stays below the limit."""
IDS_A_CALL = 500
CHECKED_KINDS = (type_pb2.MEMORY_KIND_FACT, type_pb2.MEMORY_KIND_PLAN)
"""The kinds of memories that a check of a space reads (D3)."""
CHECKED = (Kind.FACT, Kind.PLAN)
_SCOPES = frozenset({"graph:read", "memory:read", "conflict:write", "record:all"})
_OPEN = (conflict_pb2.CONFLICT_STATE_POTENTIAL, conflict_pb2.CONFLICT_STATE_CONFIRMED)


class GraphClient:
    """Graph; `channel`: calls with dissonance's token for the feed unless they have another."""

    def __init__(self, channel: grpc.aio.Channel, issuer: TokenIssuer) -> None:
        self._call = OwnCalls(GRAPH, issuer, _SCOPES)
        self._feed = feed_pb2_grpc.ChangeFeedServiceStub(channel)
        self._graph = graph_pb2_grpc.GraphServiceStub(channel)
        self._memories = memory_pb2_grpc.MemoryServiceStub(channel)
        self._lineage = lineage_pb2_grpc.LineageServiceStub(channel)
        self._spaces = space_pb2_grpc.SpaceServiceStub(channel)
        self._relations = relation_pb2_grpc.RelationServiceStub(channel)
        self._records = SmallRecords(channel, self._call.metadata)
        self._conflicts = conflict_pb2_grpc.ConflictServiceStub(channel)

    async def relations(self, space: str) -> Mapping[str, RelationRule]:
        """The declared rules of relations, by name."""
        rules: dict[str, RelationRule] = {}
        request = relation_pb2.ListRelationsRequest(page_size=PAGE)
        async for found in self._call.pages(space, self._relations.ListRelations, request):
            rules |= {each.name: messages.of_relation(each) for each in found.relations}
        return rules

    def daily_cost(self, space: str, clock: Clock) -> "DailyCostOfSpace":
        """The cost of models for a space today, in graph's records."""
        return DailyCostOfSpace(self._records, space, clock)

    async def edges(
        self, space: str, filter_: graph_pb2.EdgeFilter | None = None
    ) -> AsyncIterator[Sequence[Statement]]:
        """Every live edge that states something, in pages: no lineage and no resolutions."""
        request = graph_pb2.ListEdgesRequest(filter=filter_, page_size=PAGE)
        async for found in self._call.pages(space, self._graph.ListEdges, request):
            yield [messages.of_edge(e) for e in found.edges if messages.states_something(e)]

    async def memories(
        self, space: str, kinds: Sequence[type_pb2.MemoryKind.ValueType] = CHECKED_KINDS
    ) -> AsyncIterator[Sequence[Statement]]:
        """The memories of these kinds that hold now and are not superseded, in pages."""
        wanted = memory_pb2.MemoryFilter(kinds=kinds)
        request = memory_pb2.ListMemoriesRequest(filter=wanted, page_size=PAGE)
        async for found in self._call.pages(space, self._memories.ListMemories, request):
            yield [messages.of_memory(each) for each in found.memories]

    async def journals_and_turns(self, space: str) -> Counter[str]:
        """How many journals there are, and how many turns."""
        found: Counter[str] = Counter()
        async for page in self.memories(space, [type_pb2.MEMORY_KIND_JOURNAL]):
            found[Kind.JOURNAL.name] += len(page)
        counts = await self._call(space, self._spaces.CountByType, space_pb2.CountByTypeRequest())
        found[Kind.TURN.name] += counts.raw_dialogues
        return +found

    async def around(self, space: str, node: str, radius: int) -> Sequence[Statement] | None:
        """The edges within `radius` hops of a node, by name or id, and the memories that state
        them or are their ends: facts, plans and what is episodic. None: the node is unknown."""
        edges = await self._edges_around(space, node, radius)
        if edges is None:
            return None
        ids = {memory_id for edge in edges for memory_id in edge.sources}
        ends = (end for edge in edges for end in (edge.source, edge.target))
        ids |= {end.id for end in ends if end.kind == type_pb2.ITEM_KIND_MEMORY}
        stating = [messages.of_edge(e) for e in edges if messages.states_something(e)]
        memories = await self.memories_of(space, sorted(ids))
        kinds = {*CHECKED, *episodic.KINDS}
        return [*stating, *(each for each in memories if each.side.kind in kinds)]

    async def _edges_around(
        self, space: str, node: str, radius: int, relation: str = ""
    ) -> list[type_pb2.Edge] | None:
        """The edges within `radius` hops of an item, by name or id; None: it is unknown.

        With a relation only outgoing edges of it.
        """
        for start in (type_pb2.EdgeEnd(name=node), type_pb2.EdgeEnd(id=node)):
            edges = await self._edges_from(space, start, radius, relation)
            if edges is not None:
                return edges
        return None

    async def _edges_from(
        self, space: str, start: type_pb2.EdgeEnd, radius: int, relation: str
    ) -> list[type_pb2.Edge] | None:
        request = graph_pb2.QueryNeighborsRequest(
            start=start,
            filter=graph_pb2.EdgeFilter(relations=[relation] if relation else ()),
            depth=radius,
            direction=type_pb2.DIRECTION_OUTGOING if relation else type_pb2.DIRECTION_BOTH,
            include_superseded=True,
            page_size=PAGE,
            peek=True,
        )
        edges: list[type_pb2.Edge] = []
        async for found in self._call.pages(space, self._graph.QueryNeighbors, request):
            if found.status != type_pb2.LOOKUP_STATUS_FOUND:
                return None
            edges += [each.edge for each in found.neighbors]
        return edges

    async def memories_of(self, space: str, ids: Sequence[str]) -> Sequence[Statement]:
        """The memories of these ids, of any kind, that hold now and are not superseded."""
        found: list[Statement] = []
        for start in range(0, len(ids), REFS_A_CALL):
            refs = [feed_pb2.RevisionRef(id=each) for each in ids[start : start + REFS_A_CALL]]
            request = feed_pb2.BatchGetRevisionsRequest(space=space, refs=refs)
            reply = await own(GRAPH, self._feed.BatchGetRevisions(request))
            memories = (each.memory for each in reply.revisions if each.HasField("memory"))
            found += [
                messages.of_memory(each)
                for each in memories
                if not messages.is_gone(each) and not each.supersession.is_superseded
            ]
        return found

    async def edges_of(self, space: str, ids: Sequence[str]) -> Sequence[Statement]:
        """The live edges of these ids that state something."""
        found: list[Statement] = []
        for edge_id in ids:
            request = graph_pb2.GetEdgeRequest(id=edge_id, peek=True)
            reply = await self._call(space, self._graph.GetEdge, request)
            if reply.status == type_pb2.LOOKUP_STATUS_FOUND and messages.states_something(
                reply.edge
            ):
                found.append(messages.of_edge(reply.edge))
        return found

    async def edges_with(self, space: str, relations: Sequence[str]) -> Sequence[Statement]:
        """Every live edge of these relations."""
        filter_ = graph_pb2.EdgeFilter(relations=relations)
        return [each async for page in self.edges(space, filter_) for each in page]

    async def values_of(
        self, space: str, subjects: Collection[tuple[str, str]]
    ) -> Sequence[Statement]:
        """Every live edge of these sources, by name or id, and relations, also superseded ones."""
        found: dict[str, Statement] = {}
        for source, relation in sorted(subjects):
            edges = await self._edges_around(space, source, 1, relation)
            stating = filter(messages.states_something, edges or ())
            found |= {each.id: messages.of_edge(each) for each in stating}
        return list(found.values())

    async def related(self, space: str, memory_id: str) -> frozenset[str]:
        """The items that lineage of any relation connects with a memory directly."""
        request = lineage_pb2.GetLineageRequest(id=memory_id)
        reply = await self._call(space, self._lineage.GetLineage, request)
        ends = [{edge.source.id, edge.target.id} for edge in reply.edges]
        return frozenset().union(*(each for each in ends if memory_id in each)) - {memory_id}

    async def record(
        self,
        space: str,
        request_id: str,
        findings: Sequence[Finding],
        run_id: str,
        session_id: str = "",
    ) -> tuple[Sequence[conflict_pb2.RecordedFinding], str]:
        """Records at most 500 findings of a run, and returns the result of each, and a freshness
        token. `session_id`: the session at whose end they were found."""
        request = conflict_pb2.RecordConflictsRequest(
            request_id=request_id,
            findings=map(messages.finding, findings),
            run_id=run_id,
            session_id=session_id,
        )
        reply = await self._call(space, self._conflicts.RecordConflicts, request)
        return reply.findings, reply.token

    async def open_conflicts(
        self, space: str, item_ids: Sequence[str]
    ) -> Sequence[conflict_pb2.Conflict]:
        """Potential and confirmed conflicts with a side among these items; empty: of all items."""
        return await self._conflicts_in(space, _OPEN, item_ids)

    async def conflict(self, space: str, conflict_id: str) -> conflict_pb2.Conflict:
        """A conflict; empty if there is none of this id."""
        request = conflict_pb2.GetConflictRequest(id=conflict_id)
        return (await self._call(space, self._conflicts.GetConflict, request)).conflict

    async def known(
        self, space: str, item_ids: Sequence[str]
    ) -> Mapping[Versions, conflict_pb2.ConflictState.ValueType]:
        """The states of all conflicts with a side among these items, by the versions judged."""
        found = await self._conflicts_in(space, (), item_ids)
        return {messages.versions(each): each.state for each in found}

    async def end_former_findings(self, space: str, not_found: Sequence[str] = ()) -> None:
        """Ends what former judges found in texts and nobody has reviewed, and at most 500 findings
        of former words that were not found again."""
        is_complete = False
        while not is_complete:
            request = conflict_pb2.EndFormerFindingsRequest(
                request_id=uuid4().hex, judges_version=JUDGES, conflict_ids=not_found
            )
            reply = await self._call(space, self._conflicts.EndFormerFindings, request)
            is_complete = reply.is_complete

    async def records_text(self, space: str) -> bool:
        """Whether the space asks checks that follow a write to record what they find in texts."""
        request = conflict_pb2.GetCheckSettingsRequest()
        reply = await self._call(space, self._conflicts.GetCheckSettings, request)
        return reply.settings.records_text_findings

    async def _conflicts_in(
        self,
        space: str,
        states: Sequence[conflict_pb2.ConflictState.ValueType],
        item_ids: Sequence[str],
    ) -> Sequence[conflict_pb2.Conflict]:
        """The conflicts in some states with a side among these items; empty: in all, of all."""
        found: dict[str, conflict_pb2.Conflict] = {}
        for start in range(0, max(1, len(item_ids)), IDS_A_CALL):
            request = conflict_pb2.ListConflictsRequest(
                states=states, item_ids=item_ids[start : start + IDS_A_CALL], page_size=PAGE
            )
            async for page in self._call.pages(space, self._conflicts.ListConflicts, request):
                found |= {each.id: each for each in page.conflicts}
        return list(found.values())

    async def open_conflict(
        self,
        space: str,
        etags: Mapping[str, str],
        resolution: conflict_pb2.ResolveConflictRequest,
    ) -> str:
        """Records a caller's statement that two items, by id with their etags, disagree as in a
        resolution; returns the conflict's id."""
        (first_id, first_etag), (second_id, second_etag) = sorted(etags.items())
        evolution = resolution.resolution_type == conflict_pb2.CONFLICT_CLASS_EVOLUTION
        finding = conflict_pb2.Finding(
            first_id=first_id,
            first_etag=first_etag,
            second_id=second_id,
            second_etag=second_etag,
            conflict_class=resolution.resolution_type,
            older_id=resolution.superseded_id if evolution else "",
            confidence=1.0,
            judge=conflict_pb2.JUDGE_CALLER,
        )
        request = conflict_pb2.RecordConflictsRequest(
            request_id=resolution.request_id, findings=[finding]
        )
        (recorded,) = (await self._call(space, self._conflicts.RecordConflicts, request)).findings
        if not recorded.conflict_id:
            raise PairStale
        return recorded.conflict_id


class DailyCostOfSpace:
    """The cost of models for a space today: port `DailyCost` over graph's records."""

    def __init__(self, records: SmallRecords, space: str, clock: Clock) -> None:
        self._records, self._space, self._clock = records, space, clock

    async def add(self, cost: Cost, limit: Cost | None = None) -> bool:
        """Add a cost unless the sum would pass the limit; return whether it was added."""
        spend_id = uuid4().hex  # the channel repeats a call if its reply was lost

        def decide(bodies: Sequence[Body]) -> tuple[bool, Sequence[Body]]:
            today = datetime.fromtimestamp(self._clock() / 1_000_000, UTC).date().isoformat()
            is_added, body = model_spend.added(bodies[0], today, cost, limit, spend_id)
            return is_added, [body] if body else []

        return await own(GRAPH, self._records.change(self._space, [("model_spend", "")], decide))
