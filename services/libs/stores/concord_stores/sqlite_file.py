"""One SQLite file as a service's store: one writer, a few readers, and failures by name.

Work runs in the file's own threads, each call in one transaction. A service with a store in it
states the schema, and translates the failures into errors of its own.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from concord_chassis.observe import tracing
from concord_chassis.server.workers import Workers

from concord_stores.other_schema import which_to_run
from concord_stores.sqlite_schema import Schema, UnknownSchema

P = ParamSpec("P")
T = TypeVar("T")

BUSY_SECONDS = 5.0
_STEPS_BETWEEN_LOOKS = 10_000  # of SQLite's virtual machine: a fifth of a millisecond
_MOST_LOOKS_AT_ONCE = 10
_CHECKED_BYTES = 64 << 20  # a larger file is checked page by page as it is read: start stays fast
_PRIMARY_CODE = 0xFF  # masks an extended result code, whose other bits say where it happened
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_UNREADABLE = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


class FileUnusable(Exception):
    """The file cannot be used as a store; the text says what to do."""


class FileFailure(Exception):
    """Root of the failures of an opened file."""


class FileBusy(FileFailure):
    """Another process holds the file's lock, or too many wait for it."""


class FileDamaged(FileFailure):
    """The file holds data that SQLite never writes."""


class FileUnreadable(FileFailure):
    """The file cannot be read or written, for lack of permission or of its disk."""


class FileFull(FileUnreadable):
    """The disk has no room for a write; reads still work."""


class NotAtOnce(Exception):
    """A read cannot be done on the event loop's thread and needs a reader's thread."""


