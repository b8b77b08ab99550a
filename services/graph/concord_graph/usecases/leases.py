"""Leases by graph's own clock: where several graphs serve, by that of the one that is asked."""

from __future__ import annotations

from concord_graph.domain.leases import LEASE_SECONDS, Lease, LeaseKey
from concord_graph.ports import Clock, GraphStore

_MICROSECONDS = int(LEASE_SECONDS * 1_000_000)


class Leases:
    """Who does what. Clocks that differ shorten or lengthen a lease; its number decides."""

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def acquire(self, key: LeaseKey, holder: str) -> tuple[Lease, int]:
        """Return the lease, after giving it to the holder if it may, and the time (µs)."""
        now = self._clock()
        return await self._store.acquire_lease(key, holder, now, now + _MICROSECONDS), now

    async def renew(self, key: LeaseKey, holder: str, number: int) -> bool:
        """Prolong it; return whether it still was the holder's."""
        now = self._clock()
        return await self._store.renew_lease(key, Lease(holder, number, now + _MICROSECONDS), now)
