"""The one statement that writes: items with their history and relationships, then the records.

Each row of $rows is a revision, in the order of the puts. A row is refused, and nothing of it
written, when the store's own protection (spec G4) forbids it and no grant is open; the caller then
undoes the transaction. So protection is kept twice: by the use cases, and by the statement that any
write of an item must be.
"""

from __future__ import annotations

from typing import Final

from concord_graph.adapters.neo4j.patterns import governs, held
from concord_graph.adapters.neo4j.sketches import KEEP
from concord_graph.domain.items import ItemKind

_GHOST: Final = int(ItemKind.GHOST)
_EDGE: Final = int(ItemKind.EDGE)

_CONSTITUTIVE_ITEM: Final = (
    "EXISTS {{ MATCH (x:Item {{id: row.fields.{0}}}) WHERE x:Constitutive }}"
)

# another edge at the place of one that consented lineage rests on would succeed it
_TWIN: Final = (
    "EXISTS { MATCH (t:Edge {source_id: row.fields.source_id, relation: row.fields.relation,"
    " target_id: row.fields.target_id})"
    " USING INDEX SEEK t:Edge(space, source_id, relation, target_id, effective_from)"
    " WHERE t.effective_from IS NOT NULL AND t.id <> row.id"
    f" AND {governs('t.id', None)} }}"
    " AND NOT coalesce(old.kind = row.fields.kind AND NOT old.deleted"
    " AND old.source_id = row.fields.source_id AND old.relation = row.fields.relation"
    " AND old.target_id = row.fields.target_id"
    " AND old.effective_from = row.fields.effective_from, false)"
)
_REFUSED: Final = (
    "NOT $granted AND ("
    "row.defines"
    " OR coalesce(i:Constitutive OR i:Governed, false)"
    f" OR {held('row.id', None)}"
    f" OR (row.hides AND {_CONSTITUTIVE_ITEM.format('source_id')})"
    " OR (row.hides AND row.linked"
    f" AND ({_CONSTITUTIVE_ITEM.format('target_id')} OR {held('row.fields.target_id', None)}))"
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
# a ghost is there as long as something points at it
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
    f" {_REPLACE} {_CREATE} {_UNLINK} {_LINK} {_JOIN} {KEEP} }}"
    " RETURN refused, sealed }"
    " RETURN collect(CASE WHEN refused THEN row.id END) AS refused,"
    " collect(CASE WHEN sealed THEN row.id END) AS sealed }"
)
_RECORDS: Final = (
    "MATCH (s:Space) SET s.seq = $seq, s.last_time = $last_time"
    " WITH refused, sealed"
    " CALL () { UNWIND $changes AS fields CREATE (c:Change {seq: fields.seq}) SET c = fields }"
    " CALL () { UNWIND $requests AS fields"
    " CREATE (q:Request {request_id: fields.request_id}) SET q = fields }"
    " CALL () { MATCH (q:Request) WHERE q.create_time < $forget_before"
    " WITH q LIMIT 1000 DELETE q }"
)

FLUSH: Final = f"{_ITEMS} {_RECORDS} RETURN refused, sealed"
"""Write $rows, $changes, $requests and the counters; return the ids that protection refuses,
and those that were erased, after which nothing comes.

Requests of before $forget_before (µs) are forgotten, a thousand at a time."""

AGREED: Final = (
    "MATCH (e:Edge) WHERE e.id IN $ids"
    " WITH e, EXISTS { MATCH (:Governed {source_id: e.id}) } AS agreed"
    " CALL (e, agreed) { WITH * WHERE agreed SET e:Agreed }"
    " CALL (e, agreed) { WITH * WHERE NOT agreed REMOVE e:Agreed }"
)
"""Mark the live edges among $ids that start lineage made with consent."""
