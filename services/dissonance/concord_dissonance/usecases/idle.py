"""Ends sessions that nobody used for 30 minutes (M7)."""

import asyncio
from functools import partial

from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

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

    It looks into the spaces `in_use`, and takes out those without an open session. Graph stores
    each session's last use, and ends a session only if it was not used since: of two replicas only
    one ends it.
    """

    def __init__(
        self,
        in_use: set[str],
        sessions: SessionsClient,
        clock: Clock,
        background: Background,
        log: Logger,
    ) -> None:
        self._in_use, self._sessions = in_use, sessions
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
        """Ends the idle sessions of the spaces in use."""
        since = Micros(self._clock() - IDLE)
        for space in sorted(self._in_use):
            end = partial(self._end, space, since)
            await self._background.tried(END_IDLE, space, end, passing=(ServiceUnavailable,))

    async def _end(self, space: str, since: Micros) -> None:
        self._in_use.discard(space)  # before the look: what is heard meanwhile puts it back
        try:
            for session in await self._sessions.idle(space, since):
                await self._sessions.end_idle(space, session)
            if await self._sessions.any_open(space):
                self._in_use.add(space)
        except ServiceUnavailable:
            self._in_use.add(space)
            raise
        except ServiceRefused as refused:  # such as a deleted space: its sessions stay
            self._log.info("idle sessions stay", space=space, why=refused.reason)
