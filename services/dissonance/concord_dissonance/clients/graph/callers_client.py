"""Graph's conflicts, sessions and memories, asked in a caller's name."""

from collections.abc import Mapping, Sequence

import grpc
from concord.graph.v1 import (
    conflict_pb2,
    conflict_pb2_grpc,
    graph_pb2,
    graph_pb2_grpc,
    lineage_pb2,
    lineage_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    session_pb2,
    session_pb2_grpc,
)
from concord.type.v1 import type_pb2

from concord_dissonance.clients.graph import messages
from concord_dissonance.clients.service_calls import in_name_of
from concord_dissonance.domain.dialectic.theses import Source
from concord_dissonance.domain.errors import ItemUnknown
from concord_dissonance.ports.actions import Decided, Decision
from concord_dissonance.ports.calls import PRINCIPAL, Credential

MOST_SOURCES = 20


class CallersGraphClient:
    """Graph over a channel without a token: every call carries its caller's own credential."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._conflicts = conflict_pb2_grpc.ConflictServiceStub(channel)
        self._memories = memory_pb2_grpc.MemoryServiceStub(channel)
        self._graph = graph_pb2_grpc.GraphServiceStub(channel)
        self._sessions = session_pb2_grpc.SessionServiceStub(channel)
        self._lineage = lineage_pb2_grpc.LineageServiceStub(channel)

    async def conflict(
        self, who: Credential, request: conflict_pb2.GetConflictRequest
    ) -> conflict_pb2.Conflict | None:
        """A conflict by its id or by its two sides; None: there is none."""
        reply = await in_name_of(who, self._conflicts.GetConflict, request)
        return reply.conflict if reply.HasField("conflict") else None

    async def conflicts(
        self, who: Credential, query: conflict_pb2.ListConflictsRequest
    ) -> conflict_pb2.ListConflictsResponse:
        """A page of conflicts."""
        return await in_name_of(who, self._conflicts.ListConflicts, query)

    async def etags(self, who: Credential, ids: Sequence[str]) -> Mapping[str, str]:
        """The versions of edges or memories, by id. Raises `ItemUnknown`."""
        return {item_id: await self._etag(who, item_id) for item_id in ids}

    async def _etag(self, who: Credential, item_id: str) -> str:
        memory = memory_pb2.GetMemoryRequest(id=item_id, peek=True)
        found = await in_name_of(who, self._memories.GetMemory, memory)
        if found.status == type_pb2.LOOKUP_STATUS_FOUND:
            return found.memory.etag
        edge = graph_pb2.GetEdgeRequest(id=item_id, peek=True)
        at = await in_name_of(who, self._graph.GetEdge, edge)
        if at.status == type_pb2.LOOKUP_STATUS_FOUND:
            return at.edge.etag
        raise ItemUnknown(item_id)

    async def decide(self, who: Credential, decision: Decision) -> Decided:
        """Reviews, resolves or reopens a conflict."""
        match decision:
            case conflict_pb2.ReviewConflictRequest():
                return await in_name_of(who, self._conflicts.ReviewConflict, decision)
            case conflict_pb2.ResolveConflictRequest():
                return await in_name_of(who, self._conflicts.ResolveConflict, decision)
            case _:
                return await in_name_of(who, self._conflicts.ReopenConflict, decision)

    async def dismiss(
        self, who: Credential, request: conflict_pb2.DismissConflictsRequest
    ) -> conflict_pb2.DismissConflictsResponse:
        """Dismisses potential conflicts of a run, a rule or a group, at most 500."""
        return await in_name_of(who, self._conflicts.DismissConflicts, request)

    async def end_session(
        self, who: Credential, request: session_pb2.EndSessionRequest
    ) -> session_pb2.EndSessionResponse:
        """Ends a session."""
        return await in_name_of(who, self._sessions.EndSession, request)

    async def sources(self, who: Credential, memory_ids: Sequence[str]) -> Sequence[Source]:
        """Live memories as sources of theses, also superseded ones; no read counts as a use.
        Raises `ItemUnknown`."""
        found = []
        for memory_id in memory_ids:
            request = memory_pb2.GetMemoryRequest(id=memory_id, peek=True)
            reply = await in_name_of(who, self._memories.GetMemory, request)
            is_found = reply.status == type_pb2.LOOKUP_STATUS_FOUND
            if not is_found or messages.is_gone(reply.memory):
                raise ItemUnknown(memory_id)
            found.append(messages.of_source(reply.memory))
        return found

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
        sources = [type_pb2.Source(speaker=PRINCIPAL, memory_ids=memory_ids)]
        sources += [type_pb2.Source(speaker=each) for each in speakers]
        memory = type_pb2.Memory(
            content=content,
            kind=type_pb2.MEMORY_KIND_INSIGHT,
            sources=sources[:MOST_SOURCES],
        )
        # extracted: a link in a source's words must not become lineage of the insight
        request = memory_pb2.AddMemoryRequest(request_id=request_id, memory=memory, extracted=True)
        reply = await in_name_of(who, self._memories.AddMemory, request)
        return reply.memory.id, reply.token

    async def amend(self, who: Credential, request_id: str, newer_id: str, older_id: str) -> str:
        """Adds the lineage that a memory amends another; returns a freshness token."""
        request = lineage_pb2.AddLineageRequest(
            request_id=request_id,
            relation=type_pb2.LINEAGE_RELATION_AMENDS,
            newer_id=newer_id,
            older_id=older_id,
        )
        return (await in_name_of(who, self._lineage.AddLineage, request)).token
