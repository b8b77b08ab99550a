"""The tables of a SQLite file: made, or converted from those of an earlier release."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


class UnknownSchema(Exception):
    """The file's schema is neither today's nor one that is converted; its argument says which."""


@dataclass(frozen=True)
class Schema:
    """A file's tables: their version and the SQL that makes them.

    `conversions` is by version the SQL that brings the tables of an earlier release to this one.
    `begin` runs once, in the transaction that makes a new file.
    """

    version: int
    tables: str
    conversions: Mapping[int, str]
    begin: Callable[[sqlite3.Connection], None] = lambda _: None

    def prepare(self, db: sqlite3.Connection) -> None:
        """Make the tables, or convert those of an earlier release: all of them or none.

        Raises:
            UnknownSchema: a newer program wrote the file, or one that was never released.
            sqlite3.DatabaseError: it cannot be read or written, or is locked.
        """
        db.execute("BEGIN IMMEDIATE")  # two programs may open a file at once, and a locked
        try:  # one is refused now, not later
            version = _version(db)
            if version == self.version:
                return
            script = self.conversions.get(version) if version else self.tables
            if script is None:
                raise UnknownSchema(version)
            for statement in _statements(script):
                db.execute(statement)
            if version == 0:
                self.begin(db)
            db.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(self.version),))
            db.execute("COMMIT")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")


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
