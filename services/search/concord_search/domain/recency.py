"""How fresh an item still is: exp(-d/S), computed at read (spec G7)."""

from math import exp, log1p

from concord_search.domain.instants import Micros, days_between

BASE = 100.0
"""Days after which what was never read has fallen to 1/e."""

FLOORS = {2: 100.0, 3: 200.0}
"""The least S by importance, as the contract numbers it."""


def recency(access_count: int, last_access: Micros, importance: int, now: Micros) -> float:
    """R of a descriptive item, in [0, 1]; a read in the future counts as one of now."""
    stability = max(BASE * (1 + log1p(access_count)), FLOORS.get(importance, 0.0))
    return exp(-days_between(last_access, now) / stability)
