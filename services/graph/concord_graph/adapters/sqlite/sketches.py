"""The sketches of memories in SQLite, by which near-identical ones are found (T6)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from concord_graph.domain import sketch as sketching
from concord_graph.domain.items import FOREVER, Memory
from concord_graph.domain.sketch import BANDS, MOST_PER_BAND, pack, sketch_of, unpack

_OF_BAND = (
    "SELECT * FROM (SELECT number FROM sketch WHERE space = ? AND band = ?"
    f" AND number < ? ORDER BY number DESC LIMIT {MOST_PER_BAND})"
)
_LIKE = (
    "SELECT m.id, m.content FROM (SELECT number, count(*) AS shared FROM"
    f" ({' UNION ALL '.join([_OF_BAND] * BANDS)}) GROUP BY number"
    " ORDER BY shared DESC, number DESC LIMIT ?) CROSS JOIN sketched s USING (number)"
    f" JOIN memory m ON m.space = s.space AND m.id = s.memory AND m.record_until = {FOREVER}"
    " ORDER BY shared DESC, number DESC"
)


def keep(db: sqlite3.Connection, space: int, memory: Memory) -> None:
    """Bring the sketch of a memory up to what it says now; of one that is gone, remove it."""
    sketch = sketch_of(_key(db, space) or _new_key(db, space), memory)
    if memory.revision.number > 1:
        kept = _kept(db, space, memory.id)
        if kept and kept[1] == sketch:
            return
        if kept:
            _remove(db, space, *kept)
    if sketch:
        sql = "INSERT INTO sketched (space, memory, bands) VALUES (?, ?, ?)"
        number = db.execute(sql, (space, memory.id, pack(sketch))).lastrowid
        rows = [(space, band, number) for band in set(sketch)]
        db.executemany("INSERT INTO sketch VALUES (?, ?, ?)", rows)


def like(
    db: sqlite3.Connection, space: int, memory_id: str, most: int
) -> Sequence[tuple[str, str]]:
    """Return (id, content) of up to `most` memories from before it that share most of its bands."""
    kept = _kept(db, space, memory_id)
    if kept is None:
        return ()
    number, sketch = kept
    bound = [value for band in sketch for value in (space, band, number)]
    rows = db.execute(_LIKE, (*bound, most)).fetchall()
    return [(row[0], row[1]) for row in rows]


def _key(db: sqlite3.Connection, space: int) -> bytes:
    row = db.execute("SELECT key FROM sketch_key WHERE space = ?", (space,)).fetchone()
    return row[0] if row else b""


def _new_key(db: sqlite3.Connection, space: int) -> bytes:
    key = sketching.new_key()
    db.execute("INSERT INTO sketch_key VALUES (?, ?)", (space, key))
    return key


def _kept(db: sqlite3.Connection, space: int, memory_id: str) -> tuple[int, tuple[int, ...]] | None:
    sql = "SELECT number, bands FROM sketched WHERE space = ? AND memory = ?"
    row = db.execute(sql, (space, memory_id)).fetchone()
    return (row[0], unpack(row[1])) if row else None


def _remove(db: sqlite3.Connection, space: int, number: int, sketch: Sequence[int]) -> None:
    rows = [(space, band, number) for band in set(sketch)]
    db.executemany("DELETE FROM sketch WHERE space = ? AND band = ? AND number = ?", rows)
    db.execute("DELETE FROM sketched WHERE number = ?", (number,))
