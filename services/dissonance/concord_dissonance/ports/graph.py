"""The ports of graph: under dissonance's own name, and in a caller's name."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Protocol

from concord.graph.v1 import conflict_pb2, session_pb2

from concord_dissonance.domain.dialectic.theses import Source
from concord_dissonance.domain.sides import RelationRule
from concord_dissonance.domain.statements import Finding, Statement, Versions
from concord_dissonance.ports.actions import Decision
from concord_dissonance.ports.calls import Credential

Decided = (
    conflict_pb2.ReviewConflictResponse
    | conflict_pb2.ResolveConflictResponse
    | conflict_pb2.ReopenConflictResponse
)
"""Graph's reply to a decision."""


class Graph(Protocol):
    """Graph, asked under dissonance's own name. No read here counts as a use of an item."""

    async def relations(self, space: str) -> Mapping[str, RelationRule]:
        """The declared rules of relations, by name."""
        ...

    def edges(self, space: str) -> AsyncIterator[Sequence[Statement]]:
        """Every live edge that states something, in pages: no lineage and no resolutions."""
        ...

    def memories(self, space: str) -> AsyncIterator[Sequence[Statement]]:
        """The facts and plans that hold now and are not superseded, in pages."""
        ...

    async def around(self, space: str, node: str, radius: int) -> Sequence[Statement] | None:
        """The edges within `radius` hops of a node, by name or id, and the facts and plans that
        state them or are their ends. None: the node is unknown."""
        ...

    async def memories_of(self, space: str, ids: Sequence[str]) -> Sequence[Statement]:
        """The memories of these ids, of any kind, that hold now and are not superseded."""
        ...

    async def edges_of(self, space: str, ids: Sequence[str]) -> Sequence[Statement]:
        """The live edges of these ids that state something."""
        ...

    async def edges_with(self, space: str, relations: Sequence[str]) -> Sequence[Statement]:
        """Every live edge of these relations."""
        ...

    async def values_of(
        self, space: str, subjects: Collection[tuple[str, str]]
    ) -> Sequence[Statement]:
        """Every live edge of these sources, by name or id, and relations, also superseded ones."""
        ...

    async def related(self, space: str, memory_id: str) -> frozenset[str]:
        """The items that lineage of any relation connects with a memory directly."""
        ...

    async def record(
        self, space: str, request_id: str, findings: Sequence[Finding], run_id: str
    ) -> tuple[Sequence[conflict_pb2.RecordedFinding], str]:
        """Records at most 500 findings of a run, and returns the result of each, and a freshness
        token."""
        ...

    async def open_conflicts(
        self, space: str, item_ids: Sequence[str]
    ) -> Sequence[conflict_pb2.Conflict]:
        """Potential and confirmed conflicts with a side among these items; empty: of all items."""
        ...

    async def known(
        self, space: str, item_ids: Sequence[str]
    ) -> Mapping[Versions, conflict_pb2.ConflictState.ValueType]:
        """The states of all conflicts with a side among these items, by the versions judged."""
        ...

    async def records_text(self, space: str) -> bool:
        """Whether the space asks checks that follow a write to record what they find in texts."""
        ...

    async def open_conflict(
        self,
        space: str,
        etags: Mapping[str, str],
        resolution: conflict_pb2.ResolveConflictRequest,
    ) -> str:
        """Records a caller's statement that two items, by id with their etags, disagree as in a
        resolution; returns the conflict's id."""
        ...


class CallersGraph(Protocol):
    """Graph, asked in a caller's name."""

    async def conflict(
        self,
        who: Credential,
        conflict_id: str = "",
        pair: conflict_pb2.ConflictPair | None = None,
    ) -> conflict_pb2.Conflict | None:
        """A conflict by its id or by its two sides."""
        ...

    async def conflicts(
        self, who: Credential, query: conflict_pb2.ListConflictsRequest
    ) -> conflict_pb2.ListConflictsResponse:
        """A page of conflicts."""
        ...

    async def former_etag(self, who: Credential, conflict: conflict_pb2.Conflict) -> str:
        """The version of a conflict before its last change; empty: it had none."""
        ...

    async def etags(self, who: Credential, ids: Sequence[str]) -> Mapping[str, str]:
        """The versions of edges or memories, by id. Raises `ItemUnknown`."""
        ...

    async def decide(self, who: Credential, decision: Decision) -> Decided:
        """Reviews, resolves or reopens a conflict."""
        ...

    async def dismiss_run(
        self, who: Credential, request_id: str, run_id: str, context: str
    ) -> conflict_pb2.DismissRunResponse:
        """Dismisses potential conflicts of a run, at most 500."""
        ...

    async def end_session(
        self, who: Credential, request_id: str, session_id: str
    ) -> tuple[session_pb2.Session, str]:
        """Ends a session; returns its record and a freshness token."""
        ...

    async def sources(self, who: Credential, memory_ids: Sequence[str]) -> Sequence[Source]:
        """Live memories as sources of theses, also superseded ones; no read counts as a use.
        Raises `ItemUnknown`."""
        ...

    async def add_insight(
        self,
        who: Credential,
        request_id: str,
        content: str,
        memory_ids: Sequence[str],
        speakers: Sequence[str],
    ) -> tuple[str, str]:
        """Adds as an insight what was concluded from memories and from speakers' texts; returns the
        memory's id and a freshness token."""
        ...

    async def amend(self, who: Credential, request_id: str, newer_id: str, older_id: str) -> str:
        """Adds the lineage that a memory amends another; returns a freshness token."""
        ...
