"""The recall log: a row for each memory that an answer returned."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Final

from concord_graph.domain.items import FOREVER
from concord_graph.domain.recalls import Recall, RecallFilter

_PUT: Final = (
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
_ROWS: Final = (
    "SELECT query_id, principal, session_id, time, memory_id FROM recall WHERE space = :space"
    f" AND query_id IN ({_QUERIES}) ORDER BY query_id DESC, place"
)
_AFTER_ALL: Final = "\U0010ffff"


class RecallReads:
    """The part of a view that reads recalls."""

    _db: sqlite3.Connection
    _space: int

    async def recalls(self, filter_: RecallFilter, before: str, limit: int) -> Sequence[Recall]:
        bound = asdict(filter_) | {"before": before or _AFTER_ALL, "limit": limit}
        rows = self._db.execute(_ROWS, bound | {"space": self._space}).fetchall()
        return [
            Recall(said[0], said[1], said[2], tuple(row[4] for row in of_one), said[3])
            for said, of_one in groupby(rows, key=lambda row: row[:4])
        ]


class RecallWrites(RecallReads):
    """The part of a transaction that writes recalls."""

    async def put_recall(self, recall: Recall) -> None:
        ids = json.dumps(recall.memory_ids)
        bound = {name: value for name, value in asdict(recall).items() if name != "memory_ids"}
        self._db.execute(_PUT, bound | {"space": self._space, "ids": ids})

    async def drop_recalls(self, before: str) -> None:
        sql = "DELETE FROM recall WHERE space = ? AND query_id < ?"
        self._db.execute(sql, (self._space, before))
