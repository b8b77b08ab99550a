"""Ends a session, checks its writes, and proposes recurring facts (D7, M7, V10)."""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from concord.dissonance.v1.dissonance_pb2 import RecurringFact
from concord.graph.v1.session_pb2 import EndSessionRequest, Session

from concord_dissonance.clients.graph.callers_client import CallersGraphClient
from concord_dissonance.clients.graph.sessions_client import SessionsClient
from concord_dissonance.ports.calls import Credential
from concord_dissonance.usecases.check import CheckAnswer
from concord_dissonance.usecases.check_written import CheckWritten
from concord_dissonance.usecases.recurring import ProposeRecurring

REMEMBERED = 100
"""Ended sessions whose results are remembered. A session's end comes twice, from the caller and
from the feed: the second one gets the result of the first."""


@dataclass(frozen=True, slots=True)
class Ended:
    """An ended session, the check of its writes, and the recurring facts."""

    session: Session
    check: CheckAnswer
    recurring: Sequence[RecurringFact]
    token: str


class EndSession:
    """The use case. The feed calls `after` for sessions that ended by other ways."""

    def __init__(
        self,
        sessions: SessionsClient,
        callers: CallersGraphClient,
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
        request = EndSessionRequest(request_id=request_id, session_id=session_id)
        done = await self._callers.end_session(who, request)
        return await self.after(space, done.session, done.token)

    async def after(self, space: str, session: Session, fresh: str) -> Ended:
        """Checks an ended session's writes, and proposes recurring facts; idempotent.

        `fresh`: the token of a change that the index must have.
        """
        key = (space, session.id, session.end_time.ToMicroseconds())
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
        check = await self._check(space, memory_ids, edge_ids, fresh=fresh, session_id=session.id)
        recurring = await self._recurring(space, session.id)
        return Ended(session, check, recurring, check.token or fresh)
