"""Graph's SQLite file without graph: filled by plain rows, and asked what graph is asked.

The statements ask for the same rows under the same filters (live, stated to hold now, no
resolution, neither followed by a later edge of its triple nor superseded), and count relevance by
G7; what they leave out is what no row of these graphs needs: other record times, memories at the
ends, reads not yet flushed, touches.
"""

import heapq
import json
import math
import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concord_concepts.extraction import extract
from concord_graph.domain.digests import content_digest
from concord_graph.domain.items import Memory, MemoryKind

FOREVER = 9223372036854775807
MOST_EDGES = 10_000
_DAY = 86_400_000_000
_LIVE = "{0}.record_until = 9223372036854775807 AND {0}.deleted = 0"
_FILTERS = (
    f"e.space = 1 AND {_LIVE.format('e')} AND e.edge_type <> 3 AND e.effective_from <= :now"
    " AND coalesce(e.valid_until, 9223372036854775807) > :now"
    " AND NOT EXISTS (SELECT 1 FROM edge s INDEXED BY edge_triple WHERE s.space = e.space"
    " AND s.source_id = e.source_id AND s.relation = e.relation AND s.target_id = e.target_id"
    f" AND s.effective_from > e.effective_from AND {_LIVE.format('s')})"
    " AND NOT EXISTS (SELECT 1 FROM standing k INDEXED BY standing_current WHERE k.space = e.space"
    " AND k.id = e.id AND k.record_until = 9223372036854775807 AND k.superseded_from <= :now)"
)
_INDEX = {"source_id": "edge_triple", "target_id": "edge_target"}
_NEAR = " OR ".join(
    f"EXISTS (SELECT 1 FROM edge c INDEXED BY edge_constitutive_{side} WHERE c.space = 1"
    f" AND c.{side}_id = e.{end} AND c.edge_type = 2 AND {_LIVE.format('c')})"
    for end in _INDEX
    for side in ("source", "target")
)


def _at(columns: str, met: str) -> str:
    """Select edges at either end."""
    return " UNION ALL ".join(
        f"SELECT {columns.replace('OTHER', other)} FROM edge e INDEXED BY {_INDEX[end]}"
        " LEFT JOIN access a ON a.space = e.space AND a.id = e.id"
        f" WHERE e.{end} IN {met} AND {_FILTERS}"
        f"{'' if end == 'source_id' else f' AND e.source_id NOT IN {met}'}"
        for end, other in (("source_id", "e.target_id"), ("target_id", "e.source_id"))
    )


_STEPS = _at(
    "e.id, e.source_id, e.target_id, e.edge_type, e.importance,"
    f" e.importance = 0 AND ({_NEAR}), coalesce(a.last_time, e.create_time), coalesce(a.count, 0)",
    "(SELECT value FROM json_each(:ids))",
)
_HALF = "e.id AS id, OTHER AS other, e.weight AS weight"
_PATHS = (
    f"WITH near AS MATERIALIZED ({_at(_HALF, '(:start)')}),"
    f" far AS MATERIALIZED ({_at(_HALF, '(:end)')})"
    " SELECT 1, id, '', weight AS product FROM near WHERE other = :end UNION ALL"
    " SELECT 2, near.id, far.id, near.weight * far.weight FROM near JOIN far"
    " ON near.other = far.other ORDER BY 1, 4 DESC, 2, 3 LIMIT 10"
)
_WHOLE = (
    "SELECT e.*, s.name, t.name, a.last_time, a.count FROM edge e"
    " LEFT JOIN node s INDEXED BY node_current ON s.space = e.space AND s.id = e.source_id"
    " AND s.record_until = 9223372036854775807"
    " LEFT JOIN node t INDEXED BY node_current ON t.space = e.space AND t.id = e.target_id"
    " AND t.record_until = 9223372036854775807"
    " LEFT JOIN access a ON a.space = e.space AND a.id = e.id WHERE e.space = 1"
    " AND e.id IN (SELECT value FROM json_each(:ids))"
    " AND e.record_until = 9223372036854775807"
)
_SAID = (
    "SELECT * FROM memory INDEXED BY memory_says WHERE space = 1 AND content_digest = ? AND "
    + _LIVE.format("memory")
)
_NAMED = "SELECT id FROM node WHERE space = 1 AND name = ? AND " + _LIVE.format("node")


@dataclass(frozen=True)
class Said:
    """What of a memory's row follows from its text."""

    content: str
    concepts: Sequence[str]
    digest: str


def said(text: str) -> Said:
    """Make what a row needs, with graph's own functions: there is no writing it without."""
    memory = Memory(id="", content=text, memory_kind=MemoryKind.FACT)
    return Said(text, extract(text), content_digest(memory))


