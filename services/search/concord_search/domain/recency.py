"""The recency of an item: exp(-d/S) for d days, computed at each read (spec G7)."""

import numpy as np

from concord_search.domain.candidates import Floats, Ints
from concord_search.domain.instants import DAY, Micros

BASE = 100.0
"""Days after which the recency of an item that was never read has fallen to 1/e."""

FLOORS = {2: 100.0, 3: 200.0}
"""The least S by importance, as the contract numbers it."""


def recency(access_count: Ints, last_access: Ints, importance: Ints, now: Micros) -> Floats:
    """The recency of descriptive items, in [0, 1]; a read in the future counts as one now."""
    least = np.array([FLOORS.get(each, 0.0) for each in importance.tolist()])
    stability = np.maximum(BASE * (1 + np.log1p(access_count)), least)
    fresh: Floats = np.exp(-np.maximum(0, now - last_access) / DAY / stability)
    return fresh
