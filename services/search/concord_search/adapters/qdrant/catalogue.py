"""The file of an index's spaces: their numbers and secrets, and what keeps bytes of removed points.

SQLite overwrites what is deleted, so that a removed space's name and secret are gone for good.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from concord_search.adapters.qdrant.keys import KEY_BYTES
from concord_search.domain.errors import IndexCorrupt

_SCHEMA = """
PRAGMA secure_delete = ON;
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS tenant (
  number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, secret BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS traced (partition TEXT PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS settled (partitions INTEGER NOT NULL) STRICT;
"""


class Catalogue:
    """The open file. Blocking, for one thread at a time; every method raises `IndexCorrupt`.

    A tenant is one version of a space; its number is never used twice.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        with self._readable():
            self._database.executescript(_SCHEMA)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise IndexCorrupt(
                f"{self._path} cannot be read. Delete {self._path}: it is rebuilt from graph."
            ) from error

    def partitions(self, wanted: int) -> int:
        """The number of partitions, which the first call settles."""
        with self._readable():
            if (
                found := self._database.execute("SELECT partitions FROM settled").fetchone()
            ) is None:
                self._database.execute("INSERT INTO settled VALUES (?)", (wanted,))
            return wanted if found is None else int(found[0])

    def tenants(self) -> Mapping[int, tuple[str, bytes]]:
        """Every tenant's name and secret, by its number."""
        with self._readable():
            rows = self._database.execute("SELECT number, name, secret FROM tenant")
            return {number: (name, secret) for number, name, secret in rows}

    def add(self, name: str) -> tuple[int, bytes]:
        """Adds a tenant; returns its number and secret."""
        secret = secrets.token_bytes(KEY_BYTES)
        with self._readable():
            added = "INSERT INTO tenant (name, secret) VALUES (?, ?) RETURNING number"
            ((number,),) = self._database.execute(added, (name, secret)).fetchall()
        return int(number), secret

    def remove(self, numbers: Iterable[int]) -> None:
        """Removes tenants, with every byte of their names and secrets."""
        with self._readable():
            self._database.execute("BEGIN")
            self._database.executemany(
                "DELETE FROM tenant WHERE number = ?", ((number,) for number in numbers)
            )
            self._database.execute("COMMIT")
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def traced(self) -> set[str]:
        """The partitions whose files may hold bytes of removed points."""
        with self._readable():
            return {name for (name,) in self._database.execute("SELECT partition FROM traced")}

    def trace(self, partition: str) -> None:
        """Notes, before points are removed, that a partition's files may keep their bytes."""
        with self._readable():
            self._database.execute("INSERT OR IGNORE INTO traced VALUES (?)", (partition,))

    def untrace(self, partition: str) -> None:
        """Notes that a partition's files were made anew, or are gone."""
        with self._readable():
            self._database.execute("DELETE FROM traced WHERE partition = ?", (partition,))

    def close(self) -> None:
        """Closes the file."""
        self._database.close()
