"""The number of refused attempts of one principal that go on record in an hour.

Each attempt without the consent that it needs is an entry of a log that only grows, and one caller
could fill it without end. So in each space only the first `MOST_REFUSALS` of a principal's clock
hour become entries. Then one entry says that the limit was reached, and until the hour is over the
principal's writes are refused before they begin. The counts are in the process: a restart begins
anew, and graph and governance count apart.
"""

from __future__ import annotations

HOUR = 3_600_000_000
MOST_REFUSALS = 1_000
REASON = "ERROR_REASON_TOO_MANY_REFUSALS"
"""The reason in the entry about the reached limit."""


class RefusalLimit:
    """Counts refused attempts by space and principal in the current clock hour."""

    def __init__(self) -> None:
        self._hour = 0
        self._counts: dict[tuple[str, str], int] = {}

    def wait(self, space: str, principal: str, now: int) -> float:
        """Return the seconds from `now` (µs) for which a principal's writes are refused, or 0."""
        self._turn(now)
        if self._counts.get((space, principal), 0) < MOST_REFUSALS:
            return 0.0
        return (self._hour + HOUR - now) / 1_000_000

    def entries(self, space: str, principal: str, now: int) -> tuple[bool, bool]:
        """Count an attempt. Return whether it becomes an entry, and whether the entry about the
        limit follows it."""
        self._turn(now)
        count = self._counts[space, principal] = self._counts.get((space, principal), 0) + 1
        return count <= MOST_REFUSALS, count == MOST_REFUSALS

    def _turn(self, now: int) -> None:
        if (hour := now // HOUR * HOUR) > self._hour:
            self._hour = hour
            self._counts.clear()
