"""Leases in the store's file; its one writer decides between concurrent callers."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import Final

from concord_graph.domain.leases import Lease, LeaseKey

_ACQUIRE: Final = (
    "INSERT INTO lease VALUES (:space, :owner, :name, :holder, 1, :until)"
    " ON CONFLICT (space, owner, name) DO UPDATE SET"
    " number = number + (until <= :now), holder = excluded.holder, until = excluded.until"
    " WHERE until <= :now OR holder = excluded.holder"
)
_READ: Final = (
    "SELECT holder, number, until FROM lease"
    " WHERE space = :space AND owner = :owner AND name = :name"
)
_RENEW: Final = (
    "UPDATE lease SET until = :until WHERE space = :space AND owner = :owner AND name = :name"
    " AND holder = :holder AND number = :number AND until > :now"
)


def acquire(db: sqlite3.Connection, key: LeaseKey, holder: str, now: int, until: int) -> Lease:
    """Give a lease to a holder unless another has it; return the lease as it is afterwards."""
    bound = {**asdict(key), "holder": holder, "now": now, "until": until}
    db.execute(_ACQUIRE, bound)
    return Lease(*db.execute(_READ, asdict(key)).fetchone())


def renew(db: sqlite3.Connection, key: LeaseKey, renewed: Lease, now: int) -> bool:
    """Prolong a lease if it is this holder's; return whether it was."""
    bound = {**asdict(key), **asdict(renewed), "now": now}
    return db.execute(_RENEW, bound).rowcount == 1
