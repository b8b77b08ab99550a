"""Erases the content of items from their rows, stores the receipts, and removes the rows of a
deleted space."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

from concord_graph.adapters.sqlite import rows
from concord_graph.domain.erasure import Confirmation, Erasure
from concord_graph.domain.items import Edge, ItemKind, Record
from concord_graph.domain.spelling import backwards, folded

_TELLING = 4
"""Fewest bytes of a text that is looked for in the file: `[]`, say, is found everywhere."""

_RECEIPT = ("id", "memory_id", "time", "principal", "reason", "digest", "edge_count")
_NAME = {ItemKind.NODE: "name", ItemKind.MEMORY: "external_id"}
_RESERVED: Final = "'concord:%'"
_STEPPED: Final = {
    "edge": f"relation NOT LIKE {_RESERVED}",
    "node": f"name NOT LIKE {_RESERVED}",
    "memory": "true",
    "entry": "true",
    "support": "true",
}
"""The tables that grow with a space, each with the test of the rows to remove."""
_WHOLE: Final = (
    *("relation", "standing", "spelling", "participant", "access", "request"),
    *("session", "co_read", "restatement", "service_record", "recall"),
)


class ErasureReads:
    """The part of a view that reads receipts of erasures."""

    _db: sqlite3.Connection
    _space: int

    async def erasure(self, *, erase_id: str = "", memory_id: str = "") -> Erasure | None:
        column, value = ("id", erase_id) if erase_id else ("memory_id", memory_id)
        sql = f"SELECT {', '.join(_RECEIPT)} FROM erasure WHERE space = ? AND {column} = ?"
        row = self._db.execute(sql, (self._space, value)).fetchone()
        if row is None:
            return None
        known = dict(zip(_RECEIPT, row, strict=True))
        sql = (
            "SELECT confirmer, time FROM erase_confirmation"
            " WHERE space = ? AND erase_id = ? ORDER BY place"
        )
        confirmations = self._db.execute(sql, (self._space, row[0])).fetchall()
        return Erasure(**known, confirmations=tuple(Confirmation(*each) for each in confirmations))


class ErasureWrites(ErasureReads):
    """The part of a transaction that erases, and removes the rows of a deleted space.

    `erased`: the texts that went, which the store looks for in its file.
    """

    erased: list[bytes]

    async def erase(self, item: Record) -> None:
        """Erase every revision but the newest, which is erased already; keep their texts.

        Requests that wrote or found the item lose salt and digest: with these, a guess of its
        content could be tested.
        """
        table, columns = rows.table(item.kind), rows.CONTENT[item.kind]
        if isinstance(item, Edge) and item.target.id == item.id:  # it named a ghost
            columns = [*columns, "target_id"]
        left = rows.values(self._space, item)
        bound = left | {"quoted": json.dumps(item.id)}
        test = "WHERE space = :space AND id = :id AND erase_time = 0"
        said = self._db.execute(
            f"SELECT {', '.join(columns)} FROM {table} {test}", bound
        ).fetchall()
        texts = {
            value
            for row in said
            for name, value in zip(columns, row, strict=True)
            if value != left[name]
        }
        if isinstance(item, Edge):
            texts |= _drop_participants(self._db, bound)
        blank = ", ".join(f"{name} = :{name}" for name in [*columns, "erase_time"])
        self._db.execute(f"UPDATE {table} SET salt = x'', {blank} {test}", bound)
        self._db.execute(
            "UPDATE request SET salt = x'', digest = ''"
            " WHERE space = :space AND instr(refs, :quoted) > 0",
            bound,
        )
        self._db.execute("DELETE FROM access WHERE space = :space AND id = :id", bound)
        for table in ("co_read", "restatement", "recall"):
            self._db.execute(f"DELETE FROM {table} WHERE space = :space AND memory_id = :id", bound)
        if item.kind in _NAME:
            names = {row[columns.index(_NAME[item.kind])] for row in said}
            texts |= {spelt for name in names if name for spelt in (folded(name), backwards(name))}
        self.erased += _looked_for(texts)

    async def put_erasure(self, erasure: Erasure) -> None:
        self._db.execute(
            "INSERT INTO erasure VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(self._space, erasure.id, erasure.memory_id, erasure.time, erasure.principal),
                *(erasure.reason, erasure.digest, erasure.edge_count),
            ),
        )
        self._db.executemany(
            "INSERT INTO erase_confirmation VALUES (?, ?, ?, ?, ?)",
            [
                (self._space, erasure.id, place, each.confirmer, each.time)
                for place, each in enumerate(erasure.confirmations)
            ],
        )

    async def confirm(self, erase_id: str, confirmer: str, time: int) -> None:
        confirm(self._db, self._space, erase_id, confirmer, time)

    async def memories_to_erase(self, limit: int) -> Sequence[str]:
        sql = (
            "SELECT DISTINCT id FROM memory WHERE space = ? AND id NOT IN"
            " (SELECT memory_id FROM erasure WHERE space = ?) LIMIT ?"
        )
        return [str(row[0]) for row in self._db.execute(sql, (self._space, self._space, limit))]

    async def drop_memories(self, ids: Sequence[str]) -> None:
        bound = (self._space, json.dumps(ids))
        test = "space = ? AND id IN (SELECT value FROM json_each(?))"
        columns = ", ".join(rows.CONTENT[ItemKind.MEMORY])
        said = self._db.execute(f"SELECT {columns} FROM memory WHERE {test}", bound).fetchall()
        self._db.execute(f"DELETE FROM memory WHERE {test}", bound)
        self.erased += _looked_for(text for row in said for text in row)

    async def drop_rows(self, limit: int) -> bool:
        for table, test in _STEPPED.items():
            sql = (
                f"DELETE FROM {table} WHERE rowid IN"
                f" (SELECT rowid FROM {table} WHERE space = ? AND {test} LIMIT ?)"
            )
            limit -= self._db.execute(sql, (self._space, limit)).rowcount
            if limit <= 0:
                return False
        for table in _WHOLE:
            self._db.execute(f"DELETE FROM {table} WHERE space = ?", (self._space,))
        return True


def confirm(db: sqlite3.Connection, space: int, erase_id: str, confirmer: str, time: int) -> None:
    """Record a confirmer's confirmation at a time (µs); the first one stays."""
    db.execute(
        "UPDATE erase_confirmation SET time = ?"
        " WHERE space = ? AND erase_id = ? AND confirmer = ? AND time IS NULL",
        (time, space, erase_id, confirmer),
    )


def unconfirmed(db: sqlite3.Connection, confirmer: str) -> list[tuple[int, str]]:
    """Return (space, erase id) of the erasures that a confirmer has not confirmed."""
    sql = "SELECT space, erase_id FROM erase_confirmation WHERE confirmer = ? AND time IS NULL"
    return [(space, erase_id) for space, erase_id in db.execute(sql, (confirmer,)).fetchall()]


def _looked_for(texts: Iterable[Any]) -> list[bytes]:
    """Return, as bytes, the texts among the values that are to be looked for in the file."""
    found = {text.encode() for text in texts if isinstance(text, str)}
    return sorted(text for text in found if len(text) >= _TELLING)


def _drop_participants(db: sqlite3.Connection, bound: dict[str, Any]) -> set[str]:
    """Delete all participants that an edge ever had from their index; return their names."""
    names = (
        "SELECT p.value FROM edge e, json_each(e.properties, '$.participants') p"
        " WHERE e.space = :space AND e.id = :id AND p.type = 'text'"
    )
    found = {name for (name,) in db.execute(names, bound)}
    db.execute(
        f"DELETE FROM participant WHERE space = :space AND edge = :id AND name IN ({names})", bound
    )
    return found
