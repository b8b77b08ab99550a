"""Takes the facts that texts of a caller state, and stores nothing (D13)."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from concord_chassis.call import deadline
from concord_chassis.server.workers import Workers

from concord_dissonance.domain.extraction.by_reading import can_read, extract
from concord_dissonance.domain.extraction.candidate import Candidate, Extracted, Said, dialogue

AT_ONCE = 16
"""Texts that are read before it looks at the clock again."""


class ExtractFacts:
    """The use case."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def __call__(self, texts: Sequence[Said]) -> Extracted:
        """Return candidates in the order of the texts; those are left that time does not reach."""
        said = dialogue(texts)
        left = deadline.remaining()
        seconds = None if left is None else left - deadline.RESERVE
        read: list[tuple[int, list[Candidate]]] = []
        try:
            async with asyncio.timeout(seconds):
                until = None if seconds is None else time.monotonic() + seconds
                await self._workers.run(_read_until, until, said, read)
        except TimeoutError:  # the thread reads on for one batch more: what it has read counts
            pass
        batches = [*read]
        found = Extracted(texts=sum(count for count, _ in batches))
        found.candidates = [each for _, batch in batches for each in batch]
        found.texts_left = len(said) - found.texts
        return found


def _read_until(
    until: float | None, said: Sequence[Said], read: list[tuple[int, list[Candidate]]]
) -> None:
    """Append the texts read and their candidates to `read`, until this time of the clock."""
    for begin in range(0, len(said), AT_ONCE):
        if until is not None and time.monotonic() >= until:
            return
        batch = said[begin : begin + AT_ONCE]
        readable = sum(map(can_read, batch))
        read.append((readable, [replace(e, text=begin + e.text) for e in extract(batch)]))
