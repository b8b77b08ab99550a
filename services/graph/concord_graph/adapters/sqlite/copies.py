"""Reads a copy of the store's file for a backup, and gives a restored copy its own epoch."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from concord_graph.adapters.sqlite import record
from concord_graph.usecases.governed.change_digest import digest_of


def epoch_of(db: sqlite3.Connection) -> str:
    """Return the store's epoch."""
    (epoch,) = db.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
    return str(epoch)


def heads(db: sqlite3.Connection) -> Mapping[str, int]:
    """Return the last sequence number of each space that has a change."""
    return dict(db.execute("SELECT name, seq FROM space WHERE seq > 0 ORDER BY name").fetchall())


def digest_at(db: sqlite3.Connection, space: str, seq: int, epoch: str) -> str:
    """Return the digest, under an epoch, of the change `seq`; empty when there is none."""
    found = record.changes(db, space, seq - 1, 1)
    return digest_of(epoch, found[0]) if found and found[0].seq == seq else ""


def erasures(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield the (space, memory id) of every receipt of an erasure."""
    yield from db.execute(
        "SELECT s.name, e.memory_id FROM erasure e JOIN space s ON s.id = e.space ORDER BY 1, 2"
    )


def nonces(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield the (space, nonce) of every burnt nonce."""
    yield from db.execute(
        "SELECT s.name, n.nonce FROM nonce n JOIN space s ON s.id = n.space ORDER BY 1, 2"
    )


def begin_epoch(path: Path, epoch: str) -> None:
    """Set the epoch, which invalidates tokens and cursors of the former one."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (epoch,))
