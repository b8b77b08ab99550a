"""Hears of graph's changes, of all partitions in one stream, and marks the spaces that have work.

This process keeps up to which change of each partition all work is done, by it or by the replica
that had the space's lease. What comes again after a death is worked on again, which records and
proposes nothing twice. Spaces of a partition of which nothing is kept, or of another store, are all
marked.
"""

import asyncio
from collections.abc import Callable, Mapping, Set
from functools import partial

from concord_chassis.channel.cursors import START, Cursor, PartitionCursors
from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.domain.errors import ServiceRefused, ServiceUnavailable
from concord_dissonance.ports.feed import Heard, Store
from concord_dissonance.ports.sketches import SketchStore

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
COMPARE_EVERY = 5.0
"""Seconds between two questions to graph whether it has what was heard last."""
KEEP_EVERY = 2.0
"""Seconds between two writes of what is kept, if it changed."""


class Hear:
    """The task. `run` it and cancel that.

    `mark` gets each space that may have work, in the same turn of the loop in which it counts as
    open; `is_open` says whether its work is not done yet.
    """

    def __init__(
        self,
        *,
        feed: FeedClient,
        store: SketchStore,
        mark: Callable[[Heard], None],
        is_open: Callable[[str], bool],
        background: Background,
        log: Logger,
    ) -> None:
        self._feed, self._store, self._background, self._log = feed, store, background, log
        self._mark, self._is_open = mark, is_open
        self._cursors = PartitionCursors({})
        self._kept: tuple[Mapping[int, Cursor], Set[str]] = ({}, frozenset())
        self.in_use: set[str] = set()
        """Spaces in which a session may be open: something was written or read there."""
        self.is_following = False

    async def run(self) -> None:
        """Hear of changes until cancelled, reconnecting when graph goes away."""
        wait = FIRST_WAIT
        while True:
            started = asyncio.get_running_loop().time()
            try:
                await self._follow()
            except (ServiceUnavailable, ServiceRefused) as lost:
                self._log.warning("feed lost", reason=str(lost), retry_in=wait)
            finally:
                self.is_following = False
                await self._keep_changed()
            lasted = asyncio.get_running_loop().time() - started
            wait = FIRST_WAIT if lasted > LONGEST_WAIT else min(wait * 2, LONGEST_WAIT)
            await asyncio.sleep(wait)

    async def _follow(self) -> None:
        """Follow over one connection, until it breaks or the store is another one."""
        if not self._cursors.newest:
            cursors, in_use = await self._store.heard()
            self._cursors, self._kept = PartitionCursors(cursors), (cursors, in_use)
            self.in_use |= in_use
        store = await self._feed.partitions(self._cursors.newest)
        start = await self._start(store)
        await self._background.together(
            {
                "hear of graph's changes": partial(self._hear, store, start),
                "compare with graph": partial(self._compare, store.epoch),
                "keep cursors": self._keep,
            }
        )

    async def _start(self, store: Store) -> Mapping[int, Cursor]:
        """Mark every space of partitions of which nothing is known; return where to go on."""
        done, known = self._cursors.done(self._is_open), self._cursors.newest
        start: dict[int, Cursor] = {}
        marked: dict[str, int] = {}
        for each, head in enumerate(store.heads):
            if each in known and each not in store.lacking:
                start[each] = done.get(each, START)
                continue
            self._cursors.forget(each)
            start[each] = head
            async for page in self._feed.spaces(each):
                marked |= dict.fromkeys(page, each)
        self._cursors.begin(start)
        for space, partition in marked.items():
            self.in_use.add(space)
            self._mark(Heard(space))
            self._cursors.open(partition, space)
        return start

    async def _hear(self, store: Store, start: Mapping[int, Cursor]) -> None:
        """Graph counts as followed once all that it had at the beginning was heard of."""
        behind = {p for p, head in enumerate(store.heads) if start[p].number < head.number}
        self.is_following = not behind
        async for heard in self._feed.heard(start):
            partition, through = heard.partition, heard.through
            if heard.space:
                self.in_use.add(heard.space)
                self._mark(heard)
            self._cursors.hear(partition, heard.space, through)
            if partition in behind and through and through.number >= store.heads[partition].number:
                behind.discard(partition)
                self.is_following = not behind
        raise ServiceUnavailable("graph", "the feed ended")

    async def _compare(self, epoch: str) -> None:
        while True:
            await asyncio.sleep(COMPARE_EVERY)
            store = await self._feed.partitions(self._cursors.newest)
            if store.epoch != epoch or store.lacking:
                raise ServiceUnavailable("graph", "the store behind the feed was replaced")

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(KEEP_EVERY)
            await self._keep_changed()

    async def _keep_changed(self) -> None:
        kept = (self._cursors.done(self._is_open), frozenset(self.in_use))
        if kept != self._kept:
            await self._store.keep_heard(*kept)
            self._kept = kept
