"""How many refused attempts go on record one by one, and what tells of the rest.

Each attempt at what needs consent is an entry of a log that only grows. One caller could fill it
without end, so of each principal, space and hour the first `MOST_TOLD` stand there each by itself,
and one entry behind the hour says how many more there were. None is dropped untold.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from concord_attestation.instants import format_time

HOUR = 3_600_000_000
MOST_TOLD = 10_000


@dataclass(frozen=True, slots=True)
class Untold:
    """The attempts of one principal that an hour (µs at its beginning) had beyond those told."""

    principal: str
    kind: str
    """AGENT, HUMAN or SYSTEM; empty when that is not known."""
    hour: int
    count: int

    def __str__(self) -> str:
        """Say it as the log's reason does."""
        begin, end = (format_time(at)[:16] for at in (self.hour, self.hour + HOUR))
        return f"{self.count} more refused attempts between {begin} and {end} UTC"


@dataclass(slots=True)
class _Count:
    kind: str
    hour: int
    told: int = 0
    untold: int = 0


class Tally:
    """Refused attempts in one space, by principal, in the hour that each is in.

    It is kept as text, in the transaction of the record.
    """

    def __init__(self, text: str) -> None:
        """`text`: what was kept; empty at first."""
        found = json.loads(text) if text else {}
        self._counts = {principal: _Count(**count) for principal, count in found.items()}

    @property
    def text(self) -> str:
        """What is to be kept; empty for nothing."""
        counts = {principal: asdict(count) for principal, count in self._counts.items()}
        return json.dumps(counts, ensure_ascii=False, sort_keys=True) if counts else ""

    def is_over(self, now: int) -> bool:
        """Return whether an hour of any of them is over."""
        return any(each.hour + HOUR <= now for each in self._counts.values())

    def over(self, now: int) -> Sequence[Untold]:
        """Return what was not told of hours that are over (now in µs), and forget those hours."""
        ended = {who: each for who, each in self._counts.items() if each.hour + HOUR <= now}
        for principal in ended:
            del self._counts[principal]
        return [
            Untold(principal, each.kind, each.hour, each.untold)
            for principal, each in sorted(ended.items())
            if each.untold
        ]

    def is_told(self, principal: str, kind: str, now: int) -> bool:
        """Count an attempt; say whether it stands in the log by itself. Ask `over` before."""
        count = self._counts.setdefault(principal, _Count(kind, now // HOUR * HOUR))
        if count.told < MOST_TOLD:
            count.told += 1
            return True
        count.untold += 1
        return False
