"""What an index knows of its spaces beside their points: numbers, secrets, stamps, notes.

Embedded, in files: SQLite overwrites what is deleted, so that a removed space's name and secret are
gone for good. On a server, in a collection of its own (`qdrant_server.catalogue`).
"""

import os
import secrets
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from concord_search.adapters.durable_file import read_json, replace_json
from concord_search.adapters.qdrant.keys import KEY_BYTES
from concord_search.domain.errors import IndexCorrupt

Stamp = Mapping[str, Any]
"""A partition's number, layout, embedding model, shard and engine."""

T = TypeVar("T")

_SCHEMA = """
PRAGMA secure_delete = ON;
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS tenant (
  number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, secret BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS traced (partition TEXT PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS settled (partitions INTEGER NOT NULL) STRICT;
"""


class Catalogue(ABC):
    """A tenant is one version of a space; its number is never used twice. A partition is named.

    Blocking, for one thread at a time but for the notes; every method raises `IndexCorrupt`, and
    over a network `IndexUnavailable`.
    """

    @abstractmethod
    def partitions(self, wanted: int) -> int:
        """The number of partitions, which the first call settles."""

    @abstractmethod
    def tenants(self) -> Mapping[int, tuple[str, bytes]]:
        """Every tenant's name and secret, by its number."""

    @abstractmethod
    def add(self, name: str) -> tuple[int, bytes]:
        """Adds a tenant; returns its number and secret."""

    @abstractmethod
    def remove(self, numbers: Iterable[int]) -> None:
        """Removes tenants, with every byte of their names and secrets once it is `clean`."""

    def clean(self) -> None:  # noqa: B027 - files have none
        """Rids what is stored of the bytes of removed tenants."""

    def renew(self) -> None:  # noqa: B027 - files have one process
        """Reads what another process wrote since."""

    def forget(self, number: int) -> None:  # noqa: B027
        """Leaves a tenant that another process removed."""

    @abstractmethod
    def stamps(self) -> Mapping[str, Stamp | None]:
        """Each partition's stamp; None for one whose making was interrupted."""

    @abstractmethod
    def stamp(self, partition: str, stamp: Stamp) -> None:
        """Writes a partition's stamp."""

    @abstractmethod
    def unstamp(self, partition: str) -> None:
        """Removes a partition's stamp."""

    @abstractmethod
    def traced(self) -> set[str]:
        """The partitions whose files may hold bytes of removed points."""

    @abstractmethod
    def trace(self, partition: str) -> None:
        """Notes, before points are removed, that a partition's files may keep their bytes."""

    @abstractmethod
    def untrace(self, partition: str) -> None:
        """Notes that a partition's files were made anew, or are gone."""

    @abstractmethod
    def note(self, name: str, parsed: Callable[[Any], T], absent: T) -> T:
        """What `parsed` makes of what was kept under a name; `absent` if nothing was."""

    @abstractmethod
    def keep(self, name: str, content: object) -> None:
        """Keeps JSON under a name, in one durable step."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of it."""


class FileCatalogue(Catalogue):
    """The catalogue in the files of a directory.

    ROOT/spaces.db            every tenant's number and secret (0600)
    ROOT/X/stamp.json         a partition's stamp
    ROOT/NAME.json            a note
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = path = root / "spaces.db"
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
        with self._readable():
            if (
                found := self._database.execute("SELECT partitions FROM settled").fetchone()
            ) is None:
                self._database.execute("INSERT INTO settled VALUES (?)", (wanted,))
            return wanted if found is None else int(found[0])

    def tenants(self) -> Mapping[int, tuple[str, bytes]]:
        with self._readable():
            rows = self._database.execute("SELECT number, name, secret FROM tenant")
            return {number: (name, secret) for number, name, secret in rows}

    def add(self, name: str) -> tuple[int, bytes]:
        secret = secrets.token_bytes(KEY_BYTES)
        with self._readable():
            added = "INSERT INTO tenant (name, secret) VALUES (?, ?) RETURNING number"
            ((number,),) = self._database.execute(added, (name, secret)).fetchall()
        return int(number), secret

    def remove(self, numbers: Iterable[int]) -> None:
        with self._readable():
            self._database.execute("BEGIN")
            self._database.executemany(
                "DELETE FROM tenant WHERE number = ?", ((number,) for number in numbers)
            )
            self._database.execute("COMMIT")
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def traced(self) -> set[str]:
        with self._readable():
            return {name for (name,) in self._database.execute("SELECT partition FROM traced")}

    def trace(self, partition: str) -> None:
        with self._readable():
            self._database.execute("INSERT OR IGNORE INTO traced VALUES (?)", (partition,))

    def untrace(self, partition: str) -> None:
        with self._readable():
            self._database.execute("DELETE FROM traced WHERE partition = ?", (partition,))

    def stamps(self) -> Mapping[str, Stamp | None]:
        directories = sorted(path for path in self._root.iterdir() if path.is_dir())
        return {path.name: read_json(path / "stamp.json", _stamp, None) for path in directories}

    def stamp(self, partition: str, stamp: Stamp) -> None:
        replace_json(self._root / partition / "stamp.json", stamp)

    def unstamp(self, partition: str) -> None:
        (self._root / partition / "stamp.json").unlink(missing_ok=True)

    def note(self, name: str, parsed: Callable[[Any], T], absent: T) -> T:
        return read_json(self._root / f"{name}.json", parsed, absent)

    def keep(self, name: str, content: object) -> None:
        replace_json(self._root / f"{name}.json", content)

    def close(self) -> None:
        self._database.close()


def _stamp(found: Any) -> Stamp | None:
    return found if isinstance(found, dict) else None
