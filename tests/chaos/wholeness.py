"""Whether graph's SQLite file agrees with itself: no write without its outbox row, none halved."""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

TABLES = ("node", "edge", "memory", "entry", "relation")
CURRENT = "record_until = 9223372036854775807"
LIVE = f"{CURRENT} AND deleted = 0"
REVISES = "(1, 2, 3, 4, 8)"
"""CREATED, UPDATED, DELETED, RESTORED, ERASED: what a new revision is told by."""

_ROWS = " UNION ALL ".join(
    f"SELECT space, id, revision, seq, record_from, record_until FROM {table}" for table in TABLES
)
_LINK = "rtrim(substr(m.content, instr(m.content, '[[memory:') + 9), ']')"
_CHECKS = {
    "a revision without its change": f"SELECT r.id, r.revision FROM ({_ROWS}) r WHERE NOT EXISTS"
    " (SELECT 1 FROM change c WHERE c.space = r.space AND c.seq = r.seq AND c.item_id = r.id"
    f" AND c.revision = r.revision AND c.type IN {REVISES})",
    "a change without its revision": "SELECT c.seq, c.item_id FROM change c"
    f" LEFT JOIN ({_ROWS}) r ON r.space = c.space AND r.id = c.item_id AND r.revision = c.revision"
    f" WHERE c.type IN {REVISES} AND r.seq IS NOT c.seq",
    "a gap in the sequence": "SELECT s.name, s.seq FROM space s WHERE (s.seq, s.seq) <> (SELECT"
    " count(*), coalesce(max(seq), 0) FROM change c WHERE c.space = s.id)",
    "torn history": "SELECT id, revision FROM (SELECT *, row_number() OVER w AS place,"
    " lead(record_from, 1, 9223372036854775807) OVER w AS ends"
    f" FROM ({_ROWS}) WINDOW w AS (PARTITION BY space, id ORDER BY revision))"
    " WHERE revision <> place OR record_until <> ends",
    "an edge without an end": "SELECT e.id, x.end FROM edge e, (SELECT 1 AS end UNION SELECT 2) x"
    f" WHERE e.{LIVE} AND NOT EXISTS (SELECT 1 FROM (SELECT space, id, 1 AS kind FROM node"
    f" WHERE {LIVE} UNION ALL SELECT space, id, 2 FROM edge WHERE {LIVE} UNION ALL"
    f" SELECT space, id, 3 FROM memory WHERE {CURRENT}) i WHERE i.space = e.space"
    " AND i.id = iif(x.end = 1, e.source_id, e.target_id)"
    " AND i.kind = iif(x.end = 1, e.source_kind, e.target_kind))"
    " AND NOT (x.end = 2 AND e.target_kind = 3 AND e.origin = 2)",  # a link may be to a ghost
    "a memory without the edges of its facts": "SELECT m.id FROM memory m"
    f" WHERE m.{LIVE} AND json_array_length(m.facts) <> (SELECT count(*) FROM support p"
    " JOIN edge e ON e.space = p.space AND e.id = p.edge_id"
    f" AND e.{CURRENT} AND e.deleted = 0 WHERE p.space = m.space AND p.memory_id = m.id"
    f" AND p.{CURRENT})",
    "support by no memory": f"SELECT p.memory_id FROM support p WHERE p.{CURRENT} AND NOT EXISTS"
    f" (SELECT 1 FROM memory m WHERE m.space = p.space AND m.id = p.memory_id AND m.{CURRENT})",
    "a link without its lineage": f"SELECT m.id, {_LINK} FROM memory m WHERE m.{LIVE}"
    " AND instr(m.content, 'Supersedes: [[memory:') AND NOT EXISTS (SELECT 1 FROM edge e"
    " WHERE e.space = m.space AND e.source_id = m.id AND e.relation = 'SUPERSEDES'"
    f" AND e.target_id = {_LINK} AND e.{LIVE})",
    "an erased memory without its receipt": "SELECT m.id FROM memory m"
    " LEFT JOIN erasure x ON x.space = m.space AND x.memory_id = m.id"
    f" WHERE m.{CURRENT} AND (m.erase_time <> 0) <> (x.id IS NOT NULL)",
    "what was erased": "SELECT id FROM memory m WHERE content <> '' AND EXISTS (SELECT 1"
    " FROM erasure x WHERE x.space = m.space AND x.memory_id = m.id)",
    "an open grant": "SELECT space FROM open_grant",
    "a reply that names what is not": "SELECT r.request_id FROM request r, json_tree(r.refs) j"
    " WHERE j.type = 'object' AND j.value ->> 'revision' IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM change c WHERE c.space = r.space"
    " AND c.item_id = j.value ->> 'id' AND c.revision = j.value ->> 'revision')",
}
_BATCH = re.compile(r"(.*/b\d+x(\d+))\.\d+")
_SAYING = re.compile(r"(.* said \d+): \d+ of (\d+)")


def wrong(store: Path) -> dict[str, list[object]]:
    """What disagrees in a store, by what is wrong with it; empty when all is well."""
    with closing(sqlite3.connect(store)) as db:
        (said,) = db.execute("PRAGMA integrity_check").fetchone()
        found = {what: db.execute(sql).fetchall() for what, sql in _CHECKS.items()}
        ids = [row[0] for row in db.execute("SELECT DISTINCT id FROM memory")]
        turns = db.execute(
            "SELECT content FROM memory WHERE memory_kind = 7 AND revision = 1"
        ).fetchall()
    found["the file"] = [] if said == "ok" else [said]
    found["half a batch"] = _halves(_BATCH, ids)
    found["half of what was said at once"] = _halves(_SAYING, [row[0] for row in turns])
    return {what: rows for what, rows in found.items() if rows}


def _halves(pattern: re.Pattern[str], texts: Iterable[str]) -> list[object]:
    """Those parts of a whole that are fewer, or more, than they say that they are."""
    parts = Counter(m.groups() for text in texts if (m := pattern.fullmatch(text)))
    return [(whole, size, count) for (whole, size), count in parts.items() if int(size) != count]


def told(store: Path, space: str = "default") -> list[tuple[int, str, int]]:
    """The outbox of a space: (sequence number, item, revision)."""
    sql = (
        "SELECT seq, item_id, revision FROM change"
        " WHERE space = (SELECT id FROM space WHERE name = ?) ORDER BY seq"
    )
    with closing(sqlite3.connect(store)) as db:
        return db.execute(sql, (space,)).fetchall()


def unrecorded(store: Path, acknowledged: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    """What was acknowledged, (request id, item), and has no outbox row of that request."""
    with closing(sqlite3.connect(store)) as db:
        rows = set(db.execute(f"SELECT request_id, item_id FROM change WHERE type IN {REVISES}"))
    asked = {(request, item) for request, items in acknowledged.items() for item in items}
    return sorted(asked - rows)


def states(store: Path) -> set[tuple[str, int]]:
    """Every state of a memory that the index is to hold: what was not forgotten then, or erased."""
    sql = (
        "SELECT c.item_id, c.seq FROM change c JOIN memory m ON m.space = c.space"
        " AND m.id = c.item_id AND m.revision = c.revision AND m.deleted = 0 AND m.erase_time = 0"
        " WHERE c.item_kind = 3 AND c.type IN (1, 2, 4, 5)"
    )
    with closing(sqlite3.connect(store)) as db:
        return set(db.execute(sql))
