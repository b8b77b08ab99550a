"""The tables of a SQLite file: made, or converted from those of an earlier release."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass


class UnknownSchema(Exception):
    """The file's schema is neither today's nor one that is converted; its argument says which."""


@dataclass(frozen=True)
class Schema:
    """A file's tables: their version and the SQL that makes them.

    `conversions` maps an earlier release's version to the SQL that converts its tables' columns to
    today's; missing or differing tables, indexes, views and triggers come from `tables`. `begin`
    runs once, in the transaction that makes a new file.
    """

    version: int
    tables: str
    conversions: Mapping[int, str]
    begin: Callable[[sqlite3.Connection], None] = lambda _: None

    def prepare(self, db: sqlite3.Connection) -> None:
        """Make the tables, or convert those of an earlier release: all of them or none.

        Raises:
            UnknownSchema: a newer program wrote the file, or one that was never released.
            sqlite3.DatabaseError: the file cannot be read or written, or is locked.
        """
        db.execute("BEGIN IMMEDIATE")  # two programs may open a file at once, and a locked
        try:  # one is refused now, not later
            version = _version(db)
            if version == self.version:
                return
            if version == 0:
                _run(db, self.tables)
                self.begin(db)
            elif version in self.conversions:
                _drop(db, "trigger")  # they guard rows against writes, not against a conversion
                _run(db, self.conversions[version])
                _make_missing(db, self.tables)
            else:
                raise UnknownSchema(version)
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


def _run(db: sqlite3.Connection, script: str) -> None:
    for statement in _statements(script):
        db.execute(statement)


def _drop(db: sqlite3.Connection, kind: str, kept: Collection[str] = ()) -> None:
    """Drop all of a kind, but for those that SQLite made itself, or whose SQL is in `kept`."""
    made = "SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL"
    for name, sql in db.execute(made, (kind,)).fetchall():
        if sql not in kept:
            db.execute(f"DROP {kind} {name}")


def _make_missing(db: sqlite3.Connection, tables: str) -> None:
    """Make what `tables` makes and the file lacks; an unchanged index is not made anew."""
    wanted = {
        match["name"]: match["sql"] for match in map(_CREATE.search, _statements(tables)) if match
    }
    _drop(db, "view")
    _drop(db, "index", wanted.values())
    there = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
    for name, sql in wanted.items():
        if name not in there:
            db.execute(sql)


_CREATE = re.compile(r"^(?P<sql>CREATE (?:UNIQUE )?\w+ (?P<name>\w+)[^;]*(?:;[^;]*)*?);\s*$", re.M)
"""A statement after its comments and without its last semicolon, as SQLite stores its text."""


def _statements(script: str) -> Iterator[str]:
    """Split a script where statements end; a trigger's inner semicolons end none."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
