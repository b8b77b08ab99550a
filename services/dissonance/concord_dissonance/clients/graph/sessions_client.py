"""Graph's sessions, read under dissonance's own name."""

from collections.abc import Mapping, Sequence

import grpc
from concord.graph.v1 import (
    feed_pb2,
    memory_pb2,
    memory_pb2_grpc,
    session_pb2,
    session_pb2_grpc,
    space_pb2,
    space_pb2_grpc,
)
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import TokenIssuer

from concord_dissonance.clients.service_calls import OwnCalls
from concord_dissonance.domain.sides import Micros
from concord_dissonance.ports.calls import repeated_id

GRAPH = "graph"
PAGE = 200
_SCOPES = frozenset({"graph:read", "memory:read", "record:all"})
_WRITES = (
    feed_pb2.CHANGE_TYPE_CREATED,
    feed_pb2.CHANGE_TYPE_UPDATED,
    feed_pb2.CHANGE_TYPE_RESTORED,
)
_EARLIER = Micros(60_000_000)
"""A session's first use is noted after its first write, which may be older by so much (µs)."""


class SessionsClient:
    """Graph's sessions, over the channel of `GraphClient`."""

    def __init__(self, channel: grpc.aio.Channel, issuer: TokenIssuer) -> None:
        self._call = OwnCalls(GRAPH, issuer, _SCOPES)
        self._ending = OwnCalls(GRAPH, issuer, frozenset({"graph:write"}))
        self._memories = memory_pb2_grpc.MemoryServiceStub(channel)
        self._sessions = session_pb2_grpc.SessionServiceStub(channel)
        self._spaces = space_pb2_grpc.SpaceServiceStub(channel)

    async def idle(self, space: str, since: Micros) -> Sequence[session_pb2.Session]:
        """The sessions that go on and were last used before a time."""
        request = session_pb2.ListSessionsRequest(
            page_size=PAGE, state=session_pb2.SESSION_STATE_OPEN
        )
        request.idle_since.FromMicroseconds(since)
        found: list[session_pb2.Session] = []
        async for page in self._call.pages(space, self._sessions.ListSessions, request):
            found += page.sessions
        return found

    async def any_open(self, space: str) -> bool:
        """Whether a session of the space goes on."""
        request = session_pb2.ListSessionsRequest(page_size=1, state=session_pb2.SESSION_STATE_OPEN)
        return bool((await self._call(space, self._sessions.ListSessions, request)).sessions)

    async def end_idle(self, space: str, session: session_pb2.Session) -> None:
        """Ends a session unless it was used since it was read."""
        last_use = session.last_use_time.ToMicroseconds()
        request = session_pb2.EndSessionRequest(
            # Every process that read this last use sends the same id, so the session ends once.
            request_id=repeated_id(f"idle {last_use} {session.id}"),
            session_id=session.id,
            last_use_time=session.last_use_time,
        )
        await self._ending(space, self._sessions.EndSession, request)

    async def session(self, space: str, session_id: str) -> session_pb2.Session | None:
        """A session's record."""
        request = session_pb2.GetSessionRequest(session_id=session_id)
        reply = await self._call(space, self._sessions.GetSession, request)
        return reply.session if reply.HasField("session") else None

    async def ended(self, space: str, count: int) -> Sequence[str]:
        """The sessions that ended last, the last one first."""
        request = session_pb2.ListSessionsRequest(
            page_size=PAGE, state=session_pb2.SESSION_STATE_ENDED
        )
        page = await self._call(space, self._sessions.ListSessions, request)
        last_first = sorted(
            page.sessions, key=lambda each: (-each.end_time.ToMicroseconds(), each.id)
        )
        return [each.id for each in last_first[:count]]

    async def stated_in(
        self, space: str, session_ids: Sequence[str]
    ) -> Mapping[str, frozenset[str]]:
        """The sessions among these that added a memory, or added it again, by memory id."""
        request = session_pb2.ListRestatedRequest(session_ids=session_ids, least_sessions=1)
        found = (await self._call(space, self._sessions.ListRestated, request)).memories
        return {each.memory_id: frozenset(each.session_ids) for each in found}

    async def written_in(
        self, space: str, session: session_pb2.Session
    ) -> tuple[Sequence[str], Sequence[str]]:
        """The memories of a session, and the edges that changed while it lasted."""
        request = memory_pb2.ListMemoriesRequest(page_size=PAGE)
        request.filter.session_id = session.id
        memory_ids: list[str] = []
        async for page in self._call.pages(space, self._memories.ListMemories, request):
            memory_ids += [each.id for each in page.memories]
        asked = space_pb2.ListOperationsRequest(
            item_kinds=[type_pb2.ITEM_KIND_EDGE], types=_WRITES, page_size=PAGE
        )
        asked.since.FromMicroseconds(session.start_time.ToMicroseconds() - _EARLIER)
        asked.before.CopyFrom(session.end_time)
        written = await self._operations(space, asked)
        return memory_ids, sorted({each.item_id for each in written})

    async def authors(self, space: str, memory_ids: Sequence[str]) -> frozenset[str]:
        """The principals that added or changed these memories."""
        found: set[str] = set()
        for memory_id in memory_ids:
            asked = space_pb2.ListOperationsRequest(item_id=memory_id, types=_WRITES)
            found |= {each.principal for each in await self._operations(space, asked)}
        return frozenset(found)

    async def _operations(
        self, space: str, request: space_pb2.ListOperationsRequest
    ) -> list[space_pb2.Operation]:
        """Operations, only the newest of each item and principal."""
        found: dict[tuple[str, str], space_pb2.Operation] = {}
        async for page in self._call.pages(space, self._spaces.ListOperations, request):
            for each in page.operations:
                found.setdefault((each.item_id, each.principal), each)
        return list(found.values())
