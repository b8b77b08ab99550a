"""Leases in Neo4j: a node each, whose lock decides between processes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from neo4j import AsyncManagedTransaction

from concord_graph.domain.leases import Lease, LeaseKey

_KEY: Final = "{space: $space, owner: $owner, name: $name}"
_ACQUIRE: Final = (
    f"MERGE (l:ConcordLease {_KEY}) ON CREATE SET l.holder = '', l.number = 0, l.until = 0"
    " SET l.holder = l.holder"  # takes the node's lock before the read
    " WITH l, l.until <= $now AS expired"
    " SET l.number = CASE WHEN expired THEN l.number + 1 ELSE l.number END,"
    " l.holder = CASE WHEN expired THEN $holder ELSE l.holder END"
    " SET l.until = CASE WHEN l.holder = $holder THEN $until ELSE l.until END"
    " RETURN l.holder, l.number, l.until"
)
_RENEW: Final = (
    f"MATCH (l:ConcordLease {_KEY}) SET l.holder = l.holder"
    " WITH l WHERE l.holder = $holder AND l.number = $number AND l.until > $now"
    " SET l.until = $until RETURN l.number"
)


async def acquire(
    tx: AsyncManagedTransaction, key: LeaseKey, holder: str, now: int, until: int
) -> Lease:
    """Give a lease to a holder unless another has it; return the lease as it is afterwards."""
    bound = {**asdict(key), "holder": holder, "now": now, "until": until}
    found = await (await tx.run(_ACQUIRE, bound)).values()
    return Lease(*found[0])


async def renew(tx: AsyncManagedTransaction, key: LeaseKey, renewed: Lease, now: int) -> bool:
    """Prolong a lease if it is this holder's; return whether it was."""
    bound = {**asdict(key), **asdict(renewed), "now": now}
    return bool(await (await tx.run(_RENEW, bound)).values())
