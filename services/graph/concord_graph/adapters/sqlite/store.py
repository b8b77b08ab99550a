"""The embedded store: one SQLite file, one writer thread, a few reader threads."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from concord_chassis import deadline
from concord_chassis.failure import Failure
from concord_chassis.workers import Workers

from concord_graph.adapters.sqlite import erasing, record
from concord_graph.adapters.sqlite.migrations import NewerSchema, migrate
from concord_graph.adapters.sqlite.reading import SqliteReads
from concord_graph.adapters.sqlite.traces import are_left
from concord_graph.adapters.sqlite.writing import SqliteWrites
from concord_graph.domain.erasure import STORE
from concord_graph.domain.exceptions import (
    Overloaded,
    StoreCorrupt,
    StoreUnavailable,
    StoreUnusable,
)
from concord_graph.domain.items import ItemKind
from concord_graph.ports import (
    Author,
    Change,
    ChangeType,
    Clock,
    ReadCounts,
    Reads,
    SpaceHead,
    Writes,
)

T = TypeVar("T")

BUSY_SECONDS = 5.0
_LOG_PATIENCE_MILLISECONDS = 200  # for readers of the log, while writes wait
_CHECKED_BYTES = 64 << 20  # a larger file is checked page by page as it is read: start stays fast
_STEPS_BETWEEN_LOOKS = 50_000  # of SQLite's machine, about a millisecond
_PRIMARY_CODE = 0xFF  # the rest of an extended result code says where it happened
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_UNAVAILABLE = {
    *(sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN),
}


class SqliteStore:
    """Graph's store in one file. Build it with `open_store`."""

    def __init__(
        self, path: Path, clock: Clock, epoch: str, *, readers: int, busy_seconds: float
    ) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._clock = clock
        self._epoch = epoch
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._writer = Workers(1, "graph-writer")
        self._readers = Workers(readers, "graph-reader")
        self._pending: Callable[[], Sequence[ReadCounts]] = tuple
        self._visible = threading.Lock()  # held while reads move from pending to stored
        self._version = 0
        self._damaged = False
        self._erased: tuple[bytes, ...] = ()  # since the last scrub
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def version(self) -> int:
        """A number that grows with every commit."""
        return self._version

    async def changed(self, since: int) -> None:
        """Return once `version` is no longer `since`."""
        while self._version == since:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.add(waiter)
            try:
                await waiter
            finally:
                self._waiting.discard(waiter)

    async def read(self, space: str, work: Callable[[Reads], Awaitable[T]]) -> T:
        """Run work on a consistent view."""
        return await self._readers.run(self._read, space, work)

    async def write(
        self,
        space: str,
        work: Callable[[Writes], Awaitable[T]],
        *,
        author: Author | None = None,  # noqa: ARG002 - asking the file costs little
    ) -> T:
        """Run work in a transaction."""
        loop = asyncio.get_running_loop()
        return await self._writer.run(self._write, loop, space, work)

    def pending(self, reads: Callable[[], Sequence[ReadCounts]]) -> None:
        """Show these not yet flushed reads in every answer."""
        self._pending = reads

    async def touch(self, reads: ReadCounts, stored: Callable[[], None]) -> None:
        """Add reads in one statement."""
        if reads:
            try:
                await self._writer.run(self._touch, reads, stored)
            except Failure as error:  # the writer's queue is full
                raise Overloaded("the store is busy") from error

    async def announce_touches(self) -> None:
        """Append one TOUCHED change for each memory read since the last call."""
        spaces = await self._writer.run(self._unannounced)
        for space, ids in spaces.items():
            await self.write(space, lambda tx, ids=ids: self._announce_touched(tx, ids))  # type: ignore[misc] # the default binds the loop's value

    async def spaces(self) -> Sequence[SpaceHead]:
        """Return every space."""

        def work() -> list[SpaceHead]:
            with self._transaction("BEGIN") as db:
                sql = "SELECT name, seq FROM space WHERE seq > 0 ORDER BY name"
                found = db.execute(sql).fetchall()
            return [SpaceHead(name, seq) for name, seq in found]

        return await self._readers.run(work)

    async def changes(self, space: str, after: int, limit: int) -> Sequence[Change]:
        """Return changes in sequence."""
        return await self._readers.run(self._changes, space, after, limit)

    async def scrub(self, *, thorough: bool) -> None:
        """Take what was erased out of the file and its log, to the last byte; then confirm it."""
        try:
            open_, said = await self._writer.run(self._erased_lately)
            if not open_:
                return
            if thorough or await self._readers.run(are_left, self._path, said):
                await self._writer.run(self._write_anew)
            await self._writer.run(self._confirm, open_, len(said))
        except Failure as error:  # a queue is full
            raise Overloaded("the store is busy") from error

    def _erased_lately(self) -> tuple[list[tuple[int, str]], tuple[bytes, ...]]:
        """Return the erasures to confirm and what they said, which has left the log."""
        with self._transaction("BEGIN") as db:
            open_ = erasing.unconfirmed(db, STORE)
        if open_:
            self._empty_log()
        return open_, self._erased

    def _write_anew(self) -> None:
        with self._told():
            self._connection().execute("VACUUM")
        self._empty_log()

    def _empty_log(self) -> None:
        """Move everything from the write-ahead log into the file, and truncate the log."""
        with self._told():
            db = self._connection()
            db.execute(f"PRAGMA busy_timeout = {_LOG_PATIENCE_MILLISECONDS}")
            try:
                blocked = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                db.execute(f"PRAGMA busy_timeout = {round(self._busy_seconds * 1000)}")
        if blocked:
            raise Overloaded("somebody reads what the log still holds")

    def _confirm(self, open_: Sequence[tuple[int, str]], said: int) -> None:
        with self._transaction("BEGIN IMMEDIATE") as db:
            for space, erase_id in open_:
                erasing.confirm(db, space, erase_id, STORE, self._clock())
        self._erased = self._erased[said:]

    @property
    def epoch(self) -> str:
        """The store's epoch."""
        return self._epoch

    async def ready(self) -> bool:
        """Return whether the store answers; not once damage was found."""

        def work() -> bool:
            with self._transaction("BEGIN") as db:
                found = db.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
            return found == (self._epoch,) and not self._damaged

        return await self._readers.run(work)

    async def close(self) -> None:
        """Close the store."""
        self._writer.close()
        self._readers.close()
        for connection in self._connections:
            connection.close()

    def _read(self, space: str, work: Callable[[Reads], Awaitable[T]]) -> T:
        with self._transaction("BEGIN") as db, _until_deadline(db):
            with self._visible:  # its first statement takes the snapshot
                view = SqliteReads(db, space, epoch=self._epoch, pending=self._pending())
            return _drive(cast("Coroutine[Any, Any, T]", work(view)))

    def _write(
        self,
        loop: asyncio.AbstractEventLoop,
        space: str,
        work: Callable[[Writes], Awaitable[T]],
    ) -> T:
        with self._transaction("BEGIN IMMEDIATE") as db:
            tx = SqliteWrites(
                db, space, epoch=self._epoch, pending=self._pending(), clock=self._clock
            )
            result = _drive(cast("Coroutine[Any, Any, T]", work(tx)))
            tx.finish()
        self._erased = (*self._erased, *tx.erased)
        # from here, not from the caller's task: a caller that went away has committed all the same
        loop.call_soon_threadsafe(self._announce)
        return result

    def _touch(self, reads: ReadCounts, stored: Callable[[], None]) -> None:
        batch = json.dumps([[space, i, n, last] for (space, i), (n, last) in reads.items()])
        sql = (
            "INSERT INTO access (space, id, last_time, count, unannounced)"
            " SELECT s.id, r.value->>1, r.value->>3, r.value->>2, 1 FROM json_each(?) r"
            " JOIN space s ON s.name = r.value->>0 WHERE true"
            " ON CONFLICT (space, id) DO UPDATE SET count = count + excluded.count,"
            " last_time = max(last_time, excluded.last_time), unannounced = 1"
        )
        with ExitStack() as moving:
            with self._transaction("BEGIN IMMEDIATE") as db:
                db.execute(sql, (batch,))
                moving.enter_context(self._visible)  # only now: until here it may have to wait
            stored()

    def _unannounced(self) -> dict[str, list[str]]:
        with self._transaction("BEGIN IMMEDIATE") as db:
            found = db.execute(
                "SELECT s.name, a.id FROM access a JOIN space s ON s.id = a.space"
                " JOIN memory m ON m.space = a.space AND m.id = a.id"
                " AND m.record_until = 9223372036854775807 WHERE a.unannounced = 1"
            ).fetchall()
            db.execute("UPDATE access SET unannounced = 0 WHERE unannounced = 1")
        spaces: dict[str, list[str]] = {}
        for space, item_id in found:
            spaces.setdefault(space, []).append(item_id)
        return spaces

    @staticmethod
    async def _announce_touched(tx: Writes, ids: Sequence[str]) -> None:
        for item_id in ids:
            memory = await tx.memory(item_id)
            if memory is not None:
                seq, time = tx.tick()
                await tx.append(
                    Change(
                        seq=seq,
                        record_time=time,
                        item_id=item_id,
                        item_kind=ItemKind.MEMORY,
                        type=ChangeType.TOUCHED,
                        revision=memory.revision.number,
                    )
                )

    def _changes(self, space: str, after: int, limit: int) -> list[Change]:
        with self._transaction("BEGIN") as db:
            return record.changes(db, space, after, limit)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """Run a transaction on this thread's connection; any exception undoes it."""
        with self._told():
            db = self._connection()
            db.execute(begin)
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise graph's own words for what keeps the file from being read or written."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE  # Python's own have none
            if code == sqlite3.SQLITE_INTERRUPT:
                raise deadline.exceeded("The store had no more time to answer.") from error
            if code in _BUSY:
                raise Overloaded("the store is busy") from error
            if code in _DAMAGED:
                self._damaged = True
                raise StoreCorrupt("the store's file is damaged") from error
            if code in _UNAVAILABLE:
                raise StoreUnavailable("the store's file cannot be read or written") from error
            raise

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = _connect(self._path, self._busy_seconds)
            self._local.connection = connection
            self._connections.append(connection)
        return connection

    def _announce(self) -> None:
        self._version += 1
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


