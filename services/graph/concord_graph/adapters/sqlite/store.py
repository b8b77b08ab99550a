"""The embedded store: one SQLite file, one writer thread, a few reader threads."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from concord_chassis.call import deadline
from concord_chassis.call.failure import Failure
from concord_chassis.channel.partitions import partition_of
from concord_chassis.server.workers import Workers
from concord_stores.sqlite_file import (
    BUSY_SECONDS,
    FileBusy,
    FileDamaged,
    FileFull,
    FileUnreadable,
    FileUnusable,
    NotAtOnce,
    SqliteFile,
    drive,
    is_interrupted,
    open_file,
)

from concord_graph.adapters.passed import Passed
from concord_graph.adapters.sqlite import erased_items, feed, layers, leases
from concord_graph.adapters.sqlite.reads import SqliteReads
from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.adapters.sqlite.sessions import store_uses
from concord_graph.adapters.sqlite.traces import are_left
from concord_graph.adapters.sqlite.writes import SqliteWrites
from concord_graph.domain.erasure import STORE
from concord_graph.domain.errors import (
    Overloaded,
    StoreCorrupt,
    StoreFileUnusable,
    StoreFull,
    StoreUnusable,
)
from concord_graph.domain.items import FOREVER
from concord_graph.domain.leases import Lease, LeaseKey
from concord_graph.ports import (
    EXPORTERS,
    NOBODY,
    PARTITIONS,
    Author,
    Change,
    Clock,
    FeedChange,
    ReadCounts,
    Reads,
    SessionUses,
    SpaceHead,
    Unsettled,
    Writes,
)

T = TypeVar("T")

_UNSETTLED = "SELECT name, unsettled, seq FROM space WHERE unsettled > 0 ORDER BY name"
_LOG_PATIENCE = 0.2  # seconds to wait for readers of the log, while writes wait, too
_STEPS_BETWEEN_LOOKS = 50_000  # of SQLite's virtual machine: about a millisecond


class SqliteStore:
    """Graph's store in one file. Build it with `open_store`."""

    def __init__(
        self,
        path: Path,
        file: SqliteFile,
        clock: Clock,
        epoch: str,
        *,
        exporters: int,
        numbers: Sequence[int],
    ) -> None:
        self._path = path
        self._file = file
        self._exporters = Workers(exporters, "graph-exporter")
        self._clock = clock
        self._epoch = epoch
        self._pending: Callable[[], Sequence[ReadCounts]] = tuple
        self._visible = threading.Lock()  # held while reads move from pending to stored
        self._erased: tuple[bytes, ...] = ()  # since the last scrub
        self._partitions = len(numbers)
        self._passed = Passed()
        for partition, number in enumerate(numbers):
            self._passed.note(partition, number)

    async def read(
        self, space: str, work: Callable[[Reads], Awaitable[T]], *, brief: bool = False
    ) -> T:
        """Run work on a consistent view; brief work runs on the event loop's own thread."""
        if brief:
            with suppress(NotAtOnce):
                return self._read_at_once(space, work)
        return await self._file.reading(self._read, space, work)

    async def export(self, space: str, work: Callable[[Reads], Awaitable[T]]) -> T:
        """Run work that reads a whole space, in one of the threads for exports."""
        return await self._exporters.run(self._read, space, work)

    async def write(
        self,
        space: str,
        work: Callable[[Writes], Awaitable[T]],
        *,
        author: Author = NOBODY,
    ) -> T:
        loop = asyncio.get_running_loop()
        return await self._file.writing_for(space, self._write, loop, space, work, author)

    def pending(self, reads: Callable[[], Sequence[ReadCounts]]) -> None:
        self._pending = reads

    async def touch(self, reads: ReadCounts, uses: SessionUses, stored: Callable[[], None]) -> None:
        if reads or uses:
            try:
                await self._file.writing(self._touch, reads, uses, stored)
            except Failure as error:  # the writer's queue is full
                raise Overloaded("the store is busy") from error

    async def newly_read(self) -> Mapping[str, Sequence[str]]:
        return await self._file.writing(self._newly_read)

    async def spaces(self, partition: int, after: str, limit: int) -> Sequence[SpaceHead]:
        return await self._look(lambda db: feed.spaces(db, partition, after, limit))

    async def unsettled(self) -> Sequence[Unsettled]:
        found = await self._look(lambda db: db.execute(_UNSETTLED).fetchall())
        return [Unsettled(*row) for row in found]

    async def changes(self, space: str, after: int, limit: int) -> Sequence[Change]:
        return await self._look(lambda db: layers.changes(db, space, after, limit))

    async def changes_at(
        self, places: Collection[tuple[str, int]]
    ) -> Mapping[tuple[str, int], Change]:
        return await self._look(lambda db: feed.changes_at(db, places))

    async def numbers(self) -> Sequence[int]:
        return await self._look(feed.numbers)

    async def feed(self, partition: int, after: int, limit: int) -> Sequence[FeedChange]:
        return await self._look(lambda db: feed.page(db, partition, after, limit))

    async def numbered(
        self, cursors: Collection[tuple[int, int]]
    ) -> Mapping[tuple[int, int], Change]:
        return await self._look(lambda db: feed.numbered(db, cursors))

    async def passed(self, numbers: Mapping[int, int]) -> Collection[int]:
        while not (ahead := self._passed.ahead(numbers)):
            await self._passed.change(numbers)
        return ahead

    async def acquire_lease(self, key: LeaseKey, holder: str, now: int, until: int) -> Lease:
        return await self._leasing(lambda db: leases.acquire(db, key, holder, now, until))

    async def renew_lease(self, key: LeaseKey, renewed: Lease, now: int) -> bool:
        return await self._leasing(lambda db: leases.renew(db, key, renewed, now))

    async def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def attempt() -> T:
            with self._transaction("BEGIN") as db:
                return work(db)

        return await self._file.reading(attempt)

    async def _leasing(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def attempt() -> T:
            with self._transaction("BEGIN IMMEDIATE") as db:
                return work(db)

        try:
            return await self._file.writing(attempt)
        except Failure as error:  # the writer's queue is full
            raise Overloaded("the store is busy") from error

    async def scrub(self, *, thorough: bool) -> None:
        try:
            open_, said = await self._file.writing(self._erased_lately)
            if not open_:
                return
            if thorough or await self._file.reading(are_left, self._path, said):
                await self._file.writing(self._write_anew)
            await self._file.writing(self._confirm, open_, len(said))
        except Failure as error:  # a queue is full
            raise Overloaded("the store is busy") from error

    def _erased_lately(self) -> tuple[list[tuple[int, str]], tuple[bytes, ...]]:
        """Return the erasures to confirm, and the erased texts, after emptying the log of them."""
        with self._transaction("BEGIN") as db:
            open_ = erased_items.unconfirmed(db, STORE)
        self._empty_log()  # also of erased texts that have no receipt
        return open_, self._erased

    def _write_anew(self) -> None:
        with _failures_named():
            self._file.write_anew()
        self._empty_log()

    def _empty_log(self) -> None:
        """Move everything from the write-ahead log into the file, and truncate the log."""
        with _failures_named():
            if not self._file.empty_log(_LOG_PATIENCE):
                raise Overloaded("somebody reads what the log still holds")

    def _confirm(self, open_: Sequence[tuple[int, str]], said: int) -> None:
        with self._transaction("BEGIN IMMEDIATE") as db:
            for space, erase_id in open_:
                erased_items.confirm(db, space, erase_id, STORE, self._clock())
        self._erased = self._erased[said:]

    @property
    def epoch(self) -> str:
        return self._epoch

    async def ready(self) -> bool:
        """Return whether the store answers; False once damage was found."""

        sql = "SELECT value FROM meta WHERE key = 'epoch'"
        found = await self._look(lambda db: db.execute(sql).fetchone())
        return found == (self._epoch,) and not self._file.damaged

    async def close(self) -> None:
        self._exporters.close()
        self._file.close()

    def _read_at_once(self, space: str, work: Callable[[Reads], Awaitable[T]]) -> T:
        if not self._visible.acquire(blocking=False):  # reads move just now: the loop must not wait
            raise NotAtOnce
        with ExitStack() as visible:
            visible.callback(self._visible.release)
            with _failures_named(), self._file.reading_at_once() as db:
                view = SqliteReads(db, space, epoch=self._epoch, pending=self._pending())
                visible.close()
                return drive(cast("Coroutine[Any, Any, T]", work(view)))

    def _read(self, space: str, work: Callable[[Reads], Awaitable[T]]) -> T:
        with self._transaction("BEGIN") as db, _until_deadline(db):
            with self._visible:  # its first statement takes the snapshot
                view = SqliteReads(db, space, epoch=self._epoch, pending=self._pending())
            return drive(cast("Coroutine[Any, Any, T]", work(view)))

    def _write(
        self,
        loop: asyncio.AbstractEventLoop,
        space: str,
        work: Callable[[Writes], Awaitable[T]],
        author: Author,
    ) -> T:
        partition = partition_of(space, self._partitions)
        with self._transaction("BEGIN IMMEDIATE") as db:
            tx = SqliteWrites(
                db,
                space,
                epoch=self._epoch,
                pending=self._pending(),
                clock=self._clock,
                author=author,
                partition=partition,
            )
            result = drive(cast("Coroutine[Any, Any, T]", work(tx)))
            number = tx.finish()
        self._erased = (*self._erased, *tx.erased)
        # from here, not from the caller's task: the commit counts even if the caller has gone
        loop.call_soon_threadsafe(self._passed.note, partition, number)
        return result

    def _touch(self, reads: ReadCounts, uses: SessionUses, stored: Callable[[], None]) -> None:
        batch = json.dumps([[space, i, n, last] for (space, i), (n, last) in reads.items()])
        sql = (
            "INSERT INTO access (space, id, last_time, count, unannounced)"
            " SELECT s.id, r.value->>1, r.value->>3, r.value->>2,"
            # only reads of memories are announced
            " EXISTS (SELECT 1 FROM memory m WHERE m.space = s.id AND m.id = r.value->>1"
            f" AND m.record_until = {FOREVER}) FROM json_each(?) r"
            " JOIN space s ON s.name = r.value->>0"
            " ORDER BY 1, 2"  # in the order of the table: as they come they take twice as long
            " ON CONFLICT (space, id) DO UPDATE SET count = count + excluded.count,"
            " last_time = max(last_time, excluded.last_time),"
            " unannounced = max(unannounced, excluded.unannounced)"
        )
        # without sync, so that no read and no later write waits for the disk: counts may be lost
        with self._file.without_sync(), ExitStack() as moving:
            with self._transaction("BEGIN IMMEDIATE") as db:
                db.execute(sql, (batch,))
                if uses:
                    store_uses(db, uses)
                moving.enter_context(self._visible)  # only now: the work above may have to wait
            stored()

    def _newly_read(self) -> dict[str, list[str]]:
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

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with _failures_named(), self._file.transaction(begin) as db:
            yield db


def open_store(
    path: Path,
    clock: Clock,
    *,
    readers: int = 2,
    exporters: int = EXPORTERS,
    busy_seconds: float = BUSY_SECONDS,
    partitions: int = PARTITIONS,
    numbered: Callable[[int, float], None] | None = None,
) -> SqliteStore:
    """Open or make a store. It waits up to `busy_seconds` for another process's lock, and runs
    up to `exporters` exports at once. A new one gets `partitions`; of one that was written before
    there were any, `numbered` is told how many spaces were numbered, in how many seconds.

    Raises:
        StoreUnusable: the file is not a store, is damaged, is of a newer version, or cannot be
            opened; the text says what to do.
    """
    try:
        file = open_file(path, SCHEMA, name="graph", readers=readers, busy_seconds=busy_seconds)
    except FileUnusable as error:
        raise StoreUnusable(str(error)) from error
    begun = time.perf_counter()
    with file.transaction() as db:
        (epoch,) = db.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
        spaces = feed.prepare(db, partitions)
        numbers = feed.numbers(db)
    if spaces and numbered:
        numbered(spaces, time.perf_counter() - begun)
    return SqliteStore(path, file, clock, epoch, exporters=exporters, numbers=numbers)


@contextmanager
def _failures_named() -> Iterator[None]:
    """Translate the file's failures into graph's errors."""
    try:
        yield
    except FileBusy as error:
        raise Overloaded("the store is busy") from error
    except FileDamaged as error:
        raise StoreCorrupt("the store's file is damaged") from error
    except FileFull as error:
        raise StoreFull("the store's disk is full") from error
    except FileUnreadable as error:
        raise StoreFileUnusable("the store's file cannot be read or written") from error


@contextmanager
def _until_deadline(db: sqlite3.Connection) -> Iterator[None]:
    """Interrupt a statement once the call's deadline has passed: nobody waits for its result."""
    if deadline.remaining() is None:
        yield
        return
    db.set_progress_handler(_is_over, _STEPS_BETWEEN_LOOKS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if not is_interrupted(error):
            raise
        raise deadline.exceeded("The store had no more time to answer.") from error
    finally:
        db.set_progress_handler(None, 0)


def _is_over() -> bool:
    left = deadline.remaining()
    return left is not None and left < 0
