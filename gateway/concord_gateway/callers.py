"""Whose API key a call presents: governance's answers, which the gateway caches (W7).

While governance answers, an answer is cached for 5 s, so a revoked key stops working within that
time. While governance is silent, the last answer serves for 60 s; after that no key is let in.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from concord_chassis.call.identity import Caller

from concord_gateway.errors import GovernanceSilent

HOLDS = 5.0
"""Seconds for which the answer about a known key is cached."""
LAST_KNOWN_HOLDS = 60.0
"""Seconds for which that answer serves while governance is silent."""
UNKNOWN_HOLDS = 1.0
"""Seconds for which the answer about an unknown key is cached."""
PAUSE = 1.0
"""Seconds after an unanswered question in which known keys do not ask governance again."""
MOST_HELD = 10_000
"""The newest so many answers are cached, of known and of unknown keys each."""


@dataclass(frozen=True)
class ApiKey:
    """A key that governance knows, and its caller."""

    id: str
    """Its public id, shown in lists and used to count calls; never the key itself."""
    caller: Caller
    expires_at: float | None = None
    """Seconds since 1970 UTC; None: it does not expire."""
    is_session: bool = False
    """Whether a session of the key was presented, not the key itself."""


class Refusal(Enum):
    """Why a key is not let in."""

    UNKNOWN = "unknown or revoked"
    EXPIRED = "expired"


Ask: TypeAlias = Callable[[str, bool], Awaitable[ApiKey | Refusal]]
"""Asks governance about a key's digest, and says whether an earlier answer could serve. Raises
`GovernanceSilent`."""


@dataclass(frozen=True)
class _Answer:
    """Governance's answer about a key. Its age is counted from when the question was asked."""

    key: ApiKey | Refusal
    asked_at: float


class Callers:
    """Resolves keys to callers. Concurrent calls with one key ask governance only once."""

    def __init__(
        self,
        ask: Ask,
        *,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`now`: seconds, for the age of answers; `wall`: seconds since 1970, for expiry."""
        self._ask, self._now, self._wall = ask, now, wall
        self._known: dict[str, _Answer] = {}
        self._unknown: dict[str, _Answer] = {}
        self._asking: dict[str, asyncio.Task[_Answer | None]] = {}
        self._answered_at = self._silent_at = float("-inf")

    async def holder(self, digest: str) -> ApiKey | Refusal:
        """The key with this digest, or why it is not let in.

        Raises `GovernanceSilent` if governance is silent and its last answer is too old.
        """
        key = (self._held(digest) or await self._fresh(digest)).key
        expired = (
            isinstance(key, ApiKey)
            and key.expires_at is not None
            and key.expires_at <= self._wall()
        )
        return Refusal.EXPIRED if expired else key

    def forget(self, digest: str) -> None:
        """Has the next call with this key ask governance again."""
        self._known.pop(digest, None)

    def recently_answered(self) -> bool:
        """Whether governance answered in the last 60 s: known keys are then let in without it."""
        return self._age(self._answered_at) < LAST_KNOWN_HOLDS

    async def close(self) -> None:
        """Ends the questions under way."""
        waiting = list(self._asking.values())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    def _held(self, digest: str) -> _Answer | None:
        """The last answer about a key, if governance need not be asked again."""
        if (known := self._known.get(digest)) is not None:
            silent = self._age(self._silent_at) < PAUSE
            holds = LAST_KNOWN_HOLDS if silent else HOLDS
            return known if self._age(known.asked_at) < holds else None
        unknown = self._unknown.get(digest)
        fresh = unknown is not None and self._age(unknown.asked_at) < UNKNOWN_HOLDS
        return unknown if fresh else None

    async def _fresh(self, digest: str) -> _Answer:
        """Governance's new answer, else the cached one about a known key. Raises as `holder`."""
        answer = await self._answer(digest) or self._known.get(digest)
        if answer is None or self._age(answer.asked_at) >= LAST_KNOWN_HOLDS:
            raise GovernanceSilent
        return answer

    async def _answer(self, digest: str) -> _Answer | None:
        """Asks governance about a key, or joins the question under way; None if it is silent.

        A caller that is cancelled does not cancel the question: others may wait for it.
        """
        task = self._asking.get(digest)
        if task is None:
            task = asyncio.create_task(self._asked(digest), name="ask governance about a key")
            self._asking[digest] = task
            task.add_done_callback(lambda _: self._asking.pop(digest))
        return await asyncio.shield(task)

    async def _asked(self, digest: str) -> _Answer | None:
        asked_at = self._now()
        try:
            answer = _Answer(await self._ask(digest, digest in self._known), asked_at)
        except GovernanceSilent:
            self._silent_at = self._now()
            return None
        self._answered_at = self._now()
        self._known.pop(digest, None)
        self._unknown.pop(digest, None)
        held = self._known if isinstance(answer.key, ApiKey) else self._unknown
        while len(held) >= MOST_HELD:
            del held[next(iter(held))]
        held[digest] = answer
        return answer

    def _age(self, instant: float) -> float:
        return self._now() - instant
