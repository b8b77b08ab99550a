"""A memory's health: superseded, in conflict, long unread, unconnected, or none of these (S8)."""

from __future__ import annotations

import enum
from typing import NamedTuple

from concord_graph.domain.relevance import MICROSECONDS_PER_DAY, Access, unread_since


class HealthStatus(enum.IntEnum):
    """A memory's status is the first of these that applies; numbers as in the contract."""

    AT_RISK = 1
    STALE = 2
    ORPHAN = 3
    HEALTHY = 4


class Health(NamedTuple):
    """A status, and all reasons against HEALTHY."""

    status: HealthStatus
    reasons: tuple[str, ...] = ()


def health(
    access: Access, now: int, *, is_superseded: bool, open_conflicts: int, is_connected: bool
) -> Health:
    """Return a memory's health at `now` (µs).

    `open_conflicts`: those that were not merely found in texts. `is_connected`: it states a fact,
    or a link or lineage connects it with a live item.
    """
    found = []
    if is_superseded:
        found.append((HealthStatus.AT_RISK, "superseded"))
    if open_conflicts:
        counted = "an open conflict" if open_conflicts == 1 else f"{open_conflicts} open conflicts"
        found.append((HealthStatus.AT_RISK, counted))
    if access.last_time < unread_since(now):
        days = (now - access.last_time) // MICROSECONDS_PER_DAY
        found.append((HealthStatus.STALE, f"unread for {days} days"))
    if not is_connected:
        found.append((HealthStatus.ORPHAN, "no fact, link or lineage connects it"))
    status = found[0][0] if found else HealthStatus.HEALTHY
    return Health(status, tuple(reason for _, reason in found))
