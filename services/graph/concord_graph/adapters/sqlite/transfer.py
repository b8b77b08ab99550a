"""Reads for full exports alone: genesis, access data, burnt nonces and early refusals."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from concord_graph.adapters.unstored import page_of_accesses
from concord_graph.domain.items import Access
from concord_graph.ports import Author, ReadCounts


class TransferReads:
    """The part of a view that reads a space to move it."""

    _db: sqlite3.Connection
    _space: int
    _space_name: str
    _pending: Sequence[ReadCounts]

    async def genesis_envelope(self) -> bytes:
        sql = "SELECT envelope FROM genesis WHERE space = ?"
        row = self._db.execute(sql, (self._space,)).fetchone()
        return bytes(row[0]) if row else b""

    async def enrolment(self) -> str:
        sql = "SELECT enrolment FROM space WHERE id = ?"
        row = self._db.execute(sql, (self._space,)).fetchone()
        return str(row[0]) if row else ""

    async def accesses(self, after: str, limit: int) -> Sequence[tuple[str, Access]]:
        """Return the items that were ever read, by id, with stored and pending reads."""
        sql = (
            "SELECT id, last_time, count FROM access WHERE space = ? AND id > ? ORDER BY id LIMIT ?"
        )
        rows = self._db.execute(sql, (self._space, after, limit)).fetchall()
        stored = [(item_id, Access(last, count)) for item_id, last, count in rows]
        return page_of_accesses(stored, self._pending, self._space_name, after, limit)

    async def nonces(self, after: str, limit: int) -> Sequence[str]:
        sql = "SELECT nonce FROM nonce WHERE space = ? AND nonce > ? ORDER BY nonce LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (self._space, after, limit)).fetchall()]

    async def early_refusals(self) -> Sequence[tuple[int, Author, str]]:
        sql = (
            "SELECT time, principal, method, request_id, reason FROM early_refusal"
            " WHERE space = ? ORDER BY rowid"
        )
        rows = self._db.execute(sql, (self._space,)).fetchall()
        return [(time, Author(*author), why) for time, *author, why in rows]
