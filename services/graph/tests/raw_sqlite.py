"""Writing past graph into its SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path


def grow_hub(path: Path, name: str, count: int) -> None:
    """Give the node of a name `count` more edges, to nowhere in particular."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
            " INSERT INTO edge SELECT h.space, 'hub-' || n.i, 1, h.seq, h.record_from,"
            " h.record_until, 0, 'p', h.salt, h.create_time, h.id, 1, 'R', 'leaf-' || n.i,"
            " 1, 0.5, '{}', 1, 0, NULL, NULL, h.create_time, 1, 0, 0, 0, 0"
            " FROM node h, n WHERE h.name = :name",
            {"count": count, "name": name},
        )
        db.commit()


def join(path: Path, pairs: Sequence[tuple[str, str]], *, like: str) -> None:
    """Join pairs of nodes by edges like the one of an id."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "INSERT INTO edge SELECT e.space, 'joined-' || p.key, 1, e.seq, e.record_from,"
            " e.record_until, 0, 'p', e.salt, e.create_time, p.value->>0, 1, 'R', p.value->>1, 1,"
            " 0.5, '{}', 1, 0, NULL, NULL, e.effective_from, 1, 0, 0, 0, 0"
            " FROM (SELECT * FROM edge WHERE id = ?) e, json_each(?) p",
            (like, json.dumps(pairs)),
        )
        db.commit()


def pile_up_history(path: Path, edge_id: str, count: int) -> None:
    """Give an edge `count` more revisions, long closed."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
            " INSERT INTO edge SELECT e.space, e.id, 1 + n.i, e.seq, e.record_from,"
            " e.record_from, 0, 'p', e.salt, e.create_time, e.source_id, 1, 'R', e.target_id,"
            " 1, 0.5, '{}', 1, 0, NULL, NULL, e.effective_from, 1, 0, 0, 0, 0"
            " FROM edge e, n WHERE e.id = :id",
            {"count": count, "id": edge_id},
        )
        db.commit()


def records(path: Path) -> str:
    """Return all that the outbox and the receipts hold."""
    with closing(sqlite3.connect(path)) as db:
        rows = [
            repr(row)
            for table in ("change", "request")
            for row in db.execute(f"SELECT * FROM {table}")
        ]
    return "\n".join(rows)


@contextmanager
def blocked(path: Path) -> Iterator[None]:
    """Keep everybody else from writing."""
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def unprotected(path: Path) -> Iterator[None]:
    """Take the store's own protection away, for good."""
    with closing(sqlite3.connect(path)) as db, db:
        for (name,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%_protected_%'"
        ).fetchall():
            db.execute(f"DROP TRIGGER {name}")
    yield
