"""Spaces that wait for work, gathered until nobody writes."""

import asyncio
from collections import Counter
from contextlib import suppress

QUIET, LONGEST_BURST = 1.0, 30.0
"""Seconds without a write after which new writes are followed, so that no writer is slowed; and the
longest that a burst of writes can delay that."""


class Marked:
    """Spaces with changes that wait for their work."""

    def __init__(self) -> None:
        self._spaces: set[str] = set()
        self._taken: set[str] = set()
        self._later: Counter[str] = Counter()
        self._wake = asyncio.Event()

    @property
    def count(self) -> int:
        """How many spaces wait or are being worked on."""
        return len(self._spaces | self._taken)

    def holds(self, space: str) -> bool:
        """Whether a space waits, is being worked on, or will be marked again."""
        return space in self._spaces or space in self._taken or space in self._later

    def add(self, space: str) -> None:
        """Mark a space as having work."""
        self._spaces.add(space)
        self._wake.set()

    def add_later(self, space: str, seconds: float) -> None:
        """Mark a space again after some seconds, when another process's lease may have run out.

        If that process has died, this one then gets the lease and does the work.
        """
        self._later[space] += 1
        asyncio.get_running_loop().call_later(seconds, self._add_now, space)

    def _add_now(self, space: str) -> None:
        self._later -= Counter([space])
        self.add(space)

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
