"""The ledger's labels, with their constraints and indexes.

`ConcordLedger` is a space's head: its counters, and the lock that its one writer holds. Every label
begins with a prefix that callers' labels may not have (concord_stores.neo4j_server.RESERVED). So
the ledger can share graph's database, and no node of graph is ever taken for one of the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from concord_stores import neo4j_server
from neo4j import AsyncSession

VERSION = 6
STAMP = "concord-ledger"

_UNIQUE = {
    "ledger": ("ConcordLedger", "space"),
    "ledger_proposal": ("ConcordProposal", "space", "id"),
    "ledger_proposal_number": ("ConcordProposal", "space", "number"),
    "ledger_revision": ("ConcordRevision", "space", "proposal_id", "revision"),
    "ledger_affected": ("ConcordAffected", "space", "id"),
    "ledger_consent": ("ConcordConsent", "space", "proposal_id", "revision", "slot", "nonce"),
    "ledger_nonce": ("ConcordNonce", "space", "nonce"),
    "ledger_unconfirmed": ("ConcordUnconfirmed", "space", "memory_id"),
    "ledger_request": ("ConcordRequest", "space", "principal", "method", "request_id"),
    "ledger_leaf": ("ConcordLeaf", "space", "place"),
    "ledger_subtree": ("ConcordSubtree", "space", "level", "place"),
    "ledger_feed_partition": ("ConcordFeedPartition", "partition"),
    "access_space": ("ConcordSpace", "name"),
    "access_key": ("ConcordKey", "digest"),
    "access_key_id": ("ConcordKey", "id"),
    "access_sign_in": ("ConcordSignIn", "digest"),
}
_INDEXED = {
    "ledger_standing": ("ConcordProposal", "space", "status", "expire_time"),
    "ledger_waiting": ("ConcordProposal", "status", "expire_time"),
    "ledger_request_age": ("ConcordRequest", "space", "create_time"),
    "ledger_leaf_item": ("ConcordLeaf", "space", "item_id", "place"),
    "ledger_leaf_proposal": ("ConcordLeaf", "space", "proposal_id", "place"),
    "access_space_deleted": ("ConcordSpace", "delete_time"),
    "access_key_space": ("ConcordKey", "space", "create_time"),
    "access_sign_in_key": ("ConcordSignIn", "key_id"),
    "access_sign_in_end": ("ConcordSignIn", "expire_time"),
}


_CONVERSIONS: Mapping[int, Sequence[str]] = {5: ()}  # it lacks the feed's partitions


async def prepare(session: AsyncSession, *, restoring: bool = False) -> str:
    """Apply the missing parts of the schema; return the ledger's epoch.

    Raises:
        ServerUnusable: the database is another program's, or of a newer Concord, or half restored.
    """
    return await neo4j_server.prepare(
        session, STAMP, VERSION, statements(), conversions=_CONVERSIONS, restoring=restoring
    )


def statements() -> list[str]:
    """Return the statements that make the schema; each may run again."""
    return [
        neo4j_server.STAMP,
        *(neo4j_server.unique(name, *keys) for name, keys in _UNIQUE.items()),
        *(neo4j_server.indexed(name, *keys) for name, keys in _INDEXED.items()),
    ]
