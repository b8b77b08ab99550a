"""Reads a copy of the ledger's file: log heads, ended keys and deleted spaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from concord_stores.sqlite_file import drive

from concord_governance.adapters.sqlite.access import SqliteAccessReads
from concord_governance.adapters.sqlite.reads import SqliteLedgerReads
from concord_governance.domain.access import ApiKey, Space
from concord_governance.ports.ledger import Cursor, frontier_of
from concord_governance.usecases.restore import EndedKey


@dataclass(frozen=True, slots=True)
class LogHead:
    """The head of a space's log, and the last change of graph in it. `root`: 32 bytes."""

    size: int
    root: bytes
    cursor: Cursor


def log_heads(db: sqlite3.Connection) -> dict[str, LogHead]:
    """Return the head of each space's log."""
    names = [str(row[0]) for row in db.execute("SELECT name FROM space ORDER BY name")]
    return {name: _head(SqliteLedgerReads(db, name)) for name in names}


def ended_keys(db: sqlite3.Connection) -> Iterator[EndedKey]:
    """Yield every key that was revoked or has an expire time."""
    rows = db.execute(
        "SELECT id, space, revoke_time, expire_time FROM access_key"
        " WHERE revoke_time IS NOT NULL OR expire_time IS NOT NULL ORDER BY id"
    )
    yield from (EndedKey(*row) for row in rows)


def deleted_spaces(db: sqlite3.Connection) -> Iterator[Space]:
    """Yield every deleted space."""
    rows = db.execute(
        "SELECT name, create_time, created_by, delete_time, statement FROM access_space"
        " WHERE delete_time IS NOT NULL ORDER BY name"
    )
    yield from (Space(*row) for row in rows)


def key_of(db: sqlite3.Connection, digest: str) -> ApiKey | None:
    """Return the key of a digest, in whatever state."""
    return drive(_Access(db).key_of_digest(digest))


class _Access(SqliteAccessReads):
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db


def _head(reads: SqliteLedgerReads) -> LogHead:
    log = drive(frontier_of(reads))
    return LogHead(log.size, log.root(), drive(reads.feed_cursor()))
