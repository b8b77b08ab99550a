"""Reads texts in the background, so that a check finds them read (D3, D13).

Each replica keeps its own sketches, follows each space from where it had read, and stores that
place after the work: a process that dies in between reads the same texts again.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence, Set
from functools import partial

from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_dissonance.clients.graph.client import CHECKED, GraphClient
from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.domain.episodic import without_episodic
from concord_dissonance.domain.errors import ServiceRefused, ServiceUnavailable
from concord_dissonance.domain.statements import Statement
from concord_dissonance.ports.feed import Changed
from concord_dissonance.ports.sketches import SketchStore
from concord_dissonance.usecases.marked import LONGEST_BURST, QUIET, Marked
from concord_dissonance.usecases.sketches import Sketched

READ = "read what is written"
AT_ONCE = 4
"""Texts that are read in one turn of the thread, a few hundredths of a second: a caller who waits
for a judgement waits no longer for them."""
PART = 64
"""Texts that are asked for at once."""
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
        self._unread: dict[str, set[str]] = {}
        self._unknown: set[str] = set()
        """Spaces whose changes before this process's start were not looked at yet."""
        self._heard_at = 0.0

    @property
    def waiting(self) -> int:
        """How many spaces have changes that are not read yet."""
        return self._changed.count

    def holds(self, space: str) -> bool:
        """Whether a space has changes that are not read yet."""
        return self._changed.holds(space)

    def unread(self, space: str) -> int | None:
        """How many texts of a space are not read, as far as was heard; None: it is not known."""
        return None if space in self._unknown else len(self._unread.get(space, ()))

    def mark(self, space: str, ids: Set[str] | None) -> None:
        """Note that texts of a space have changed; None: any."""
        if ids is None:
            self._unknown.add(space)
        else:
            self._unread.setdefault(space, set()).update(ids)
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
            self._unknown.discard(space)
            self._unread.pop(space, None)
        except ServiceUnavailable as lost:
            self._log.warning("texts wait to be read", space=space, reason=str(lost))
            self._changed.add_later(space, AFTER_LOSS)

    async def catch_up(self, space: str) -> None:
        """Read the texts that changed since the stored place; drop the sketches of what is gone."""
        heard = frozenset(self._unread.get(space, ()))
        changed = await self._feed.changed(space, await self._store.position(space))
        there: set[str] = set()
        unread: list[str] = []
        async for page in self._pages(space, changed):
            compared = without_episodic(page)[0]
            there.update(each.id for each in compared)
            unread += await self._sketched.unread(space, compared)
        gone = {*(await self._store.ids(space) if changed.everything else changed.ids)} - there
        if gone:
            await self._store.drop(space, gone)
        self._unread.setdefault(space, set()).update(unread)
        self._note_read(space, heard.difference(unread))
        self._unknown.discard(space)
        for start in range(0, len(unread), PART):
            await self._read_part(space, unread[start : start + PART])
        await self._store.reached(space, changed.head)

    async def _pages(self, space: str, changed: Changed) -> AsyncIterator[Sequence[Statement]]:
        """The changed memories of the kinds that are checked."""
        if changed.everything:
            async for page in self._graph.memories(space):
                yield page
            return
        ids = sorted(changed.ids)
        for start in range(0, len(ids), PART):
            read = await self._graph.memories_of(space, ids[start : start + PART])
            yield [each for each in read if each.side.kind in CHECKED]

    async def _read_part(self, space: str, ids: Sequence[str]) -> None:
        memories = await self._graph.memories_of(space, ids)
        for start in range(0, len(memories), AT_ONCE):
            if asyncio.get_running_loop().time() < self._heard_at + QUIET:
                await asyncio.sleep(QUIET)  # somebody writes
            part = memories[start : start + AT_ONCE]
            await self._sketched(space, part, at_once=AT_ONCE)
            self._note_read(space, {each.id for each in part})
        self._note_read(space, {*ids})

    def _note_read(self, space: str, ids: Set[str]) -> None:
        left = self._unread.get(space, set())
        left -= ids
        if not left:
            self._unread.pop(space, None)
