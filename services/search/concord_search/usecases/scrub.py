"""Removes erased memories from the index's files, and confirms that to graph (spec M4).

The follower drops an erased memory's points at once, so that no search finds them, but the engine's
files still have their bytes. This task rewrites the files without them, while searches go on: once
for all spaces that share them. It then confirms the erasure's receipt. If a process ends earlier,
the next one goes on. Erasures wait while another version of the space's index is built, since its
follower may still write the erased memory.
"""

import asyncio
from functools import partial

from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_search.domain.errors import (
    GraphRefused,
    GraphUnavailable,
    IndexCorrupt,
    IndexDiskFull,
    IndexUnavailable,
    SearchError,
)
from concord_search.ports.graph import Feed
from concord_search.ports.index import Index, Version

SCRUB = "scrub erased memories"
"""The name of the task that does it."""
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0


class Scrub:
    """Rewrites the index's files after erasures. `run` it as a task and cancel that."""

    def __init__(self, *, graph: Feed, index: Index, background: Background, log: Logger) -> None:
        self._background = background
        self._graph = graph
        self._index = index
        self._log = log
        self._wanted = asyncio.Event()

    def wake(self) -> None:
        """Starts a scrub: a memory was erased, or a version is no longer being built."""
        self._wanted.set()

    async def run(self) -> None:
        """Works until cancelled. Ends by itself only when the index is damaged."""
        wait = FIRST_WAIT
        self._wanted.set()  # an earlier process, or one's death, may have left erasures unconfirmed
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            rest = 0.0
            try:
                rest = await self._scrub_all()
            except (GraphUnavailable, IndexDiskFull, IndexUnavailable) as lost:
                self._log.warning("erasure not confirmed", reason=str(lost), retry_in=wait)
            except IndexCorrupt as damaged:
                self._log.error("index damaged", reason=str(damaged))
                return
            else:
                wait = FIRST_WAIT
                if not rest:
                    continue
            self._wanted.set()
            await asyncio.sleep(max(wait, rest))
            wait = min(wait * 2, LONGEST_WAIT)

    async def _scrub_all(self) -> float:
        """Scrubs all spaces; returns seconds until one in which a bug came between; 0.0: none."""
        rest = 0.0
        for space in await self._index.unconfirmed():
            if await self._index.state(space, Version.NEXT) is None:
                scrub = partial(self._scrub, space)
                died = await self._background.tried(SCRUB, space, scrub, passing=(SearchError,))
                rest = max(rest, died)
        await self._index.scrub_removed()
        return rest

    async def _scrub(self, space: str) -> None:
        """Rewrites a space's files, and confirms the erasures that came before that."""
        ids = await self._index.scrub(space)
        for memory_id in ids:
            try:
                await self._graph.confirm_erase(space, memory_id)
            except GraphRefused as error:  # no receipt waits for this confirmation
                self._log.warning("confirmation refused", memory=memory_id, reason=str(error))
        await self._index.confirmed(space, ids)
