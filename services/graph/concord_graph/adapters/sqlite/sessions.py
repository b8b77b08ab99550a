"""Sessions, their co-reads, the recall log (a row for each memory that an answer returned), and
the records of services."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Final

from concord_graph.adapters.merged_rows import recalls_of
from concord_graph.adapters.stored import record_name
from concord_graph.domain.items import FOREVER
from concord_graph.domain.sessions import (
    MOST_CO_READS,
    CoRead,
    Recall,
    RecallFilter,
    Restated,
    Restatement,
    Session,
    SessionRead,
    SessionRow,
)
from concord_graph.ports import SessionFilter, SessionUses
from concord_graph.ports.reads import SessionRowT

_USE: Final = (
    "INSERT INTO session (space, id, start_time, last_use_time, end_time)"
    " SELECT s.id, r.value->>1, r.value->>2, r.value->>3, 0 FROM json_each(?) r"
    " JOIN space s ON s.name = r.value->>0 AND s.deleted = 0 WHERE true"
    " ON CONFLICT (space, id) DO UPDATE SET"
    " start_time = CASE WHEN end_time BETWEEN 1 AND excluded.last_use_time - 1"
    " THEN max(excluded.start_time, end_time) ELSE min(start_time, excluded.start_time) END,"
    " end_time = CASE WHEN excluded.last_use_time > end_time THEN 0 ELSE end_time END,"
    " last_use_time = max(last_use_time, excluded.last_use_time)"
)
_READ: Final = (
    "INSERT INTO co_read (space, session_id, memory_id, time)"
    " SELECT s.id, r.value->>1, m.id, r.value->>3 FROM json_each(?) r"
    " JOIN space s ON s.name = r.value->>0 AND s.deleted = 0"
    " JOIN memory m ON m.space = s.id AND m.id = r.value->>2 AND m.erase_time = 0"
    f" AND m.record_until = {FOREVER} WHERE true"
    " ON CONFLICT (space, session_id, memory_id) DO UPDATE SET time = max(time, excluded.time)"
)
_FEWER: Final = (
    "DELETE FROM co_read WHERE (space, session_id, memory_id) IN"
    " (SELECT c.space, c.session_id, c.memory_id FROM co_read c JOIN space s ON s.id = c.space"
    " WHERE s.name = ? AND c.session_id = ? ORDER BY c.time DESC, c.memory_id LIMIT -1 OFFSET ?)"
)
_SESSION: Final = "id, start_time, last_use_time, end_time"
_CO_READS: Final = (
    "SELECT a.memory_id, b.memory_id, count(*), max(max(a.time, b.time)) AS last FROM co_read mine"
    " JOIN co_read a ON a.space = mine.space AND a.memory_id = mine.memory_id"
    " JOIN co_read b ON b.space = a.space AND b.session_id = a.session_id"
    " AND b.memory_id <> a.memory_id WHERE mine.space = ? AND mine.session_id = ?"
    " GROUP BY 1, 2 ORDER BY last DESC, 1, 2 LIMIT ?"
)
_LIVE: Final = f"m.space = :space AND m.record_until = {FOREVER} AND m.deleted = 0"
_ASKED: Final = "(SELECT value FROM json_each(:sessions))"
_RESTATED: Final = (
    "SELECT id, json_group_array(session_id) FROM ("
    f"SELECT m.id, m.session_id FROM memory m WHERE {_LIVE} AND m.session_id IN {_ASKED}"
    " UNION SELECT r.memory_id, r.session_id FROM restatement r"
    f" JOIN memory m ON m.id = r.memory_id AND {_LIVE}"
    f" WHERE r.space = :space AND r.session_id IN {_ASKED} ORDER BY 1, 2)"
    " GROUP BY id HAVING count(*) >= :least ORDER BY count(*) DESC, id LIMIT :limit"
)
_PUT_RECALL: Final = (
    "INSERT OR IGNORE INTO recall (space, query_id, place, memory_id, principal, session_id, time)"
    " SELECT :space, :query_id, r.key, m.id, :principal, :session_id, :time"
    " FROM json_each(:ids) r JOIN memory m ON m.space = :space AND m.id = r.value"
    f" AND m.erase_time = 0 AND m.record_until = {FOREVER}"
)
_QUERIES: Final = (
    "SELECT DISTINCT query_id FROM recall WHERE space = :space AND query_id < :before"
    " AND :query_id IN ('', query_id) AND :memory_id IN ('', memory_id)"
    " AND :principal IN ('', principal) AND :session_id IN ('', session_id)"
    " ORDER BY query_id DESC LIMIT :limit"
)
_RECALLS: Final = (
    "SELECT query_id, principal, session_id, time, memory_id FROM recall WHERE space = :space"
    f" AND query_id IN ({_QUERIES}) ORDER BY query_id DESC, place"
)
_AFTER_ALL: Final = "\U0010ffff"

_KEPT: Final = {
    Session: ("session", "id, ''", _SESSION),
    SessionRead: ("co_read", "session_id, memory_id", "session_id, memory_id, time"),
    Restatement: ("restatement", "memory_id, session_id", "memory_id, session_id, time"),
}
"""For each kind of row: table, key, and columns in the order of the kind's fields."""


