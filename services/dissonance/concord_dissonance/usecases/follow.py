"""Follows graph's changes: proposals end with their conflicts, and what is written is checked."""

import asyncio
from contextlib import suppress
from functools import partial

from concord_chassis.log import Logger

from concord_dissonance.domain.errors import LeaseElsewhere, ServiceRefused, ServiceUnavailable
from concord_dissonance.ports.feed import Feed, Heard, Leases
from concord_dissonance.usecases.idle import EndIdleSessions
from concord_dissonance.usecases.lease import alone
from concord_dissonance.usecases.proposals import Proposals
from concord_dissonance.usecases.triggers import Triggers

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
TOGETHER = 0.2
"""Seconds in which changes of a space are gathered: one look at it settles them all."""

QUIET, LONGEST_BURST = 1.0, 30.0
"""Seconds without a write after which what was written is followed, so that it slows no writer; and
the most that a burst of writes puts it off."""

AGAIN = 15.0
"""Seconds until a space with as many proposals as may wait is looked at again: of a rejection or an
expiry no feed reports."""


class Marked:
    """Spaces that wait to be looked at."""

    def __init__(self) -> None:
        self._spaces: set[str] = set()
        self._taken: set[str] = set()
        self._wake = asyncio.Event()

    @property
    def count(self) -> int:
        """How many wait or are looked at now."""
        return len(self._spaces | self._taken)

    def add(self, space: str) -> None:
        """Have a space looked at."""
        self._spaces.add(space)
        self._wake.set()

    def add_later(self, space: str, seconds: float) -> None:
        """Have a space looked at once another process's lease of it may be over: should that one
        have died, its work is done here."""
        asyncio.get_running_loop().call_later(seconds, self.add, space)

    async def taken(self, gather: float, longest: float | None = None) -> set[str]:
        """Wait for a space, gather what follows within some seconds, and take them all; none when
        none came in the longest time."""
        self._taken = set()
        with suppress(TimeoutError):
            async with asyncio.timeout(longest):
                await self._wake.wait()
                await asyncio.sleep(gather)
        return self._take()

    async def quiet(self, gather: float, longest: float) -> set[str]:
        """Wait for a space, and until none was added for some seconds or the longest time is over,
        and take them all."""
        self._taken = set()
        await self._wake.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(longest):
                while self._wake.is_set():
                    self._wake.clear()
                    await asyncio.sleep(gather)
        return self._take()

    def _take(self) -> set[str]:
        self._wake.clear()
        self._taken, self._spaces = self._spaces, set()
        return self._taken


class Follow:
    """The follower of those spaces whose leases it has. `run` it as a task and cancel that."""

    def __init__(
        self,
        *,
        feed: Feed,
        leases: Leases,
        proposals: Proposals,
        triggers: Triggers,
        idle: EndIdleSessions,
        log: Logger,
    ) -> None:
        self._feed, self._log, self._idle = feed, log, idle
        self._leases = leases
        self._proposals, self._triggers = proposals, triggers
        self._disputed, self._written = Marked(), Marked()
        self.is_following = False

    @property
    def waiting(self) -> int:
        """How many spaces' changes were heard of and are not followed up yet."""
        return max(self._disputed.count, self._written.count)

    async def run(self) -> None:
        """Follows until cancelled, reconnecting when graph goes away."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._settle(), name="settle proposals")
            group.create_task(self._catch_up(), name="follow what is written")
            group.create_task(self._idle.run(), name="end idle sessions")
            wait = FIRST_WAIT
            while True:
                try:
                    async for heard in self._feed.heard():
                        wait = FIRST_WAIT
                        self._hear(heard)
                except (ServiceUnavailable, ServiceRefused) as lost:
                    self._log.warning("feed lost", reason=str(lost), retry_in=wait)
                finally:
                    self.is_following = False
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_WAIT)

    def _hear(self, heard: Heard | None) -> None:
        if heard is None:
            self.is_following = True
            return
        if heard.conflicts:
            self._disputed.add(heard.space)
        if heard.triggers:
            self._written.add(heard.space)

    async def _settle(self) -> None:
        wait = FIRST_WAIT
        full: set[str] = set()
        while True:
            spaces = sorted(await self._disputed.taken(TOGETHER, AGAIN) | full)
            full = set()
            for space in spaces:
                try:
                    settle = partial(self._proposals.settle, space)
                    if await alone(self._leases, space, settle):
                        full.add(space)
                    wait = FIRST_WAIT
                except LeaseElsewhere as elsewhere:
                    self._disputed.add_later(space, elsewhere.seconds)
                except (ServiceUnavailable, ServiceRefused) as lost:
                    self._log.warning("proposals wait", space=space, reason=str(lost))
                    self._disputed.add(space)
                    wait = min(wait * 2, LONGEST_WAIT)
                    await asyncio.sleep(wait)

    async def _catch_up(self) -> None:
        wait = FIRST_WAIT
        while True:
            for space in sorted(await self._written.quiet(QUIET, LONGEST_BURST)):
                try:
                    await alone(self._leases, space, partial(self._triggers.catch_up, space))
                    wait = FIRST_WAIT
                except LeaseElsewhere as elsewhere:
                    self._written.add_later(space, elsewhere.seconds)
                except ServiceRefused as refused:  # such as a deleted space: nothing to wait for
                    self._log.warning("changes not followed", space=space, why=refused.reason)
                except ServiceUnavailable as lost:
                    self._log.warning("changes wait", space=space, reason=str(lost))
                    self._written.add(space)
                    wait = min(wait * 2, LONGEST_WAIT)
                    await asyncio.sleep(wait)
