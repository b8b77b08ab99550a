"""Sketches in a file of SQLite of this process's own; without a path in a temporary one."""

import fcntl
import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from pathlib import Path
from typing import TypeVar

from concord_chassis.channel.cursors import Cursor
from concord_chassis.observe.log import Logger
from concord_chassis.server.workers import Workers

from concord_dissonance.domain.errors import SketchesUnusable
from concord_dissonance.ports.feed import Position
from concord_dissonance.ports.sketches import Row

T = TypeVar("T")

_TABLES = """
CREATE TABLE IF NOT EXISTS sketches (
  space TEXT NOT NULL, id TEXT NOT NULL, version BLOB NOT NULL, sketch BLOB NOT NULL,
  PRIMARY KEY (space, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS positions (
  space TEXT PRIMARY KEY, epoch TEXT NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cursors (
  partition INTEGER PRIMARY KEY, number INTEGER NOT NULL, digest TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS in_use (space TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_OF_IDS = "space = ? AND id IN (SELECT value FROM json_each(?))"


class SqliteSketches:
    """The store. It makes a file anew that it cannot read.

    The file is of one process: another one would take this one's place in the feed for its own, and
    keep sketches of what was erased meanwhile. A lock on it holds others off.
    """

    def __init__(self, path: Path | None, log: Logger) -> None:
        self._path, self._log = path, log
        self._thread = Workers(1, "sketches")
        self._db: sqlite3.Connection | None = None
        self._lock: int | None = None

    async def open(self) -> None:
        """Open the file, which the first use does otherwise. Raises `SketchesUnusable`."""
        await self._thread.run(self._opened)

    async def get(self, space: str, ids: Collection[str]) -> Mapping[str, tuple[bytes, bytes]]:
        def work(db: sqlite3.Connection) -> dict[str, tuple[bytes, bytes]]:
            rows = db.execute(
                f"SELECT id, version, sketch FROM sketches WHERE {_OF_IDS}",
                (space, json.dumps(list(ids))),
            )
            return {each: (version, sketch) for each, version, sketch in rows}

        return await self._run(work, {})

    async def put(self, space: str, rows: Iterable[Row]) -> None:
        def work(db: sqlite3.Connection) -> None:
            db.executemany(
                "INSERT OR REPLACE INTO sketches VALUES (?, ?, ?, ?)",
                ((space, *row) for row in rows),
            )

        await self._run(work, None)

    async def drop(self, space: str, ids: Collection[str]) -> None:
        def work(db: sqlite3.Connection) -> None:
            db.execute(f"DELETE FROM sketches WHERE {_OF_IDS}", (space, json.dumps(list(ids))))

        await self._run(work, None)

    async def ids(self, space: str) -> Collection[str]:
        def work(db: sqlite3.Connection) -> set[str]:
            rows = db.execute("SELECT id FROM sketches WHERE space = ?", (space,))
            return {each for (each,) in rows}

        return await self._run(work, set())

    async def position(self, space: str) -> Position | None:
        def work(db: sqlite3.Connection) -> Position | None:
            found = db.execute("SELECT epoch, seq FROM positions WHERE space = ?", (space,))
            row = found.fetchone()
            return None if row is None else Position(*row)

        return await self._run(work, None)

    async def reached(self, space: str, position: Position) -> None:
        def work(db: sqlite3.Connection) -> None:
            row = (space, position.epoch, position.seq)
            db.execute("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)", row)

        await self._run(work, None)

    async def drop_space(self, space: str) -> None:
        def work(db: sqlite3.Connection) -> None:
            for table in ("sketches", "positions"):
                db.execute(f"DELETE FROM {table} WHERE space = ?", (space,))

        await self._run(work, None)

    async def heard(self) -> tuple[Mapping[int, Cursor], Set[str]]:
        def work(db: sqlite3.Connection) -> tuple[Mapping[int, Cursor], Set[str]]:
            cursors = db.execute("SELECT partition, number, digest FROM cursors")
            spaces = db.execute("SELECT space FROM in_use")
            return {each: Cursor(*at) for each, *at in cursors}, {space for (space,) in spaces}

        return await self._run(work, ({}, frozenset()))

    async def keep_heard(self, cursors: Mapping[int, Cursor], in_use: Set[str]) -> None:
        def work(db: sqlite3.Connection) -> None:
            before = {space for (space,) in db.execute("SELECT space FROM in_use")}
            gone, new = ((each,) for each in before - in_use), ((each,) for each in in_use - before)
            db.executemany("DELETE FROM in_use WHERE space = ?", gone)
            db.executemany("INSERT INTO in_use VALUES (?)", new)
            rows = [(each, *at) for each, at in cursors.items()]
            db.executemany("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?)", rows)

        await self._run(work, None)

    async def close(self) -> None:
        """Close the file; it opens again at the next use."""
        await self._thread.run(self._close)
        self._thread.close()

    async def _run(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        return await self._thread.run(self._tried, work, otherwise)

    def _tried(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        try:
            with self._opened() as db:
                return work(db)
        except (sqlite3.DatabaseError, SketchesUnusable) as error:
            self._log.warning("sketches are not kept", reason=str(error))
            self._close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                self._remove()
            return otherwise

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            if self._path is not None:
                self._lock = self._locked(self._path)
            db = sqlite3.connect(self._path or "", check_same_thread=False)
            self._db = db
            for pragma in ("journal_mode = delete", "synchronous = NORMAL", "secure_delete = ON"):
                db.execute(f"PRAGMA {pragma}")
            db.executescript(_TABLES)
        return self._db

    def _locked(self, path: Path) -> int:
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise SketchesUnusable(f"DISSONANCE_SKETCHES_PATH: {error}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            reason = (
                f"{path} is another process's: each needs a DISSONANCE_SKETCHES_PATH of its own"
            )
            raise SketchesUnusable(reason) from error
        return lock

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        if self._lock is not None:  # last: closing it ends SQLite's own locks, too
            os.close(self._lock)
            self._lock = None

    def _remove(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)
