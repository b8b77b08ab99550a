"""Follows graph's changes: settles the proposals of conflicts, and checks new writes.

Every replica of dissonance hears the feed; the one with a space's lease does the work. If it dies,
another one takes the lease once it has run out (`Marked.add_later`).
"""

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
"""Seconds in which a space's changes are gathered, to be settled together."""

QUIET, LONGEST_BURST = 1.0, 30.0
"""Seconds without a write after which new writes are followed, so that no writer is slowed; and the
longest that a burst of writes can delay that."""

AGAIN = 15.0
"""Seconds until a space whose proposals have reached their limit is looked at again: no feed
reports a rejection or an expiry."""


class Marked:
    """Spaces with changes that wait for their work."""

    def __init__(self) -> None:
        self._spaces: set[str] = set()
        self._taken: set[str] = set()
        self._wake = asyncio.Event()

    @property
    def count(self) -> int:
        """How many spaces wait or are being worked on."""
        return len(self._spaces | self._taken)

    def add(self, space: str) -> None:
        """Mark a space as having work."""
        self._spaces.add(space)
        self._wake.set()

    def add_later(self, space: str, seconds: float) -> None:
        """Mark a space again after some seconds, when another process's lease may have run out.

        If that process has died, this one then gets the lease and does the work.
        """
        asyncio.get_running_loop().call_later(seconds, self.add, space)

    async def taken(self, gather: float, longest: float | None = None) -> set[str]:
        """Wait for a space, gather more for `gather` seconds, and take them all.

        Return no space if none was added within `longest` seconds (None: wait for ever).
        """
        self._taken = set()
        with suppress(TimeoutError):
            async with asyncio.timeout(longest):
                await self._wake.wait()
                await asyncio.sleep(gather)
        return self._take()

    async def quiet(self, gather: float, longest: float) -> set[str]:
        """Wait for a space, then until `gather` seconds pass without another, and take them all.

        It waits `longest` seconds at most after the first one.
        """
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
    """Follows the feed, and works on spaces whose leases it gets.

    `run` it as a task and cancel that.
    """

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
        """How many spaces have changes whose work is not done yet."""
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
                except ServiceRefused as refused:  # such as a deleted space: no use to wait
                    self._log.warning("changes not followed", space=space, why=refused.reason)
                except ServiceUnavailable as lost:
                    self._log.warning("changes wait", space=space, reason=str(lost))
                    self._written.add(space)
                    wait = min(wait * 2, LONGEST_WAIT)
                    await asyncio.sleep(wait)
