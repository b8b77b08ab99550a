"""An item's relevance, and its default importance (spec G7, G8).

Relevance is Ebbinghaus' forgetting curve with a strength that grows with reading:

    S = 100 · (1 + ln(1 + access_count)) days, at least the importance's floor
    relevance = exp(−days since last access / S); constitutive: exactly 1
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from concord_graph.domain.items import EdgeType, Importance

BASE_STRENGTH_DAYS = 100.0
STRENGTH_FLOOR_DAYS = {Importance.LOW: 0.0, Importance.MEDIUM: 100.0, Importance.HIGH: 200.0}
UNREAD_DAYS = 90
MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Access:
    """An item's last read (µs) and number of reads; the create time and 0 when it has none."""

    last_time: int
    count: int


def relevance(edge_type: EdgeType, importance: Importance, access: Access, now: int) -> float:
    """Return the relevance in [0, 1] at `now` (µs). A last access in the future counts as now."""
    if edge_type == EdgeType.CONSTITUTIVE:
        return 1.0
    days = max(0, now - access.last_time) / MICROSECONDS_PER_DAY
    strength = BASE_STRENGTH_DAYS * (1 + math.log1p(max(0, access.count)))
    strength = max(strength, STRENGTH_FLOOR_DAYS.get(importance, 0.0))
    return min(1.0, math.exp(-days / strength))


def unread_since(now: int) -> int:
    """Return an instant (µs); an item that was last read before it is long unread (G8)."""
    return now - UNREAD_DAYS * MICROSECONDS_PER_DAY


def default_importance(
    stated: Importance,
    *,
    edge_type: EdgeType,
    near_constitutive: bool,
    access: Access,
    now: int,
) -> Importance:
    """Return the importance as set, else by the default rule.

    `near_constitutive`: the item touches one that has a constitutive edge.
    """
    if stated != Importance.UNSET:
        return stated
    if near_constitutive or edge_type == EdgeType.RESOLUTION:
        return Importance.HIGH
    if access.last_time < unread_since(now):
        return Importance.LOW
    return Importance.MEDIUM
