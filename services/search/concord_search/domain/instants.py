"""Instants as integer microseconds since 1970 UTC: the form of all times in search."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

Micros = int
"""Microseconds since 1970-01-01 UTC."""

Clock = Callable[[], Micros]
"""Tells the time now."""

DAY: Micros = 86_400_000_000
NEVER: Micros = 1 << 62
"""Later than every instant a contract can name."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """The valid time and the record time that are asked about; None = now."""

    valid: Micros | None = None
    record: Micros | None = None

    def in_words(self) -> str:
        """Both times in words for people; empty for now."""
        words = []
        if self.valid is not None:
            words.append(f"as of {iso(self.valid)}")
        if self.record is not None:
            words.append(f"as known at {iso(self.record)}")
        return ", ".join(words)


PRESENT = AsOf()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso(instant: Micros) -> str:
    """Writes an instant as ISO 8601 in UTC, to the microsecond."""
    return (_EPOCH + timedelta(microseconds=instant)).isoformat()
