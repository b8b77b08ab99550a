"""Reads the ledger's file for a backup: log heads, ended keys and deleted spaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from concord_stores.sqlite_file import drive

from concord_governance.adapters.sqlite.ledger import SCHEMA
from concord_governance.adapters.sqlite.reads import SqliteLedgerReads
from concord_governance.domain.access import ApiKey, Space
from concord_governance.ports.copies import EndedKey, LogHead
from concord_governance.ports.ledger import frontier_of


class SqliteCopy:
    """The ledger in a file, which its program may write meanwhile."""

    NEWEST = SCHEMA.version
    """The newest version of the schema that this program knows."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @property
    def schema(self) -> int:
        found = self._db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        return int(found[0])

    def log_heads(self) -> Mapping[str, LogHead]:
        names = [str(row[0]) for row in self._db.execute("SELECT name FROM space ORDER BY name")]
        return {name: _head(SqliteLedgerReads(self._db, name)) for name in names}

    def ended_keys(self) -> Iterator[EndedKey]:
        rows = self._db.execute(
            "SELECT id, space, revoke_time, expire_time FROM access_key"
            " WHERE revoke_time IS NOT NULL OR expire_time IS NOT NULL ORDER BY id"
        )
        yield from (EndedKey(*row) for row in rows)

    def deleted_spaces(self) -> Iterator[Space]:
        rows = self._db.execute(
            "SELECT name, create_time, created_by, delete_time, statement FROM access_space"
            " WHERE delete_time IS NOT NULL ORDER BY name"
        )
        yield from (Space(*row) for row in rows)

    def key_of(self, digest: str) -> ApiKey | None:
        return drive(SqliteLedgerReads(self._db, "").key_of_digest(digest))


def _head(reads: SqliteLedgerReads) -> LogHead:
    log = drive(frontier_of(reads))
    return LogHead(log.size, log.root(), drive(reads.feed_cursor()))
