"""The one statement that writes: items with their history and relationships, then the records.

Each row of $rows is a revision, in the order of the puts. A row is refused, and nothing of it
written, when the store's own protection (spec G4) forbids it and no grant is open; the caller then
undoes the transaction. So protection is enforced twice: by the use cases, and by this statement,
the only one that writes items.
"""

from __future__ import annotations

from typing import Final

from concord_graph.adapters.neo4j.patterns import exists
from concord_graph.domain.items import RESERVED_PREFIX, ItemKind

_GHOST: Final = int(ItemKind.GHOST)
_EDGE: Final = int(ItemKind.EDGE)


def _bears(end: str, labels: str) -> str:
    return f"EXISTS {{ MATCH (x:Item {{id: row.fields.{end}}}) WHERE {labels} }}"


# another edge at the place of one at which governed lineage starts would succeed it
_TWIN: Final = (
    "EXISTS { MATCH (t:Agreed {source_id: row.fields.source_id}) WHERE t.id <> row.id"
    " AND t.relation = row.fields.relation AND t.target_id = row.fields.target_id }"
    " AND NOT coalesce(old.kind = row.fields.kind AND NOT old.deleted"
    " AND old.source_id = row.fields.source_id AND old.relation = row.fields.relation"
    " AND old.target_id = row.fields.target_id"
    " AND old.effective_from = row.fields.effective_from, false)"
)


def _reserved(name: str) -> str:
    return f"coalesce({name} STARTS WITH '{RESERVED_PREFIX}', false)"


# items that stand for the principals, or did, and edges that would end at them
_RESERVED: Final = (
    f"any(name IN [row.fields.name, row.fields.relation, old.name, old.relation]"
    f" WHERE {_reserved('name')})"
    " OR EXISTS { MATCH (x:Item) WHERE x.id IN [row.fields.source_id, row.fields.target_id]"
    f" AND ({_reserved('x.name')} OR {_reserved('x.relation')}) }}"
)
_REFUSED: Final = (
    f"($granted AND NOT $principals AND ({_RESERVED})) OR NOT $granted AND ("
    "row.defines"
    " OR coalesce(i:Constitutive OR i:Governed OR i:Held, false)"
    f" OR (row.hides AND {_bears('source_id', 'x:Constitutive')})"
    " OR (row.hides AND row.linked AND row.fields.erase_time = 0"  # void lineage may be erased
    f" AND {_bears('target_id', 'x:Constitutive OR x:Held')})"
    f" OR (row.linked AND NOT row.lineage AND {_TWIN}))"
)

# the former revision becomes a node of its own; the item's node carries on with the new one
_REPLACE: Final = (
    "CALL (row, i, old) { WITH * WHERE i IS NOT NULL"
    " REMOVE i:$(labels(i)) SET i = row.fields SET i:$(row.labels)"
    f" WITH row, old WHERE old.kind <> {_GHOST}"
    " CREATE (p:$(row.version)) SET p = old, p.record_until = row.fields.record_from }"
)
_CREATE: Final = (
    "CALL (row, i) { WITH * WHERE i IS NULL CREATE (n:$(row.labels)) SET n = row.fields }"
)
# a ghost exists as long as an edge ends at it
_UNLINK: Final = (
    f"CALL (row, old) {{ WITH * WHERE old.kind = {_EDGE} AND NOT old.deleted"
    " MATCH (a:Item {id: old.source_id}) MATCH (b:Item {id: old.target_id})"
    " MATCH (a)-[r]->(b) WHERE r.id = row.id DELETE r"
    " WITH a, b UNWIND [a, b] AS end"
    " WITH DISTINCT end WHERE end:Ghost AND NOT row.linked AND NOT EXISTS { (end)--() }"
    " DELETE end }"
)
_LINK: Final = (
    "CALL (row) { WITH * WHERE row.linked"
    f" MERGE (a:Item {{id: row.fields.source_id}}) ON CREATE SET a:Ghost, a.kind = {_GHOST}"
    f" MERGE (b:Item {{id: row.fields.target_id}}) ON CREATE SET b:Ghost, b.kind = {_GHOST}"
    " CREATE (a)-[r:$(row.type)]->(b) SET r = row.link }"
)
_JOIN: Final = (
    "CALL (row) { UNWIND row.participants AS name"
    " MERGE (p:Participation {name: name, edge_id: row.id}) }"
)
_ITEMS: Final = (
    "CALL () { UNWIND $rows AS row CALL (row) {"
    " OPTIONAL MATCH (i:Item {id: row.id})"
    " WITH i, properties(i) AS old"
    f" WITH i, old, {_REFUSED} AS refused, coalesce(old.erase_time <> 0, false) AS sealed"
    " CALL (row, i, old, refused, sealed) { WITH * WHERE NOT refused AND NOT sealed"
    f" {_REPLACE} {_CREATE} {_UNLINK} {_LINK} {_JOIN} }}"
    " RETURN refused, sealed }"
    " RETURN collect(CASE WHEN refused THEN row.id END) AS refused,"
    " collect(CASE WHEN sealed THEN row.id END) AS sealed }"
)
_RECORDS: Final = (
    "MATCH (s:Space) SET s.seq = $seq, s.last_time = $last_time"
    " WITH refused, sealed"
    " CALL () { UNWIND $changes AS row CREATE (c:$(row.labels)) SET c = row.fields }"
    " CALL () { UNWIND $requests AS fields"
    " CREATE (q:Request {request_id: fields.request_id}) SET q = fields }"
    " CALL () { MATCH (q:Request) WHERE q.create_time < $forget_before"
    " WITH q LIMIT 1000 DELETE q }"
)

FLUSH: Final = f"{_ITEMS} {_RECORDS} RETURN refused, sealed"
"""Write $rows, $changes, $requests and the counters; return the ids that protection refuses,
and the ids of erased items, which take no further revision.

Deletes requests from before $forget_before (µs), a thousand at a time."""


def _marked(label: str, test: str) -> str:
    """Return the clauses that put a label on x, or take it off."""
    return (
        f"CALL (x, {test}) {{ WITH * WHERE {test} SET x:{label} }}"
        f" CALL (x, {test}) {{ WITH * WHERE NOT {test} REMOVE x:{label} }}"
    )


_DEFINED, _AGREED = (
    exists(f"(:{label} {{source_id: x.id}})", f"(:{label} {{target_id: x.id}})")
    for label in ("Constitutive", "Agreed")
)
MARK: Final = (
    "UNWIND $ids AS id MATCH (x:Item {id: id})"
    f" WITH x, {_DEFINED} AS defined, {exists('(:Governed {source_id: x.id})')} AS starts"
    f" WITH x, defined, starts, starts AND x:Edge AS agreed {_marked('Defined', 'defined')}"
    f" {_marked('Agreed', 'agreed')} WITH collect({{x: x, held: defined OR starts}}) AS all"
    f" UNWIND all AS one WITH one.x AS x, one.held AS own WITH x, own OR {_AGREED} AS held"
    f" {_marked('Held', 'held')}"
)
"""Mark the items among $ids that a consent depends on (spec G4).

`Defined`: a constitutive edge starts or ends at it; `Agreed`: a live edge at which lineage made
with consent starts; `Held`: either, or an end of an agreed edge. Only a grant changes these marks.
"""
