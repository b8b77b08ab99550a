"""Ends a session, checks what it wrote, and proposes what recurs (D7, M7, V10)."""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from concord_dissonance.ports.calls import Credential
from concord_dissonance.ports.graph import CallersGraph
from concord_dissonance.ports.sessions import Session, Sessions
from concord_dissonance.usecases.check_written import CheckWritten, WrittenCheck
from concord_dissonance.usecases.recurring import ProposeRecurring, Recurring

REMEMBERED = 100
"""Ended sessions whose check is remembered: of a caller who ends one and the feed that reports it,
the second is answered with what the first found."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a session left behind."""

    session: Session
    check: WrittenCheck
    recurring: Sequence[Recurring]
    token: str


class EndSession:
    """The use case of a caller, and of the feed when a session has ended otherwise."""

    def __init__(
        self,
        sessions: Sessions,
        callers: CallersGraph,
        check: CheckWritten,
        recurring: ProposeRecurring,
    ) -> None:
        self._sessions, self._callers = sessions, callers
        self._check, self._recurring = check, recurring
        self._busy: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._known: OrderedDict[tuple[str, str, int], Ended] = OrderedDict()

    async def __call__(
        self, space: str, who: Credential, request_id: str, session_id: str
    ) -> Ended:
        """Ends a session in its caller's name. Raises `ServiceUnavailable`."""
        session, token = await self._callers.end_session(who, request_id, session_id)
        return await self.after(space, session, token)

    async def after(self, space: str, session: Session, fresh: str) -> Ended:
        """Does what follows a session's end; done twice, it changes nothing.

        `fresh`: the token of a change that the index must have.
        """
        key = (space, session.id, session.end)
        async with self._busy[space]:
            if key not in self._known:
                ended = await self._checked(space, session, fresh)
                if ended.check.coverage.is_degraded:
                    return ended
                self._known[key] = ended
                if len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
            return self._known[key]

    async def _checked(self, space: str, session: Session, fresh: str) -> Ended:
        memory_ids, edge_ids = await self._sessions.written_in(space, session)
        check = await self._check(space, memory_ids, edge_ids, fresh)
        recurring = await self._recurring(space, session.id)
        return Ended(session, check, recurring, check.token or fresh)
