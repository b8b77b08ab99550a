"""Bringing a store's schema up to what this program knows, in numbered steps (G16)."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from concord_graph.domain.sketch import bands, pack, unpack
from concord_graph.domain.spelling import backwards, folded

_FOLDER = Path(__file__).with_name("schema")


class NewerSchema(Exception):
    """The store was written by a newer program. `args`: its schema, the newest known here."""


@cache
def steps() -> tuple[tuple[int, str], ...]:
    """Return (number, SQL) of every step, in order, from 1 without a gap."""
    found = tuple(
        (int(path.name.partition("_")[0]), path.read_text("utf-8"))
        for path in sorted(_FOLDER.glob("*.sql"))
    )
    if [number for number, _ in found] != list(range(1, len(found) + 1)):
        raise RuntimeError(f"the steps in {_FOLDER} are not numbered 1, 2, 3, ...")
    return found


def migrate(db: sqlite3.Connection) -> None:
    """Run the steps that a store lacks, all of them or none.

    Raises:
        NewerSchema: a newer program wrote the store.
        sqlite3.DatabaseError: the file cannot be read or written, or is locked.
    """
    db.execute("BEGIN IMMEDIATE")  # two programs may open a store at once, and one that is locked
    try:  # is told of now, not later
        version = _version(db)
        known = len(steps())
        if version > known:
            raise NewerSchema(version, known)
        if version == known:
            return
        for make in (folded, backwards):
            db.create_function(make.__name__, 1, make, deterministic=True)
        db.create_function("sketched", 3, sketched, deterministic=True)
        db.create_function("band", 2, band, deterministic=True)
        for number, script in steps()[version:]:
            for statement in _statements(script):
                db.execute(statement)
            if number == 1:
                db.execute("INSERT INTO meta VALUES ('epoch', ?)", (str(uuid.uuid4()),))
        db.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(known),))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def sketched(key: bytes, kind: int, content: str) -> bytes | None:
    """Return the sketch of a text, packed; None when it has none."""
    sketch = bands(key, kind, content)
    return pack(sketch) if sketch else None


def band(packed: bytes, place: int) -> int:
    """Return one band of a packed sketch."""
    return unpack(packed)[place]


def _version(db: sqlite3.Connection) -> int:
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone() is None:
        return 0
    row = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    return int(row[0])


def _statements(script: str) -> Iterator[str]:
    """Split a script where statements end; a trigger's inner semicolons end none."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
