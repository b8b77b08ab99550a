"""Erases the content of items from their revisions, and stores the receipts (M4).

Neo4j's files keep bytes until its operator compacts the store; no query, dump or export shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from concord_graph.adapters.neo4j import records
from concord_graph.adapters.neo4j.patterns import VERSION
from concord_graph.adapters.neo4j.transaction import SpaceTransaction
from concord_graph.domain.erasure import Confirmation, Erasure
from concord_graph.domain.items import RESERVED_PREFIX, ItemKind, Record

_BLANKED: Final = " ".join(
    f"CALL () {{ UNWIND $erased AS one WITH one WHERE one.version = '{version}'"
    f" MATCH (v:{version} {{id: one.id}})"
    " WHERE v.revision > 0 AND coalesce(v.erase_time, 0) = 0 SET v += one.left }"
    for version in (*VERSION.values(), "EntryVersion")
)
# a caller's own keys, which people see beside Concord's
_SHOWN: Final = (
    f"CALL () {{ UNWIND $erased AS one WITH one WHERE one.version = '{VERSION[ItemKind.NODE]}'"
    f" MATCH (v:{VERSION[ItemKind.NODE]} {{id: one.id}}) WHERE v.revision > 0"
    " FOREACH (key IN [key IN keys(v) WHERE NOT key IN $own] | SET v[key] = null) }"
)
_PARTICIPATIONS: Final = (
    "CALL () { UNWIND $ids AS id MATCH (p:Participation) WHERE p.edge_id = id DELETE p }"
)
# with a request's salt and digest, a guess of the item's content could be tested
_REQUESTS: Final = (
    "CALL () { MATCH (q:Request) WHERE q.create_time IS NOT NULL"
    " AND any(quoted IN $quoted WHERE q.refs CONTAINS quoted)"
    " SET q.salt = $nothing, q.digest = '' }"
)
_ACCESS: Final = (
    "CALL () { UNWIND $ids AS id MATCH (a:Access {id: id}) DELETE a }"
    " CALL () { UNWIND $ids AS id MATCH (c:CoRead {memory_id: id}) DELETE c }"
    " CALL () { UNWIND $ids AS id MATCH (r:Restatement {memory_id: id}) DELETE r }"
    " CALL () { UNWIND $ids AS id MATCH (r:Recall {memory_id: id}) DELETE r }"
)
_ERASE: Final = f"{_BLANKED} {_SHOWN} {_PARTICIPATIONS} {_REQUESTS} {_ACCESS} RETURN true"
_PUT: Final = (
    "CREATE (r:Erasure {id: $id}) SET r += $receipt"
    " WITH r UNWIND $confirmations AS each"
    " CREATE (c:EraseConfirmation {erase_id: $id})"
    " SET c.place = each.place, c.confirmer = each.confirmer, c.time = each.time"
)
_CONFIRM: Final = (
    "MATCH (c:EraseConfirmation {erase_id: $id}) WHERE c.confirmer = $confirmer AND c.time IS NULL"
    " SET c.time = $time"
)
_BY: Final = {
    "id": "MATCH (r:Erasure {id: $value})",
    "memory_id": "MATCH (r:Erasure {memory_id: $value})",
}
_RECEIPT: Final = ("id", "memory_id", "time", "principal", "reason", "digest", "edge_count")
CONFIRM_ALL: Final = (
    "MATCH (c:EraseConfirmation {confirmer: $confirmer}) WHERE c.time IS NULL SET c.time = $time"
)
"""Confirm the erasures of all spaces that a confirmer has not confirmed."""

_DROPPED: Final = (
    *("Item", "NodeVersion", "EdgeVersion", "MemoryVersion", "EntryVersion", "RelationVersion"),
    *("Support", "SupportVersion", "StandingVersion", "Participation", "Access", "Request"),
    *("SessionRecord", "CoRead", "Restatement", "ServiceRecord", "Recall"),
)
_RESERVED: Final = " OR ".join(
    f"coalesce(x.{name} STARTS WITH '{RESERVED_PREFIX}', false)" for name in ("name", "relation")
)
_MEMORIES: Final = (
    "MATCH (m:MemoryVersion) WHERE NOT EXISTS { MATCH (r:Erasure) WHERE r.memory_id = m.id }"
    " RETURN DISTINCT m.id LIMIT $limit"
)
_DROP_MEMORIES: Final = "UNWIND $ids AS id MATCH (m:MemoryVersion) WHERE m.id = id DETACH DELETE m"
_DROP: Final = {
    label: f"MATCH (x:{label}) WHERE NOT ({_RESERVED}) WITH x LIMIT $limit DETACH DELETE x"
    " RETURN count(x)"
    for label in _DROPPED
}


class ErasureReads(SpaceTransaction):
    """The part of a view that reads receipts of erasures."""

    async def erasure(self, *, erase_id: str = "", memory_id: str = "") -> Erasure | None:
        by, value = ("id", erase_id) if erase_id else ("memory_id", memory_id)
        found = await self.ask(
            f"{_BY[by]} RETURN properties(r), COLLECT {{"
            " MATCH (c:EraseConfirmation {erase_id: r.id}) RETURN properties(c) ORDER BY c.place }",
            value=value,
        )
        if not found:
            return None
        receipt, confirmations = found[0]
        return Erasure(
            **{name: receipt[name] for name in _RECEIPT},
            confirmations=tuple(
                Confirmation(each["confirmer"], each.get("time")) for each in confirmations
            ),
        )


class ErasureWrites(ErasureReads):
    """The part of a transaction that erases, and removes the nodes of a deleted space."""

    async def _erase_content(self, items: list[Record]) -> None:
        erased = [
            {"id": item.id, "version": records.version(item.kind), "left": records.erased(item)}
            for item in items
        ]
        ids = [item.id for item in items]
        quoted = [f'"{item_id}"' for item_id in ids]
        own = sorted(records.OWN_KEYS)
        await self.ask(_ERASE, erased=erased, ids=ids, quoted=quoted, nothing=b"", own=own)

    async def put_erasure(self, erasure: Erasure) -> None:
        receipt: dict[str, Any] = {name: getattr(erasure, name) for name in _RECEIPT}
        confirmations = [
            {"place": place, "confirmer": each.confirmer, "time": each.time}
            for place, each in enumerate(erasure.confirmations)
        ]
        await self.ask(_PUT, id=erasure.id, receipt=receipt, confirmations=confirmations)

    async def confirm(self, erase_id: str, confirmer: str, time: int) -> None:
        await self.ask(_CONFIRM, id=erase_id, confirmer=confirmer, time=time)

    async def memories_to_erase(self, limit: int) -> Sequence[str]:
        return [str(row[0]) for row in await self.ask(_MEMORIES, limit=limit)]

    async def drop_memories(self, ids: Sequence[str]) -> None:
        await self.ask(_DROP_MEMORIES, ids=list(ids))

    async def drop_rows(self, limit: int) -> bool:
        for text in _DROP.values():
            ((count,),) = await self.ask(text, limit=limit)
            limit -= count
            if limit <= 0:
                return False
        return True
