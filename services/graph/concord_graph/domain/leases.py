"""Leases: of a service's replicas one does a work in a space, for as long as it renews."""

from __future__ import annotations

from dataclasses import dataclass

LEASE_SECONDS = 10.0
"""From its last renewal until another holder may take it."""


@dataclass(frozen=True, slots=True)
class LeaseKey:
    """Which work, where; `owner` is the principal whose replicas do it."""

    space: str
    owner: str
    name: str


@dataclass(frozen=True, slots=True)
class Lease:
    """Who has it until when (µs). `number` never repeats and only grows."""

    holder: str
    number: int
    until: int

    def is_held_by(self, holder: str, now: int) -> bool:
        """Whether it is this holder's now."""
        return self.holder == holder and now < self.until