class SessionReads:
    """The part of a view that reads sessions, recalls and records of services."""

    _db: sqlite3.Connection
    _space: int

    async def session(self, session_id: str) -> Session | None:
        sql = f"SELECT {_SESSION} FROM session WHERE space = ? AND id = ?"
        row = self._db.execute(sql, (self._space, session_id)).fetchone()
        return Session(*row) if row else None

    async def sessions(
        self, filter_: SessionFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Session]:
        time, last = before or (FOREVER, "")
        sql = (
            f"SELECT {_SESSION} FROM session WHERE space = :space"
            " AND (last_use_time < :time OR last_use_time = :time AND id > :last)"
            " AND last_use_time < :idle_since AND (:ended IS NULL OR (end_time > 0) = :ended)"
            " ORDER BY last_use_time DESC, id LIMIT :limit"
        )
        bound = {"space": self._space, "time": time, "last": last, "limit": limit}
        bound |= {"idle_since": filter_.idle_since, "ended": filter_.ended}
        return [Session(*row) for row in self._db.execute(sql, bound)]

    async def co_reads(self, session_id: str, limit: int) -> Sequence[CoRead]:
        found = self._db.execute(_CO_READS, (self._space, session_id, limit))
        return [CoRead(*row) for row in found]

    async def session_rows(
        self, kind: type[SessionRowT], after: tuple[str, str], limit: int
    ) -> Sequence[SessionRowT]:
        table, key, columns = _KEPT[kind]
        sql = (
            f"SELECT {columns} FROM {table} WHERE space = ? AND ({key}) > (?, ?)"
            f" ORDER BY {key} LIMIT ?"
        )
        return [kind(*row) for row in self._db.execute(sql, (self._space, *after, limit))]

    async def restated(
        self, session_ids: Sequence[str], least: int, limit: int
    ) -> Sequence[Restated]:
        bound = {"space": self._space, "sessions": json.dumps(session_ids)}
        found = self._db.execute(_RESTATED, bound | {"least": least, "limit": limit})
        return [Restated(row[0], tuple(json.loads(row[1]))) for row in found]

    async def service_record(self, kind: str, key: str = "") -> str:
        sql = "SELECT body FROM service_record WHERE space = ? AND kind = ?"
        row = self._db.execute(sql, (self._space, record_name(kind, key))).fetchone()
        return str(row[0]) if row else ""

    async def service_records(self, kind: str, prefix: str) -> Mapping[str, str]:
        start = record_name(kind, prefix)
        sql = (
            "SELECT substr(kind, ?), body FROM service_record WHERE space = ?"
            " AND kind >= ? AND kind < ?"
        )
        bound = (len(record_name(kind, " ")), self._space, start, start + "\U0010ffff")
        return dict(self._db.execute(sql, bound).fetchall())

    async def recalls(self, filter_: RecallFilter, before: str, limit: int) -> Sequence[Recall]:
        bound = asdict(filter_) | {"before": before or _AFTER_ALL, "limit": limit}
        rows = self._db.execute(_RECALLS, bound | {"space": self._space}).fetchall()
        return recalls_of(rows)


class SessionWrites(SessionReads):
    """The part of a transaction that writes sessions, recalls and records of services."""

    async def end_session(self, session_id: str, time: int) -> None:
        sql = "UPDATE session SET end_time = ? WHERE space = ? AND id = ?"
        self._db.execute(sql, (time, self._space, session_id))

    async def drop_co_reads(self, before: int) -> None:
        sql = "DELETE FROM co_read WHERE space = ? AND time < ?"
        self._db.execute(sql, (self._space, before))

    async def put_session_rows(self, rows: Sequence[SessionRow]) -> None:
        table, _, columns = _KEPT[type(rows[0])]
        marks = ", ".join("?" for _ in columns.split(","))
        sql = f"INSERT INTO {table} (space, {columns}) VALUES (?, {marks}) ON CONFLICT DO NOTHING"
        self._db.executemany(sql, [(self._space, *astuple(row)) for row in rows])

    async def drop_service_records(self, kind: str, before: str) -> None:
        sql = "DELETE FROM service_record WHERE space = ? AND kind > ? AND kind < ?"
        start, end = record_name(kind, " "), record_name(kind, before)
        self._db.execute(sql, (self._space, start, end))

    async def put_service_record(self, kind: str, body: str, key: str = "") -> None:
        sql = "INSERT OR REPLACE INTO service_record (space, kind, body) VALUES (?, ?, ?)"
        self._db.execute(sql, (self._space, record_name(kind, key), body))

    async def put_recall(self, recall: Recall) -> None:
        ids = json.dumps(recall.memory_ids)
        bound = {name: value for name, value in asdict(recall).items() if name != "memory_ids"}
        self._db.execute(_PUT_RECALL, bound | {"space": self._space, "ids": ids})

    async def drop_recalls(self, before: str) -> None:
        sql = "DELETE FROM recall WHERE space = ? AND query_id < ?"
        self._db.execute(sql, (self._space, before))

    async def drop_recalls_of(self, query_ids: Collection[str]) -> None:
        sql = "DELETE FROM recall WHERE space = ? AND query_id IN (SELECT value FROM json_each(?))"
        self._db.execute(sql, (self._space, json.dumps(list(query_ids))))


def store_uses(db: sqlite3.Connection, uses: SessionUses) -> None:
    """Add uses to the records of their sessions, and their reads to the co-reads."""
    rows = [[*key, use.first, use.last] for key, use in uses.items()]
    read = [[*key, i, time] for key, use in uses.items() for i, time in use.memories.items()]
    db.execute(_USE, (json.dumps(rows),))
    db.execute(_READ, (json.dumps(read),))
    db.executemany(_FEWER, [(*key, MOST_CO_READS) for key, use in uses.items() if use.memories])
