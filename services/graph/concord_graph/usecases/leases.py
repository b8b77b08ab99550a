"""Leases by graph's clock: of several replicas of graph, by the clock of the one called."""

from __future__ import annotations

from concord_graph.domain.leases import LEASE_SECONDS, Lease, LeaseKey
from concord_graph.ports import Clock, GraphStore

_MICROSECONDS = int(LEASE_SECONDS * 1_000_000)


class Leases:
    """Acquires and renews leases. Clocks that differ shorten or lengthen a lease.

    The lease of a holder that died runs out after LEASE_SECONDS. Then the first replica that asks
    becomes the holder, under a higher fencing number.
    """

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def acquire(self, key: LeaseKey, holder: str) -> tuple[Lease, int]:
        """Give the lease to this holder if it is free; return the lease and the time (µs)."""
        now = self._clock()
        return await self._store.acquire_lease(key, holder, now, now + _MICROSECONDS), now

    async def renew(self, key: LeaseKey, holder: str, number: int) -> bool:
        """Prolong the lease by LEASE_SECONDS; return False if this holder had lost it."""
        now = self._clock()
        return await self._store.renew_lease(key, Lease(holder, number, now + _MICROSECONDS), now)
