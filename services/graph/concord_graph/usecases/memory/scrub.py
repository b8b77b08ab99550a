"""Removing erased words from the store's own files, in the background (M4)."""

from __future__ import annotations

import asyncio

from concord_graph.domain.errors import Overloaded, StoreUnavailable
from concord_graph.ports import GraphStore
from concord_graph.usecases.background import Background

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 5.0


class Scrubbing(Background):
    """Scrubs the store after each erasure, and at the start what an earlier process left."""

    def __init__(self, store: GraphStore) -> None:
        super().__init__()
        self._store = store
        self._wanted = asyncio.Event()
        self._thorough = True

    def start(self) -> None:
        """Begin, with the erasures that an earlier process left in the files."""
        self._wanted.set()
        self._begin(self._run(), "scrub")

    def wake(self) -> None:
        """Scrub once more: an item was erased."""
        self._wanted.set()

    async def _run(self) -> None:
        wait = _FIRST_WAIT
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._store.scrub(thorough=self._thorough)
            except (Overloaded, StoreUnavailable):  # a reader, or the disk, is in the way
                self._wanted.set()
                await asyncio.sleep(wait)
                wait = min(wait * 2, _LONGEST_WAIT)
            else:
                self._thorough = False
                wait = _FIRST_WAIT
