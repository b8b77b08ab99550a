"""Ends sessions that nobody used for 30 minutes (M7)."""

import asyncio
from functools import partial

from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.clients.graph.sessions_client import SessionsClient
from concord_dissonance.domain.errors import ServiceRefused, ServiceUnavailable
from concord_dissonance.domain.sides import Micros
from concord_dissonance.ports.calls import Clock

END_IDLE = "end idle sessions"
"""The name of the task that does it."""
IDLE = 30 * 60 * 1_000_000
"""Microseconds without a use after which a session is ended."""
LOOK = 60.0
"""Seconds between two looks."""


class EndIdleSessions:
    """Ends idle sessions at intervals. `run` it as a task and cancel that.

    It has no state: graph stores each session's last use, and ends a session only if it was not
    used since. So a restart misses none, and of two replicas only one ends a session.
    """

    def __init__(
        self,
        feed: FeedClient,
        sessions: SessionsClient,
        clock: Clock,
        background: Background,
        log: Logger,
    ) -> None:
        self._feed, self._sessions = feed, sessions
        self._clock, self._background, self._log = clock, background, log

    async def run(self) -> None:
        """Looks until cancelled."""
        while True:
            try:
                await self.look()
            except ServiceUnavailable as lost:
                self._log.warning("idle sessions wait", reason=str(lost))
            await asyncio.sleep(LOOK)

    async def look(self) -> None:
        """Ends the idle sessions of every space."""
        since = Micros(self._clock() - IDLE)
        for space in await self._feed.spaces():
            end = partial(self._end, space, since)
            await self._background.tried(END_IDLE, space, end, passing=(ServiceUnavailable,))

    async def _end(self, space: str, since: Micros) -> None:
        try:
            for session in await self._sessions.idle(space, since):
                await self._sessions.end_idle(space, session)
        except ServiceRefused as refused:  # such as a deleted space: its sessions stay
            self._log.info("idle sessions stay", space=space, why=refused.reason)
