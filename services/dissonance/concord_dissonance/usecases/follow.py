"""Follows graph's changes: settles proposals, and checks new writes.

Every replica of dissonance hears the feed; the one with a space's lease does the work. If it dies,
another one takes the lease once it has run out (`Marked.add_later`).
"""

import asyncio
from functools import partial

from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.domain.errors import LeaseElsewhere, ServiceRefused, ServiceUnavailable
from concord_dissonance.ports.feed import Heard
from concord_dissonance.usecases.amendments import Amendments
from concord_dissonance.usecases.lease import alone
from concord_dissonance.usecases.marked import LONGEST_BURST, QUIET, Marked
from concord_dissonance.usecases.proposals import Proposals
from concord_dissonance.usecases.read_ahead import ReadAhead
from concord_dissonance.usecases.triggers import Triggers

SETTLE, CHECK = "settle proposals", "check what is written"
"""The names of the two tasks that work on spaces."""
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
TOGETHER = 0.2
"""Seconds in which a space's changes are gathered, to be settled together."""

AGAIN = 15.0
"""Seconds until a space whose proposals or suggestions have reached their limit is looked at again:
no feed reports a rejection or an expiry."""


class Follow:
    """Follows the feed, and works on spaces whose leases it gets.

    `mark` what is heard; run `settle` and `catch_up` as tasks and cancel these.
    """

    def __init__(
        self,
        *,
        feed: FeedClient,
        proposals: Proposals,
        amendments: Amendments,
        triggers: Triggers,
        read_ahead: ReadAhead,
        background: Background,
        log: Logger,
    ) -> None:
        self._feed, self._background, self._log = feed, background, log
        self._proposals, self._amendments = proposals, amendments
        self._triggers, self._read_ahead = triggers, read_ahead
        self._disputed, self._written = Marked(), Marked()
        self._full: set[str] = set()
        """Spaces whose proposals have reached their limit."""
        self._settle_wait = self._check_wait = FIRST_WAIT

    @property
    def waiting(self) -> int:
        """How many spaces have changes whose work is not done yet."""
        return max(self._disputed.count, self._written.count, self._read_ahead.waiting)

    def is_open(self, space: str) -> bool:
        """Whether a space has work that is not done, or waits for a place."""
        marks = (self._disputed, self._written, self._read_ahead)
        waits = space in self._full or space in self._amendments.without_place
        return waits or any(each.holds(space) for each in marks)

    def mark(self, heard: Heard) -> None:
        """Note the work of a changed space."""
        if heard.conflicts:
            self._disputed.add(heard.space)
        if heard.triggers:
            self._written.add(heard.space)
        if heard.texts or heard.texts is None:
            self._read_ahead.mark(heard.space, heard.texts)

    async def settle(self) -> None:
        """Settle the proposals of conflicts that were heard of, and suggest what waits for a place,
        until cancelled."""
        while True:
            heard = await self._disputed.taken(TOGETHER, AGAIN)
            for space in sorted(heard | self._full | self._amendments.without_place):
                if rest := await self._background.tried(
                    SETTLE, space, partial(self._settle, space)
                ):
                    self._disputed.add_later(space, rest)
                self._disputed.done(space)

    async def _settle(self, space: str) -> None:
        self._full.discard(space)
        try:
            if await alone(self._feed, space, partial(self._settled, space)):
                self._full.add(space)
            self._settle_wait = FIRST_WAIT
        except LeaseElsewhere as elsewhere:
            self._disputed.add_later(space, elsewhere.seconds)
        except (ServiceUnavailable, ServiceRefused) as lost:
            self._log.warning("proposals wait", space=space, reason=str(lost))
            self._disputed.add(space)
            self._settle_wait = min(self._settle_wait * 2, LONGEST_WAIT)
            await asyncio.sleep(self._settle_wait)

    async def _settled(self, space: str) -> bool:
        is_full = await self._proposals.settle(space)
        await self._amendments.come_up(space)
        return is_full

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