def open_store(
    path: Path, clock: Clock, *, readers: int = 2, busy_seconds: float = BUSY_SECONDS
) -> SqliteStore:
    """Open or make a store. `busy_seconds` is how long it waits for another process's lock.

    Raises:
        StoreUnusable: the file is not a store, is damaged, is of a newer version, or cannot be
            opened; the text says what to do.
    """
    try:
        connection = _connect(path, busy_seconds)
    except sqlite3.DatabaseError as error:
        raise StoreUnusable(_advice(path, error)) from error
    try:
        epoch = _prepare(connection, path)
    except sqlite3.DatabaseError as error:
        raise StoreUnusable(_advice(path, error)) from error
    finally:
        connection.close()
    return SqliteStore(path, clock, epoch, readers=readers, busy_seconds=busy_seconds)


def _connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
    try:
        _prepare_connection(connection, path)
    except (sqlite3.DatabaseError, StoreUnusable):
        connection.close()
        raise
    return connection


def _prepare_connection(connection: sqlite3.Connection, path: Path) -> None:
    mode = connection.execute("PRAGMA journal_mode = wal").fetchone()[0]
    if mode != "wal":
        raise StoreUnusable(
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


def _prepare(db: sqlite3.Connection, path: Path) -> str:
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
    if tables and "meta" not in tables:
        raise StoreUnusable(f"{path} is another program's database: choose another directory")
    try:
        migrate(db)
    except NewerSchema as error:
        found, known = error.args
        raise StoreUnusable(
            f"{path} has schema {found}, this program knows {known}: "
            "run the version of Concord that wrote it, or a newer one"
        ) from error
    epoch = db.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0]
    if path.stat().st_size <= _CHECKED_BYTES:
        problem = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            raise StoreUnusable(_advice(path, problem))
    return str(epoch)


def _advice(path: Path, problem: object) -> str:
    if isinstance(problem, sqlite3.OperationalError):
        return f"cannot open {path} ({problem}): check that it exists, is yours and is not in use"
    return (
        f"{path} is damaged: move it away and restore a copy from a backup, or start with an "
        "empty directory"
    )


@contextmanager
def _until_deadline(db: sqlite3.Connection) -> Iterator[None]:
    """Stop in the middle of a statement once the call's time is over: nobody waits for it."""
    if deadline.remaining() is None:
        yield
        return
    db.set_progress_handler(_is_over, _STEPS_BETWEEN_LOOKS)
    try:
        yield
    finally:
        db.set_progress_handler(None, 0)


def _is_over() -> bool:
    left = deadline.remaining()
    return left is not None and left < 0


def _drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits to its end, in this thread.

    Use cases are coroutines because other stores answer over a network; SQLite answers at once.
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    coroutine.close()
    raise RuntimeError("work on the embedded store waited for something outside the store")
