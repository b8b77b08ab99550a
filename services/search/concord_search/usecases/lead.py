"""Has one alone of search's replicas write the index that they share on a server (S10).

The one with graph's lease leads: it follows the feed, scrubs and builds further versions. The
others stand by: they answer from the same points, and hear of changes only to know how far graph
is. If the leader dies, its lease runs out 10 seconds after its last renewal, and another one takes
over. Every write ends with the lease under which it began; see services/decisions/0126.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from concord_chassis.server.background import Work

from concord_search.domain.errors import (
    GraphRefused,
    GraphUnavailable,
    IndexDiskFull,
    IndexUnavailable,
    reason_of,
)
from concord_search.ports.graph import Lease, Leases
from concord_search.ports.index import SharedIndex
from concord_search.usecases.space_follower import FIRST_WAIT, LONGEST_WAIT, FollowerContext

LEAD = "lead or stand by"
"""The name of the task that does it."""
RENEW_EVERY = 3.0
"""Seconds. A lease lasts for 10, so two renewals may fail."""
ASK_EVERY = 1.0
"""Seconds between two questions for another one's lease, and for what it made."""

_AWAY = (GraphUnavailable, GraphRefused, IndexUnavailable, IndexDiskFull)


class Lead:
    """The task. `run` it and cancel that.

    `works` gives what the leader does, by the tasks' names; its first one ends only when the index
    is damaged. `on_end` runs once it no longer leads.
    """

    def __init__(
        self,
        context: FollowerContext,
        index: SharedIndex,
        leases: Leases,
        works: Callable[[], Mapping[str, Work]],
        on_end: Work,
    ) -> None:
        self._context = context
        self._index = index
        self._leases = leases
        self._works = works
        self._on_end = on_end

    async def run(self) -> None:
        """Leads while it has the lease, and stands by else, until cancelled.

        Ends by itself only when the index is damaged; `Progress.broken` then says why.
        """
        background, progress = self._context.background, self._context.progress
        progress.stands_by = True
        while progress.broken is None:
            lease = await self._asked()
            if not lease.is_ours:
                await background.together(
                    {"stand by": self._stand_by, "wait for the lease": self._wait}
                )
                continue
            self._hold(lease, time.monotonic())
            try:
                renew = partial(self._renew, lease)
                await background.together({"renew the lease": renew, "lead": self._lead})
            finally:
                progress.stands_by = True
                await self._index.stand_by()
                await self._on_end()

    def _hold(self, lease: Lease, since: float) -> None:
        self._index.hold(since + lease.remaining)

    async def _asked(self) -> Lease:
        """The lease as it is now; somebody else's where graph does not say."""
        asked = time.monotonic()
        try:
            lease = await self._leases.acquire(self._index.name, self._index.holder)
        except (GraphUnavailable, GraphRefused):
            return Lease(is_ours=False, number=0, remaining=0.0)
        passed = time.monotonic() - asked
        return Lease(lease.is_ours, lease.number, lease.remaining - passed)

    async def _wait(self) -> None:
        while not (await self._asked()).is_ours:  # noqa: ASYNC110 - it is asked anew
            await asyncio.sleep(ASK_EVERY)

    async def _renew(self, lease: Lease) -> None:
        """Prolongs the lease until it is lost."""
        until = time.monotonic() + lease.remaining
        while (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(RENEW_EVERY, left))
            asked = time.monotonic()
            with suppress(GraphUnavailable):  # until it runs out, it stays ours
                name, holder = self._index.name, self._index.holder
                if not await self._leases.prolong(name, holder, lease.number):
                    return
                self._hold(lease, asked)
                until = asked + lease.remaining

    async def _lead(self) -> None:
        """Takes over what another one wrote, then does the leader's works."""
        background, wait = self._context.background, FIRST_WAIT
        while True:
            try:
                await self._index.lead()
                break
            except _AWAY as lost:
                self._note(lost, wait)
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)
        self._context.progress.stands_by = False
        self._context.log.info("leads", index=self._index.name)
        first, *others = self._works().items()
        kept = {name: partial(self._kept, name, work) for name, work in others}
        await background.together({first[0]: partial(background.keep, *first)} | kept)

    async def _kept(self, name: str, work: Work) -> None:
        """Does a work that may end, such as one of a damaged index, and then waits."""
        await self._context.background.keep(name, work)
        await asyncio.Event().wait()

    # Standing by

    async def _stand_by(self) -> None:
        wait = FIRST_WAIT
        while True:
            started = time.monotonic()
            try:
                await self._hear()
            except* _AWAY as lost:
                self._note(lost, wait)
            self._context.progress.following = False
            wait = FIRST_WAIT if time.monotonic() - started > LONGEST_WAIT else wait
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)

    def _note(self, lost: BaseException, wait: float) -> None:
        errors = lost.exceptions if isinstance(lost, BaseExceptionGroup) else (lost,)
        if any(isinstance(each, IndexUnavailable) for each in errors):
            self._context.progress.index_lost = reason_of(lost)
        self._context.log.warning("stands by", reason=reason_of(lost), retry_in=wait)

    async def _hear(self) -> None:
        """Hears how far graph is in each space, until the feed or the server breaks."""
        progress, graph = self._context.progress, self._context.graph
        await self._index.open(progress.on_part)
        await self._index.renew()
        store = await graph.partitions({})
        progress.epoch, progress.index_lost = store.epoch, ""
        progress.following = True
        async with asyncio.TaskGroup() as group:
            looking = self._context.background.keep("look for spaces", self._look, passing=_AWAY)
            group.create_task(looking)
            async for changes in graph.watch(dict(enumerate(store.heads))):
                if changes.epoch != store.epoch:
                    raise GraphUnavailable("the store behind the feed was replaced")
                if changes.changes:
                    progress.heard(changes.space, changes.head_seq)
            raise GraphUnavailable("the feed ended")

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(ASK_EVERY)
            await self._index.renew()
            await self._index.check()
