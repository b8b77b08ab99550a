"""The recency of an item: exp(-d/S) for d days, computed at each read (spec G7)."""

from math import exp, log1p

from concord_search.domain.instants import Micros, days_between

BASE = 100.0
"""Days after which the recency of an item that was never read has fallen to 1/e."""

FLOORS = {2: 100.0, 3: 200.0}
"""The least S by importance, as the contract numbers it."""


def recency(access_count: int, last_access: Micros, importance: int, now: Micros) -> float:
    """The recency of a descriptive item, in [0, 1]; a read in the future counts as one now."""
    stability = max(BASE * (1 + log1p(access_count)), FLOORS.get(importance, 0.0))
    return exp(-days_between(last_access, now) / stability)
