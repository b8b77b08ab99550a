"""Waiting for changes of some partitions: the same for every store."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping


class Passed:
    """The newest number of each partition, as far as it is known here, and who waits for more."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = defaultdict(int)
        self._waiting: dict[int, set[asyncio.Event]] = defaultdict(set)

    def note(self, partition: int, number: int) -> None:
        """Take in a partition's number, and wake who waits for a change of it."""
        if number > self._numbers[partition]:
            self._numbers[partition] = number
            for waiter in self._waiting[partition]:
                waiter.set()

    def ahead(self, numbers: Mapping[int, int]) -> Collection[int]:
        """Return those of some partitions that have changes after a number."""
        return [each for each, number in numbers.items() if self._numbers[each] > number]

    async def change(self, partitions: Collection[int], seconds: float | None = None) -> bool:
        """Return whether any of some partitions got a change within so many seconds."""
        waiter = asyncio.Event()
        for each in partitions:
            self._waiting[each].add(waiter)
        try:
            async with asyncio.timeout(seconds):
                return await waiter.wait()
        except TimeoutError:
            return False
        finally:
            for each in partitions:
                self._waiting[each].discard(waiter)
