"""Removes the nodes of a deleted space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from concord_graph.adapters.neo4j.layers import Door
from concord_graph.domain.items import RESERVED_PREFIX

_DROPPED: Final = (
    *("Item", "NodeVersion", "EdgeVersion", "MemoryVersion", "EntryVersion", "RelationVersion"),
    *("Support", "SupportVersion", "StandingVersion", "Participation", "Access", "Request"),
    *("SessionRecord", "CoRead", "Restatement", "ServiceRecord", "Recall"),
)
_KEPT: Final = " OR ".join(
    f"coalesce(x.{name} STARTS WITH '{RESERVED_PREFIX}', false)" for name in ("name", "relation")
)
MARK_DELETED: Final = "MATCH (s:Space) SET s.deleted = true"
MEMORIES: Final = (
    "MATCH (m:MemoryVersion) WHERE NOT EXISTS { MATCH (r:Erasure) WHERE r.memory_id = m.id }"
    " RETURN DISTINCT m.id LIMIT $limit"
)
DROP_MEMORIES: Final = "UNWIND $ids AS id MATCH (m:MemoryVersion) WHERE m.id = id DETACH DELETE m"
DROP: Final = {
    label: f"MATCH (x:{label}) WHERE NOT ({_KEPT}) WITH x LIMIT $limit DETACH DELETE x"
    " RETURN count(x)"
    for label in _DROPPED
}


async def memories(door: Door, limit: int) -> list[str]:
    """Return memories, forgotten ones too, that are not erased."""
    return [str(row[0]) for row in await door.ask(MEMORIES, limit=limit)]


async def drop_memories(door: Door, ids: Sequence[str]) -> None:
    """Remove every revision of memories."""
    await door.ask(DROP_MEMORIES, ids=list(ids))


async def drop_rows(door: Door, limit: int) -> bool:
    """Remove at most `limit` nodes of the rest; return whether none is left."""
    for text in DROP.values():
        ((count,),) = await door.ask(text, limit=limit)
        limit -= count
        if limit <= 0:
            return False
    return True
