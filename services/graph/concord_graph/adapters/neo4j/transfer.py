"""Reads for exports and imports alone: revisions, access data, burnt nonces, early refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from concord_graph.adapters.neo4j import records
from concord_graph.adapters.neo4j.layers import Door
from concord_graph.domain.items import Access, Record
from concord_graph.ports import Author, Ref

ACCESSES: Final = (
    "MATCH (a:Access) WHERE a.id > $after RETURN a.id, a.last_time, a.count ORDER BY a.space, a.id"
    " LIMIT $limit"
)
PUT_ACCESSES: Final = "UNWIND $accesses AS fields CREATE (a:Access {id: fields.id}) SET a += fields"
_NONCES: Final = (
    "MATCH (n:Nonce) WHERE n.nonce > $after RETURN n.nonce ORDER BY n.space, n.nonce LIMIT $limit"
)
_GENESIS: Final = "MATCH (g:Genesis) RETURN g.envelope"
_REFUSE: Final = (
    "OPTIONAL MATCH (r:EarlyRefusal) WHERE r.number > 0 WITH count(r) AS known"
    " CREATE (n:EarlyRefusal {number: known + 1}) SET n += $fields"
)
_KEEP_ENROLMENT: Final = "MATCH (s:Space) SET s.enrolment = $digest"
_ENROLMENT: Final = "MATCH (s:Space) RETURN coalesce(s.enrolment, '')"
_REFUSALS: Final = (
    "MATCH (r:EarlyRefusal) WHERE r.number > 0"
    " RETURN r.time, r.principal, r.method, r.request_id, r.reason ORDER BY r.number"
)


async def genesis_envelope(door: Door) -> bytes:
    """Return the genesis record as it was accepted; empty without one."""
    found = await door.ask(_GENESIS)
    return bytes(found[0][0]) if found else b""


async def keep_enrolment(door: Door, digest: str) -> None:
    """Store the digest of the secret that admits the genesis."""
    await door.ask(_KEEP_ENROLMENT, digest=digest)


async def enrolment(door: Door) -> str:
    """Return the registered digest of the secret that admits the genesis."""
    found = await door.ask(_ENROLMENT)
    return str(found[0][0]) if found else ""


async def revisions(door: Door, refs: Sequence[Ref]) -> list[Record | None]:
    """Return these very revisions, in the order asked: a statement for each label."""
    found: dict[int, Record] = {}
    for label in sorted({records.version(ref.kind) for ref in refs}):
        asked = [
            {"place": place, "id": ref.id, "revision": ref.revision, "kind": int(ref.kind)}
            for place, ref in enumerate(refs)
            if records.version(ref.kind) == label
        ]
        text = (
            f"UNWIND $asked AS ask MATCH (x:{label} {{id: ask.id, revision: ask.revision}})"
            " WHERE x.kind = ask.kind RETURN ask.place, properties(x)"
        )
        for place, fields in await door.ask(text, asked=asked):
            found[place] = records.revision(fields)
    return [found.get(place) for place in range(len(refs))]


async def accesses(door: Door, after: str, limit: int) -> list[tuple[str, Access]]:
    """Return the stored access data by id."""
    rows = await door.ask(ACCESSES, after=after, limit=limit)
    return [(item_id, Access(last, count)) for item_id, last, count in rows]


async def nonces(door: Door, after: str, limit: int) -> list[str]:
    """Return burnt nonces, ascending."""
    return [row[0] for row in await door.ask(_NONCES, after=after, limit=limit)]


async def keep_early_refusal(door: Door, time: int, author: Author, why: str) -> None:
    """Store the refusal of an import."""
    fields: dict[str, Any] = {
        "time": time,
        "principal": author.principal,
        "method": author.method,
        "request_id": author.request_id,
        "reason": why,
    }
    await door.ask(_REFUSE, fields=fields)


async def early_refusals(door: Door) -> list[tuple[int, Author, str]]:
    """Return (time in µs, author, reason) of imports refused while the space was unused."""
    rows = await door.ask(_REFUSALS)
    return [(time, Author(*author), why) for time, *author, why in rows]
