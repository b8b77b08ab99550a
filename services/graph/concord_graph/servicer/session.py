"""SessionService."""

from __future__ import annotations

from functools import partial

from concord.graph.v1 import session_pb2, session_pb2_grpc
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor

from concord_graph.servicer import calls, incoming, outgoing
from concord_graph.usecases.memory.sessions import end_session
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.write.commands import Commands

MOST_PAIRS = 1_000
"""Pairs of memories in a list of co-reads."""
MOST_RESTATED = 1_000
"""Memories in a list of restated memories."""


class SessionServicer(session_pb2_grpc.SessionServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, commands: Commands, reader: Reader) -> None:
        self._commands = commands
        self._reader = reader

    async def EndSession(
        self, request: session_pb2.EndSessionRequest, context: calls.Context
    ) -> session_pb2.EndSessionResponse:
        await self._reader.flush()  # a use from before the end must not begin it anew
        command = partial(
            end_session,
            session_id=request.session_id,
            last_use_time=incoming.instant(request, "last_use_time"),
        )
        done = await calls.execute(self._commands, request, command)
        return calls.reply(
            session_pb2.EndSessionResponse, done, session=outgoing.session(done.result.session)
        )

    async def GetSession(
        self, request: session_pb2.GetSessionRequest, context: calls.Context
    ) -> session_pb2.GetSessionResponse:
        await self._reader.flush()
        found = await self._reader.read(
            caller().space, lambda tx, _: tx.session(request.session_id)
        )
        if found is None:
            return session_pb2.GetSessionResponse(status=calls.NOT_FOUND)
        return session_pb2.GetSessionResponse(status=calls.FOUND, session=outgoing.session(found))

    async def ListSessions(
        self, request: session_pb2.ListSessionsRequest, context: calls.Context
    ) -> session_pb2.ListSessionsResponse:
        cursor = page_cursor(request, (int, str))
        before = (cursor[0], cursor[1]) if cursor else None
        filter_ = incoming.session_filter(request)
        await self._reader.flush()
        found = await self._reader.read(
            caller().space, lambda tx, _: tx.sessions(filter_, before, calls.page_limit(request))
        )
        sessions, token = calls.one_page(request, found, lambda last: [last.last_use_time, last.id])
        return session_pb2.ListSessionsResponse(
            sessions=map(outgoing.session, sessions), next_page_token=token
        )

    async def ListCoReads(
        self, request: session_pb2.ListCoReadsRequest, context: calls.Context
    ) -> session_pb2.ListCoReadsResponse:
        found = await self._reader.read(
            caller().space, lambda tx, _: tx.co_reads(request.session_id, MOST_PAIRS)
        )
        return session_pb2.ListCoReadsResponse(
            co_reads=[
                session_pb2.CoRead(
                    memory_id=each.memory_id,
                    other_id=each.other_id,
                    session_count=each.session_count,
                    last_time=outgoing.stamp(each.last_time),
                )
                for each in found
            ]
        )

    async def ListRestated(
        self, request: session_pb2.ListRestatedRequest, context: calls.Context
    ) -> session_pb2.ListRestatedResponse:
        least = request.least_sessions or 2
        sessions = list(request.session_ids)
        found = await self._reader.read(
            caller().space, lambda tx, _: tx.restated(sessions, least, MOST_RESTATED)
        )
        return session_pb2.ListRestatedResponse(
            memories=[
                session_pb2.Restated(memory_id=each.memory_id, session_ids=each.session_ids)
                for each in found
            ]
        )
