"""Reads texts in the background, so that a check finds them read (D3, D13).

Each replica keeps its own sketches, follows each space from where it had read, and stores that
place after the work: a process that dies in between reads the same texts again.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_dissonance.clients.graph.client import CHECKED, GraphClient
from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.domain.episodic import without_episodic
from concord_dissonance.domain.errors import ServiceRefused, ServiceUnavailable
from concord_dissonance.domain.statements import Statement
from concord_dissonance.ports.sketches import SketchStore
from concord_dissonance.usecases.marked import LONGEST_BURST, QUIET, Marked
from concord_dissonance.usecases.sketches import Sketched

READ = "read what is written"
AT_ONCE = 4
"""Texts that are read in one turn of the thread, a few hundredths of a second: a caller who waits
for a judgement waits no longer for them."""
AFTER_LOSS = 5.0
"""Seconds until a space is read on after graph did not answer."""


class ReadAhead:
    """The use case. `mark` each space that changes, while `run` runs."""

    def __init__(
        self,
        *,
        graph: GraphClient,
        feed: FeedClient,
        store: SketchStore,
        sketched: Sketched,
        background: Background,
        log: Logger,
    ) -> None:
        self._graph, self._feed, self._log = graph, feed, log
        self._store, self._sketched, self._background = store, sketched, background
        self._changed = Marked()
        self._heard_at = 0.0

    @property
    def waiting(self) -> int:
        """How many spaces have changes that are not read yet."""
        return self._changed.count

    def mark(self, space: str) -> None:
        """Note that a space has changed."""
        self._heard_at = asyncio.get_running_loop().time()
        self._changed.add(space)

    async def run(self) -> None:
        """Read what changed, whenever nobody writes, until cancelled."""
        while True:
            for space in sorted(await self._changed.quiet(QUIET, LONGEST_BURST)):
                if rest := await self._background.tried(READ, space, partial(self._read, space)):
                    self._changed.add_later(space, rest)
                self._changed.done(space)

    async def _read(self, space: str) -> None:
        try:
            await self.catch_up(space)
        except ServiceRefused as refused:  # such as a deleted space
            self._log.info("texts not read", space=space, why=refused.reason)
            await self._store.drop_space(space)
        except ServiceUnavailable as lost:
            self._log.warning("texts wait to be read", space=space, reason=str(lost))
            self._changed.add_later(space, AFTER_LOSS)

    async def catch_up(self, space: str) -> None:
        """Read the texts that changed since the stored place; drop the sketches of what is gone."""
        changed = await self._feed.changed(space, await self._store.position(space))
        if changed.everything:
            there: set[str] = set()
            async for page in self._graph.memories(space):
                there |= await self._sketch(space, page)
            gone = {*await self._store.ids(space)} - there
        else:
            ids = sorted(changed.ids)
            read = await self._graph.memories_of(space, ids)
            there = await self._sketch(space, [e for e in read if e.side.kind in CHECKED])
            gone = {*ids} - there
        if gone:
            await self._store.drop(space, gone)
        await self._store.reached(space, changed.head)

    async def _sketch(self, space: str, memories: Sequence[Statement]) -> set[str]:
        compared = without_episodic(memories)[0]
        for start in range(0, len(compared), AT_ONCE):
            if asyncio.get_running_loop().time() < self._heard_at + QUIET:
                await asyncio.sleep(QUIET)  # somebody writes
            part = compared[start : start + AT_ONCE]
            await self._sketched(space, part, at_once=AT_ONCE)
        return {each.id for each in compared}
