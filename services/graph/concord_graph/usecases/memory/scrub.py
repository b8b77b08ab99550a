"""Removing erased words from the store's own files, in the background (M4)."""

from __future__ import annotations

import asyncio

from concord_graph.domain.errors import Overloaded, StoreUnavailable
from concord_graph.ports import GraphStore

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 5.0


class Scrubbing:
    """Scrubs the store after each erasure. `run` it as a task and cancel that."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._wanted = asyncio.Event()
        self._thorough = True

    def wake(self) -> None:
        """Scrub once more: an item was erased."""
        self._wanted.set()

    def wake_thoroughly(self) -> None:
        """Scrub once more, whatever the files seem to hold: somebody was forgotten whole."""
        self._thorough = True
        self._wanted.set()

    async def run(self) -> None:
        """Scrub until cancelled, first what an earlier process or run left in the files."""
        self._wanted.set()
        wait = _FIRST_WAIT
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            thorough, self._thorough = self._thorough, False
            try:
                await self._store.scrub(thorough=thorough)
            except (Overloaded, StoreUnavailable):  # a reader, or the disk, is in the way
                self._thorough |= thorough
                self._wanted.set()
                await asyncio.sleep(wait)
                wait = min(wait * 2, _LONGEST_WAIT)
            else:
                wait = _FIRST_WAIT
