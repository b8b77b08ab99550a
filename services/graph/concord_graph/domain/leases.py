"""Leases: one of a service's replicas does a work in a space while it renews its lease.

They go by graph's clock: of several replicas of graph, by the clock of the one called. Clocks that
differ shorten or lengthen a lease. The lease of a holder that died runs out; then the first replica
that asks becomes the holder, under a higher fencing number.
"""

from __future__ import annotations

from dataclasses import dataclass

LEASE_SECONDS = 10
"""Seconds from a lease's last renewal until another holder may take it."""


@dataclass(frozen=True, slots=True)
class LeaseKey:
    """The name of a work and its space; `owner`: the principal whose replicas do the work."""

    space: str
    owner: str
    name: str


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease's holder and end (µs). `number`, its fencing number, only grows."""

    holder: str
    number: int
    until: int

    def is_held_by(self, holder: str, now: int) -> bool:
        """Whether this holder has the lease at `now` (µs)."""
        return self.holder == holder and now < self.until