class SqliteFile:
    """An opened file. Build it with `open_file`."""

    def __init__(self, path: Path, *, name: str, readers: int, busy_seconds: float) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._name = name
        self._writer = Workers(1, f"{name}-writer")
        self._readers = Workers(readers, f"{name}-reader")
        self._closed = False
        self.damaged = False

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run work on a consistent view."""
        return await self.reading(self._run, "BEGIN", work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run work in a transaction; an exception undoes all of it. One at a time."""
        return await self.writing(self._run, "BEGIN IMMEDIATE", work)

    async def truncate_log(self) -> bool:
        """Write the main file anew and empty the log beside it, so that no removed data stays in
        either; False if a reader blocked it."""

        def work() -> bool:
            self.write_anew()
            return self.empty_log(self._busy_seconds)

        return await self.writing(work)

    async def reading(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work in one of the readers' threads, where it may begin transactions."""
        return await self._readers.run(work, *args, **kwargs)

    @contextmanager
    def reading_at_once(self) -> Iterator[sqlite3.Connection]:
        """Run a reading transaction on the event loop's own thread, for work of few rows: switching
        to another thread and back takes as long as such work.

        Raises:
            NotAtOnce: the file is locked or closed, or statements took 100,000 steps of SQLite's
                machine (2 ms); a reader's thread can do the same work.
        """
        if self._closed:
            raise NotAtOnce
        try:
            with self._failures_named():
                db = self._impatient_connection()
        except FileBusy as error:
            raise NotAtOnce from error
        looks = itertools.count(1)
        db.set_progress_handler(lambda: next(looks) >= _MOST_LOOKS_AT_ONCE, _STEPS_BETWEEN_LOOKS)
        try:
            with tracing.span(f"{self._name}-reader"), self.transaction():
                yield db
        except FileBusy as error:
            raise NotAtOnce from error
        except sqlite3.OperationalError as error:
            if not is_interrupted(error):
                raise
            raise NotAtOnce from error
        finally:
            db.set_progress_handler(None, 0)

    async def writing(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work in the writer's thread, where it may begin transactions. One at a time."""
        return await self._writer.run(work, *args, **kwargs)

    async def writing_for(
        self, who: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `writing`, on behalf of somebody (such as a space): among those who wait, the one who
        used the writer least comes next, each one's own writes in their order."""
        return await self._writer.run_in(who, work, *args, **kwargs)

    def write_anew(self) -> None:
        """Write the main file anew; in the writer's thread. (`secure_delete` alone leaves copies in
        the free space of pages that were rebalanced: measured.)"""
        with self._failures_named():
            self._connection().execute("VACUUM")

    def empty_log(self, timeout: float) -> bool:
        """Move all of the write-ahead log into the file and truncate it, in the writer's thread;
        False if a reader blocked it for `timeout` seconds."""
        with self._failures_named():
            db = self._connection()
            db.execute(f"PRAGMA busy_timeout = {round(timeout * 1000)}")
            try:
                return bool(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
            finally:
                db.execute(f"PRAGMA busy_timeout = {round(self._busy_seconds * 1000)}")

    @contextmanager
    def transaction(self, begin: str = "BEGIN") -> Iterator[sqlite3.Connection]:
        """Run a transaction on this thread's connection; any exception undoes it."""
        with self._failures_named():
            db = self._connection()
            db.execute(begin)
            try:
                yield db
                db.execute("COMMIT")
            except sqlite3.OperationalError as error:
                # Python never runs its prepared form of an interrupted statement again, and would
                # prepare it anew at each use: milliseconds
                if is_interrupted(error):
                    self._local.__dict__.clear()
                raise
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    @contextmanager
    def without_sync(self) -> Iterator[None]:
        """Let this thread's commits not wait for the disk: a power cut undoes those since the last
        one that waited."""
        db = self._connection()
        db.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            db.execute("PRAGMA synchronous = FULL")

    def close(self) -> None:
        """Close the file; what was committed stays. A second call does nothing."""
        self._closed = True
        self._writer.close()
        self._readers.close()
        while self._connections:
            self._connections.pop().close()

    def _run(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        with self.transaction(begin) as db:
            return work(db)

    @contextmanager
    def _failures_named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            failure = failure_of(error)
            if failure is None:
                raise
            self.damaged = self.damaged or isinstance(failure, FileDamaged)
            raise failure from error

    def _impatient_connection(self) -> sqlite3.Connection:
        """Return this thread's connection, set to wait for no lock from now on."""
        connection = self._connection(busy_seconds=0.0)
        if not getattr(self._local, "is_impatient", False):
            connection.execute("PRAGMA busy_timeout = 0")
            self._local.is_impatient = True
        return connection

    def _connection(self, busy_seconds: float | None = None) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            patience = self._busy_seconds if busy_seconds is None else busy_seconds
            connection = _connect(self._path, patience)
            self._local.connection = connection
            self._connections.append(connection)
        return connection


def open_file(
    path: Path,
    schema: Schema,
    *,
    name: str,
    readers: int = 2,
    busy_seconds: float = BUSY_SECONDS,
) -> SqliteFile:
    """Open or make a file.

    Raises:
        FileUnusable: the file is another program's, damaged, of a newer version, or not readable.
    """
    with suppress(OSError):  # the file exists, or SQLite will report the same error
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        with closing(_connect(path, busy_seconds)) as connection:
            _prepare(connection, path, schema)
            _keep_from_others(path)
    except sqlite3.DatabaseError as error:
        raise FileUnusable(_advice(path, error)) from error
    return SqliteFile(path, name=name, readers=readers, busy_seconds=busy_seconds)


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits to its end, in this thread.

    Use cases are coroutines because other stores answer over a network; SQLite answers at once.
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    coroutine.close()
    raise RuntimeError("work on an embedded store waited for something outside the store")


def _keep_from_others(path: Path) -> None:
    """Let only the owner read the file, and the files that SQLite makes beside it with its
    mode. Another user's file stays as it is."""
    for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        with suppress(FileNotFoundError, PermissionError):
            each.chmod(0o600)


def is_interrupted(error: sqlite3.OperationalError) -> bool:
    """Return whether a progress handler ended the statement."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT


def failure_of(error: sqlite3.DatabaseError) -> FileFailure | None:
    """Return the named failure for a database error; None if the error is a bug of ours."""
    extended = getattr(error, "sqlite_errorcode", 0)  # Python's own have none
    code = extended & _PRIMARY_CODE
    if code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE:
        return FileFull("the store's disk is full")
    if code in _BUSY:
        return FileBusy("the store is busy")
    if code in _DAMAGED:
        return FileDamaged("the store's file is damaged")
    if code in _UNREADABLE:
        return FileUnreadable("the store's file cannot be read or written")
    return None


def _connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
    try:
        _set_up(connection, path)
    except (sqlite3.DatabaseError, FileUnusable):
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    mode = connection.execute("PRAGMA journal_mode = wal").fetchone()[0]
    if mode != "wal":
        raise FileUnusable(
            f"{path} cannot use a write-ahead log (journal mode {mode}): "
            "put the data directory on a local file system"
        )
    for pragma in (
        "synchronous = FULL",
        "foreign_keys = ON",
        "recursive_triggers = ON",  # INSERT OR REPLACE must not slip past append-only triggers
        "secure_delete = ON",
        "cache_size = -65536",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _prepare(db: sqlite3.Connection, path: Path, schema: Schema) -> None:
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
    if tables and "meta" not in tables:
        raise FileUnusable(f"{path} is another program's database: choose another directory")
    try:
        schema.prepare(db)
    except UnknownSchema as error:
        raise FileUnusable(
            f"{path} has schema {error}, this program knows {schema.version}: "
            f"{which_to_run(int(str(error)), schema.version)}"
        ) from error
    if path.stat().st_size <= _CHECKED_BYTES:
        problem = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            raise FileUnusable(_advice(path, problem))


def _advice(path: Path, problem: object) -> str:
    if isinstance(problem, sqlite3.DatabaseError) and isinstance(failure_of(problem), FileFull):
        return f"the disk of {path} has no room, and opening it needs 1 MiB: make room"
    if isinstance(problem, sqlite3.OperationalError):
        return f"cannot open {path} ({problem}): check that it exists, is yours and is not in use"
    return (
        f"{path} is damaged: move it away and restore a copy from a backup, or start with an "
        "empty directory"
    )
