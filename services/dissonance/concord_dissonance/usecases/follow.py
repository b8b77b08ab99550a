"""Follows graph's conflicts, so that proposals end with them and new findings are proposed."""

import asyncio
from contextlib import suppress

from concord_chassis.log import Logger

from concord_dissonance.domain.errors import ServiceRefused, ServiceUnavailable
from concord_dissonance.ports import ConflictFeed
from concord_dissonance.usecases.proposals import Proposals

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
TOGETHER = 0.2
"""Seconds in which changes of a space are gathered: one look at it settles them all."""

AGAIN = 15.0
"""Seconds until a space with as many proposals as may wait is looked at again: of a rejection or an
expiry no feed tells."""


class Follow:
    """The one follower. `run` it as a task and cancel that."""

    def __init__(self, feed: ConflictFeed, proposals: Proposals, log: Logger) -> None:
        self._feed, self._proposals, self._log = feed, proposals, log
        self._changed: set[str] = set()
        self._wake = asyncio.Event()
        self.is_following = False

    async def run(self) -> None:
        """Follows until cancelled, reconnecting when graph goes away."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._settle(), name="settle proposals")
            wait = FIRST_WAIT
            while True:
                try:
                    async for space in self._feed.conflict_changes():
                        wait = FIRST_WAIT
                        self._hear(space)
                except (ServiceUnavailable, ServiceRefused) as lost:
                    self._log.warning("feed lost", reason=str(lost), retry_in=wait)
                finally:
                    self.is_following = False
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_WAIT)

    def _hear(self, space: str) -> None:
        if space:
            self._changed.add(space)
            self._wake.set()
        else:
            self.is_following = True

    async def _settle(self) -> None:
        wait = FIRST_WAIT
        full: set[str] = set()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN):
                    await self._wake.wait()
                    await asyncio.sleep(TOGETHER)
            self._wake.clear()
            spaces, self._changed, full = sorted(self._changed | full), set(), set()
            for space in spaces:
                try:
                    if await self._proposals.settle(space):
                        full.add(space)
                    wait = FIRST_WAIT
                except (ServiceUnavailable, ServiceRefused) as lost:
                    self._log.warning("proposals wait", space=space, reason=str(lost))
                    self._hear(space)
                    wait = min(wait * 2, LONGEST_WAIT)
                    await asyncio.sleep(wait)
