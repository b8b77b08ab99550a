"""Follows graph's changes: settles the proposals of conflicts, and checks new writes.

Every replica of dissonance hears the feed; the one with a space's lease does the work. If it dies,
another one takes the lease once it has run out (`Marked.add_later`).
"""

import asyncio
from contextlib import suppress
from functools import partial

from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.domain.errors import LeaseElsewhere, ServiceRefused, ServiceUnavailable
from concord_dissonance.ports.feed import Heard
from concord_dissonance.usecases.lease import alone
from concord_dissonance.usecases.proposals import Proposals
from concord_dissonance.usecases.triggers import Triggers

SETTLE, CHECK = "settle proposals", "check what is written"
"""The names of the two tasks that work on spaces."""
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
        self._begin()
        with suppress(TimeoutError):
            async with asyncio.timeout(longest):
                await self._wake.wait()
                await asyncio.sleep(gather)
        return self._take()

    async def quiet(self, gather: float, longest: float) -> set[str]:
        """Wait for a space, then until `gather` seconds pass without another, and take them all.

        It waits `longest` seconds at most after the first one.
        """
        self._begin()
        await self._wake.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(longest):
                while self._wake.is_set():
                    self._wake.clear()
                    await asyncio.sleep(gather)
        return self._take()

    def done(self, space: str) -> None:
        """Note that the work on a space that was taken has ended: it is not marked again."""
        self._taken.discard(space)

    def _begin(self) -> None:
        """Mark the spaces again whose work did not end: the task that did it died."""
        if self._taken:
            self._spaces |= self._taken
            self._wake.set()

    def _take(self) -> set[str]:
        self._wake.clear()
        self._taken, self._spaces = self._spaces, set()
        return self._taken


class Follow:
    """Follows the feed, and works on spaces whose leases it gets.

    Run `hear`, `settle` and `catch_up` as tasks and cancel these.
    """

    def __init__(
        self,
        *,
        feed: FeedClient,
        proposals: Proposals,
        triggers: Triggers,
        background: Background,
        log: Logger,
    ) -> None:
        self._feed, self._background, self._log = feed, background, log
        self._proposals, self._triggers = proposals, triggers
        self._disputed, self._written = Marked(), Marked()
        self._full: set[str] = set()
        """Spaces whose proposals have reached their limit."""
        self._settle_wait = self._check_wait = FIRST_WAIT
        self.is_following = False

    @property
    def waiting(self) -> int:
        """How many spaces have changes whose work is not done yet."""
        return max(self._disputed.count, self._written.count)

    async def hear(self) -> None:
        """Hear of changes until cancelled, reconnecting when graph goes away."""
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

    async def settle(self) -> None:
        """Settle the proposals of conflicts that were heard of, until cancelled."""
        while True:
            for space in sorted(await self._disputed.taken(TOGETHER, AGAIN) | self._full):
                if rest := await self._background.tried(
                    SETTLE, space, partial(self._settle, space)
                ):
                    self._disputed.add_later(space, rest)
                self._disputed.done(space)

    async def _settle(self, space: str) -> None:
        self._full.discard(space)
        try:
            if await alone(self._feed, space, partial(self._proposals.settle, space)):
                self._full.add(space)
            self._settle_wait = FIRST_WAIT
        except LeaseElsewhere as elsewhere:
            self._disputed.add_later(space, elsewhere.seconds)
        except (ServiceUnavailable, ServiceRefused) as lost:
            self._log.warning("proposals wait", space=space, reason=str(lost))
            self._disputed.add(space)
            self._settle_wait = min(self._settle_wait * 2, LONGEST_WAIT)
            await asyncio.sleep(self._settle_wait)

    async def catch_up(self) -> None:
        """Check what was written, until cancelled."""
        while True:
            for space in sorted(await self._written.quiet(QUIET, LONGEST_BURST)):
                if rest := await self._background.tried(CHECK, space, partial(self._check, space)):
                    self._written.add_later(space, rest)
                self._written.done(space)

    async def _check(self, space: str) -> None:
        try:
            await alone(self._feed, space, partial(self._triggers.catch_up, space))
            self._check_wait = FIRST_WAIT
        except LeaseElsewhere as elsewhere:
            self._written.add_later(space, elsewhere.seconds)
        except ServiceRefused as refused:  # such as a deleted space: no use to wait
            self._log.warning("changes not followed", space=space, why=refused.reason)
        except ServiceUnavailable as lost:
            self._log.warning("changes wait", space=space, reason=str(lost))
            self._written.add(space)
            self._check_wait = min(self._check_wait * 2, LONGEST_WAIT)
            await asyncio.sleep(self._check_wait)
