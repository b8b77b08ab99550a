"""Reads the store's file for a backup, and gives a restored copy its own epoch."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from concord_graph.adapters.sqlite import layers
from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.usecases.governed.change_digest import digest_of


class SqliteCopy:
    """The store in a file, which its program may write meanwhile."""

    NEWEST = SCHEMA.version
    """The newest version of the schema that this program knows."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @property
    def epoch(self) -> str:
        return self._meta("epoch")

    @property
    def schema(self) -> int:
        return int(self._meta("schema"))

    def heads(self) -> Mapping[str, int]:
        rows = self._db.execute("SELECT name, seq FROM space WHERE seq > 0 ORDER BY name")
        return dict(rows.fetchall())

    def last_time(self) -> int:
        """Return the time of the newest change of all spaces, µs; 0 without any."""
        (latest,) = self._db.execute("SELECT coalesce(max(last_time), 0) FROM space").fetchone()
        return int(latest)

    def digest_at(self, space: str, seq: int, epoch: str) -> str:
        found = layers.changes(self._db, space, seq - 1, 1)
        return digest_of(epoch, found[0]) if found and found[0].seq == seq else ""

    def erasures(self) -> Iterator[tuple[str, str]]:
        yield from self._db.execute(
            "SELECT s.name, e.memory_id FROM erasure e JOIN space s ON s.id = e.space ORDER BY 1, 2"
        )

    def nonces(self) -> Iterator[tuple[str, str]]:
        yield from self._db.execute(
            "SELECT s.name, n.nonce FROM nonce n JOIN space s ON s.id = n.space ORDER BY 1, 2"
        )

    def _meta(self, key: str) -> str:
        found = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(found[0])


def begin_epoch(path: Path, epoch: str) -> None:
    """Set the epoch, which invalidates tokens and cursors of the former one."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (epoch,))
