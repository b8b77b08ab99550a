"""Checks new reflections, small edits and ended sessions, after the writes have returned."""

from dataclasses import replace

from concord_chassis.observe.log import Logger

from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.clients.graph.sessions_client import SessionsClient
from concord_dissonance.domain.errors import ServiceRefused, ServiceUnavailable
from concord_dissonance.domain.sides import Kind
from concord_dissonance.ports.feed import FOLLOWED, Followed
from concord_dissonance.usecases.amendments import Amendments
from concord_dissonance.usecases.check_written import CheckWritten
from concord_dissonance.usecases.end_session import EndSession

SKIPPED = 1_000
"""After so many changes without any work the position is stored all the same."""


class Triggers:
    """The use case: does the work for a space's changes, up to the newest.

    Graph stores the position after the work. If a process dies in between, the work is repeated,
    which records and proposes nothing twice.
    """

    def __init__(
        self,
        *,
        graph: GraphClient,
        feed: FeedClient,
        sessions: SessionsClient,
        check: CheckWritten,
        amendments: Amendments,
        ends: EndSession,
        log: Logger,
    ) -> None:
        self._graph, self._feed, self._sessions, self._log = graph, feed, sessions, log
        self._check, self._amendments, self._ends = check, amendments, ends

    async def catch_up(self, space: str) -> None:
        """Does the work for all changes since the position. Raises `ServiceUnavailable`."""
        at = await self._feed.reached(space, FOLLOWED)
        before = at.position.seq if at.position else 0
        async for changes in self._feed.changes(space, at.position):
            if changes.written or changes.ended:
                try:
                    await self._follow(space, changes)
                except ServiceRefused as refused:
                    # A repetition would be refused, too: later changes go on.
                    self._log.error("not followed", space=space, why=refused.reason)
            elif changes.position.seq - before < SKIPPED:
                continue
            reached = replace(at, position=changes.position)
            etag = await self._feed.note_reached(space, FOLLOWED, reached)
            at, before = replace(at, etag=etag), changes.position.seq

    async def _follow(self, space: str, changes: Followed) -> None:
        there = await self._graph.memories_of(space, list(changes.written))
        reflections = [each.id for each in there if each.side.kind is Kind.REFLECTION]
        if reflections:
            found = await self._check(space, reflections, fresh=changes.token)
            if found.coverage.skipped["SEARCH_UNAVAILABLE"]:
                raise ServiceUnavailable("search", "a reflection has to be compared")
        alone = [
            each.id
            for each in there
            if not changes.written[each.id] and each.side.kind is not Kind.TURN
        ]
        if alone:
            await self._amendments(space, alone, changes.token)
        for session_id, end in changes.ended:
            session = await self._sessions.session(space, session_id)
            if session is not None:
                session.end_time.FromMicroseconds(end)
                await self._ends.after(space, session, changes.token)