class BareSqlite:
    """A store file by its path, with one node and one edge in it that graph made."""

    is_called = "bare SQL on the same file, by hand, plus an empty RPC"

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA cache_size = -65536")

    async def close(self) -> None:
        """Close the file."""
        self._db.close()

    async def fill(self, names: Sequence[str], triples: Iterable[tuple[str, str, str]]) -> None:
        """Write nodes of these names, and edges between them, as rows like the ones there."""
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA cache_size = -1000000")
        ids = {name: str(uuid.uuid4()) for name in names}
        self._db.execute("BEGIN")
        self._put("node", ({"id": ids[name], "name": name} for name in names))
        self._put(
            "edge",
            (
                {
                    "id": str(uuid.uuid4()),
                    "source_id": ids.get(source, source),
                    "relation": relation,
                    "target_id": ids.get(target, target),
                }
                for source, relation, target in triples
            ),
        )
        self._db.execute("COMMIT")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.execute("PRAGMA cache_size = -65536")
        self._db.execute("PRAGMA synchronous = FULL")

    async def around(self, name: str, depth: int, now: int) -> int:
        """Read what surrounds a node up to `depth` hops, the 20 most relevant whole."""
        start = self._id(name)
        met, frontier, steps = {start}, [start], dict[str, tuple[Any, ...]]()
        for _ in range(depth):
            bound = {"ids": json.dumps(frontier), "now": now}
            room = MOST_EDGES - len(steps)
            found = self._db.execute(f"{_STEPS} LIMIT {MOST_EDGES + len(steps) + 1}", bound)
            new = sorted(row for row in found if row[0] not in steps)[:room]
            steps |= {row[0]: row for row in new}
            beyond = {end for row in new for end in row[1:3]} - met
            met |= beyond
            frontier = list(beyond)
        best = heapq.nsmallest(20, ((-relevance(row, now), row[0]) for row in steps.values()))
        self._whole([item_id for _, item_id in best])
        return len(steps)

    async def paths(self, start: str, end: str, now: int) -> int:
        """Read the ten best paths of one or two edges, whole."""
        bound = {"start": self._id(start), "end": self._id(end), "now": now}
        found = self._db.execute(_PATHS, bound).fetchall()
        self._whole([edge_id for row in found for edge_id in row[1:3] if edge_id])
        return len(found)

    async def write(self, number: int) -> None:
        """Write one edge, one change and one receipt, and commit."""
        self._db.execute("BEGIN IMMEDIATE")
        seq = self._db.execute("SELECT seq FROM space WHERE id = 1").fetchone()[0] + 1
        target = f"written-{number}"
        self._put("edge", [{"id": str(uuid.uuid4()), "target_id": target, "seq": seq}])
        self._put("change", [{"seq": seq, "item_id": target}])
        self._put("request", [{"request_id": str(uuid.uuid4())}])
        self._db.execute("UPDATE space SET seq = ? WHERE id = 1", (seq,))
        self._db.execute("COMMIT")

    async def add(self, memories: Sequence[Said]) -> None:
        """Ask which texts are there; write memories like the one there, their changes, and a
        receipt; commit."""
        self._db.execute("BEGIN IMMEDIATE")
        for each in memories:
            self._db.execute(_SAID, (each.digest,)).fetchall()
        (seq,) = self._db.execute("SELECT seq FROM space WHERE id = 1").fetchone()
        rows = [
            {
                "id": str(uuid.uuid4()),
                "content": each.content,
                "concepts": json.dumps(each.concepts),
                "content_digest": each.digest,
                "seq": seq + at,
            }
            for at, each in enumerate(memories, 1)
        ]
        self._put("memory", rows)
        self._put("change", ({"seq": row["seq"], "item_id": row["id"]} for row in rows))
        self._put("request", [{"request_id": str(uuid.uuid4())}])
        self._db.execute("UPDATE space SET seq = ? WHERE id = 1", (seq + len(rows),))
        self._db.execute("COMMIT")

    def _id(self, name: str) -> str:
        return str(self._db.execute(_NAMED, (name,)).fetchone()[0])

    def _whole(self, ids: list[str]) -> None:
        self._db.execute(_WHOLE, {"ids": json.dumps(ids)}).fetchall()

    def _put(self, table: str, rows: Iterable[dict[str, object]]) -> None:
        cursor = self._db.execute(f"SELECT * FROM {table} LIMIT 1")
        columns = [column[0] for column in cursor.description]
        like = dict(zip(columns, cursor.fetchone(), strict=True))
        self._db.executemany(
            f"INSERT INTO {table} VALUES ({', '.join('?' for _ in columns)})",
            (tuple({**like, **row}.values()) for row in rows),
        )


def relevance(row: Sequence[Any], now: int) -> float:
    """Return G7 of a row of `around`."""
    edge_type, importance, near, last, count = row[3:8]
    if edge_type == 2:
        return 1.0
    days = max(0, now - last) / _DAY
    floor = {2: 100.0, 3: 200.0}.get(3 if near else importance, 100.0)
    return math.exp(-days / max(100 * (1 + math.log1p(count)), floor))
