"""Constraints and indexes, applied on start and stamped with a version.

A label that only some nodes carry makes its index a partial one: `Edge` is on live edges alone,
`Lineage` on those that are lineage. So does a property that only some have, as `exit_of`. The
statement that writes a node sets its labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from concord_stores import neo4j_server
from neo4j import AsyncSession

VERSION = 19

_UNIQUE: Mapping[str, tuple[str, ...]] = {
    "item": ("Item", "space", "id"),
    "memory_external": ("Item", "space", "external_id"),
    "entity_name": ("Entity", "space", "name"),
    "edge_triple": ("Edge", "space", "source_id", "relation", "target_id", "effective_from"),
    "node_revision": ("NodeVersion", "space", "id", "revision"),
    "edge_revision": ("EdgeVersion", "space", "id", "revision"),
    "memory_revision": ("MemoryVersion", "space", "id", "revision"),
    "relation_revision": ("RelationVersion", "space", "id", "revision"),
    "relation": ("Relation", "space", "name"),
    "support": ("Support", "space", "memory_id", "place"),
    "standing": ("Standing", "space", "id"),
    "participation": ("Participation", "space", "name", "edge_id"),
    "erasure": ("Erasure", "space", "id"),
    "erasure_memory": ("Erasure", "space", "memory_id"),
    "erase_confirmation": ("EraseConfirmation", "space", "erase_id", "place"),
    "conflict_pair": ("Conflict", "space", "first_id", "second_id"),
    "entry_revision": ("EntryVersion", "space", "id", "revision"),
    "turn": ("Item", "space", "session_id", "turn_place"),
    "access": ("Access", "space", "id"),
    "change": ("Change", "space", "seq"),
    "request": ("Request", "space", "principal", "method", "request_id"),
    "nonce": ("Nonce", "space", "nonce"),
    "genesis": ("Genesis", "space"),
    "imported": ("Imported", "space"),
    "early_refusal": ("EarlyRefusal", "space", "number"),
    "space": ("Space", "space"),
    "session": ("SessionRecord", "space", "id"),
    "co_read": ("CoRead", "space", "session_id", "memory_id"),
    "restatement": ("Restatement", "space", "memory_id", "session_id"),
    "service_record": ("ServiceRecord", "space", "kind"),
    "recall": ("Recall", "space", "query_id", "place"),
    "feed_partition": ("FeedPartition", "partition"),
    "feed_commit": ("FeedCommit", "partition", "number"),
    "lease": ("ConcordLease", "space", "owner", "name"),
}
_INDEXED: Mapping[str, tuple[str, ...]] = {
    "space_partition": ("Space", "partition", "space"),
    "tombstone": ("Tombstone", "space", "id"),
    "entity_id": ("Entity", "space", "id"),
    "node_name_then": ("NodeVersion", "space", "name"),
    "edge_id": ("Edge", "space", "id"),
    "edge_source": ("Edge", "space", "source_id"),
    "edge_target": ("Edge", "space", "target_id"),
    "erase_confirmer": ("EraseConfirmation", "confirmer"),
    "erase_confirmations": ("EraseConfirmation", "space", "erase_id"),
    "support_edge": ("Support", "space", "edge_id"),
    "support_then": ("SupportVersion", "space", "memory_id"),
    "support_opened": ("SupportVersion", "space", "record_from"),
    "support_closed": ("SupportVersion", "space", "record_until"),
    "support_edge_then": ("SupportVersion", "space", "edge_id"),
    "standing_then": ("StandingVersion", "space", "id"),
    "standing_exit": ("Standing", "space", "exit_of"),
    "standing_exit_then": ("StandingVersion", "space", "exit_of"),
    "participation_edge": ("Participation", "space", "edge_id"),
    "edge_row": ("Edge", "space", "relation", "source_id", "effective_from"),
    "functional": ("Functional", "space", "name"),
    "relation_then": ("RelationVersion", "space", "name"),
    "edge_row_then": ("EdgeVersion", "space", "relation", "source_id", "effective_from"),
    "edge_source_then": ("EdgeVersion", "space", "source_id"),
    "edge_target_then": ("EdgeVersion", "space", "target_id"),
    "constitutive_source": ("Constitutive", "space", "source_id"),
    "constitutive_target": ("Constitutive", "space", "target_id"),
    "governed_source": ("Governed", "space", "source_id"),
    "agreed_source": ("Agreed", "space", "source_id"),
    "agreed_target": ("Agreed", "space", "target_id"),
    "amending_target": ("Amending", "space", "target_id"),
    "lineage_source": ("Lineage", "space", "source_id"),
    "lineage_target": ("Lineage", "space", "target_id"),
    "content_source": ("FromContent", "space", "source_id"),
    "memory_id": ("Memory", "space", "id"),
    "memory_says": ("Memory", "space", "content_digest"),
    "memory_newest": ("Memory", "space", "create_time", "id"),
    "memory_newest_then": ("MemoryVersion", "space", "create_time", "id"),
    "memory_external_then": ("MemoryVersion", "space", "external_id"),
    "turns": ("Turn", "space", "session_id", "turn_order", "create_time", "id"),
    "turns_then": ("MemoryVersion", "space", "session_id"),
    "entry_listed": ("Entry", "space", "kind", "rank", "record_from"),
    "entry_of_session": ("Entry", "space", "kind", "session_id"),
    "entry_then": ("EntryVersion", "space", "kind"),
    "entry_session": ("EntryVersion", "space", "session_id"),
    "conflict_second": ("Conflict", "space", "second_id"),
    "conflict_first_then": ("EntryVersion", "space", "first_id"),
    "conflict_second_then": ("EntryVersion", "space", "second_id"),
    "claim_first": ("Claim", "space", "first_id"),
    "claim_second": ("Claim", "space", "second_id"),
    "memory_deriving": ("Deriving", "space", "id"),
    "entity_folded": ("Entity", "space", "folded"),
    "entity_backwards": ("Entity", "space", "backwards"),
    "memory_folded_id": ("Memory", "space", "folded_id"),
    "memory_backwards_id": ("Memory", "space", "backwards_id"),
    "memory_folded_key": ("Memory", "space", "folded_key"),
    "memory_backwards_key": ("Memory", "space", "backwards_key"),
    "session_folded": ("Episode", "space", "folded_session"),
    "session_backwards": ("Episode", "space", "backwards_session"),
    "access_unannounced": ("Access", "unannounced"),
    "change_item": ("Change", "space", "item_id", "seq"),
    "change_principal": ("Change", "space", "principal", "seq"),
    "state_change": ("StateChange", "space", "item_id", "seq"),
    "change_time": ("Change", "space", "record_time", "seq"),
    "request_age": ("Request", "space", "create_time"),
    "session_used": ("SessionRecord", "space", "last_use_time"),
    "co_read_memory": ("CoRead", "space", "memory_id"),
    "restatement_memory": ("Restatement", "space", "memory_id"),
    "restatement_session": ("Restatement", "space", "session_id"),
    "recall_memory": ("Recall", "space", "memory_id"),
    "co_read_time": ("CoRead", "space", "time"),
}
LABELS = frozenset(label for label, *_ in (*_UNIQUE.values(), *_INDEXED.values()))
"""The labels that constraints and indexes are on."""
_CONVERSIONS: Mapping[int, Sequence[str]] = {
    15: (
        "DROP INDEX concord_replacing_source IF EXISTS",
        "DROP INDEX concord_replacing_target IF EXISTS",
    ),
    18: (),
}
"""What to run, besides, on a schema of that version."""


async def prepare(session: AsyncSession, *, restoring: bool = False) -> str:
    """Apply the missing statements of the schema; return the store's epoch.

    Raises:
        ServerUnusable: the database is another program's, or of a newer Concord, or half restored.
    """
    return await neo4j_server.prepare(
        session,
        "concord",
        VERSION,
        statements(),
        conversions=_CONVERSIONS,
        restoring=restoring,
    )


def statements() -> list[str]:
    """Return the statements that make the schema; each may run again."""
    return [
        neo4j_server.STAMP,
        *(neo4j_server.unique(name, *keys) for name, keys in _UNIQUE.items()),
        *(neo4j_server.indexed(name, *keys) for name, keys in _INDEXED.items()),
    ]
