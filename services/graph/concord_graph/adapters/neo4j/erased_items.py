"""Erases the content of items from their revisions, and stores the receipts (M4).

Neo4j's files keep bytes until its operator compacts the store; no query, dump or export shows them.
"""

from __future__ import annotations

from typing import Any, Final

from concord_graph.adapters.neo4j import records
from concord_graph.adapters.neo4j.layers import Door
from concord_graph.adapters.neo4j.patterns import VERSION
from concord_graph.domain.erasure import Confirmation, Erasure
from concord_graph.domain.items import Record

_BLANKED: Final = " ".join(
    f"CALL () {{ UNWIND $erased AS one WITH one WHERE one.version = '{version}'"
    f" MATCH (v:{version} {{id: one.id}})"
    " WHERE v.revision > 0 AND coalesce(v.erase_time, 0) = 0 SET v += one.left }"
    for version in (*VERSION.values(), "EntryVersion")
)
_PARTICIPATIONS: Final = (
    "CALL () { UNWIND $ids AS id MATCH (p:Participation) WHERE p.edge_id = id DELETE p }"
)
_ENTRIES: Final = (
    "CALL () { UNWIND $entries AS erased MATCH (v:EntryVersion {id: erased.id})"
    " WHERE v.revision > 0 AND coalesce(v.erase_time, 0) = 0"
    " SET v.erase_time = erased.time, v.salt = $nothing, v.words = '{}' }"
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
_ERASE: Final = f"{_BLANKED} {_PARTICIPATIONS} {_REQUESTS} {_ACCESS} RETURN true"
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


async def erase(door: Door, items: list[Record]) -> None:
    """Erase every revision of the items but the newest, which is erased already."""
    erased = [
        {"id": item.id, "version": records.version(item.kind), "left": records.erased(item)}
        for item in items
    ]
    ids = [item.id for item in items]
    quoted = [f'"{item_id}"' for item_id in ids]
    await door.ask(_ERASE, erased=erased, ids=ids, quoted=quoted, nothing=b"")


async def put(door: Door, erasure: Erasure) -> None:
    """Store the receipt of an erasure, with the confirmers that it waits for."""
    receipt: dict[str, Any] = {name: getattr(erasure, name) for name in _RECEIPT}
    confirmations = [
        {"place": place, "confirmer": each.confirmer, "time": each.time}
        for place, each in enumerate(erasure.confirmations)
    ]
    await door.ask(_PUT, id=erasure.id, receipt=receipt, confirmations=confirmations)


async def confirm(door: Door, erase_id: str, confirmer: str, time: int) -> None:
    """Record a confirmer's confirmation at a time (µs); the first one stays."""
    await door.ask(_CONFIRM, id=erase_id, confirmer=confirmer, time=time)


async def erasure(door: Door, *, erase_id: str, memory_id: str) -> Erasure | None:
    """Return the receipt of an erasure by its id or by the memory's id."""
    by, value = ("id", erase_id) if erase_id else ("memory_id", memory_id)
    found = await door.ask(
        f"{_BY[by]} RETURN properties(r), COLLECT {{ MATCH (c:EraseConfirmation {{erase_id: r.id}})"
        " RETURN properties(c) ORDER BY c.place }",
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
