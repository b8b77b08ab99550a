"""The ledger port over one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from concord_chassis.channel.cursors import Cursor as PartitionCursor
from concord_stores.sqlite_file import (
    BUSY_SECONDS,
    FileBusy,
    FileDamaged,
    FileFull,
    FileUnreadable,
    SqliteFile,
    drive,
    open_file,
)
from concord_stores.sqlite_schema import Schema

from concord_governance.adapters.sqlite.reads import Row, SqliteLedgerReads
from concord_governance.adapters.sqlite.writes import SqliteLedgerWrites
from concord_governance.domain.errors import (
    LedgerBusy,
    LedgerCorrupt,
    LedgerFull,
    LedgerUnavailable,
)
from concord_governance.domain.proposals import Status
from concord_governance.ports.ledger import Clock, Cursor, LedgerReads, LedgerWrites

T = TypeVar("T")

SCHEMA = Schema(
    version=11,
    tables=Path(__file__).with_name("schema.sql").read_text("utf-8"),
    conversions={9: "", 10: ""},  # they lack the tables of sign-ins, and of the feed's partitions
)


class SqliteLedger:
    """Governance's ledger in one file. Build it with `open_ledger`."""

    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    async def read(self, space: str, work: Callable[[LedgerReads], Awaitable[T]]) -> T:
        def run(db: sqlite3.Connection) -> T:
            return drive(cast("Coroutine[Any, Any, T]", work(SqliteLedgerReads(db, space))))

        with _translated():
            return await self._file.read(run)

    async def write(self, space: str, work: Callable[[LedgerWrites], Awaitable[T]]) -> T:
        return (await self.write_each({space: work}))[space]

    async def write_each(
        self, works: Mapping[str, Callable[[LedgerWrites], Awaitable[T]]]
    ) -> Mapping[str, T]:
        def run(db: sqlite3.Connection) -> Mapping[str, T]:
            views = {space: SqliteLedgerWrites(db, space, self._clock) for space in works}
            return {
                space: drive(cast("Coroutine[Any, Any, T]", work(views[space])))
                for space, work in works.items()
            }

        with _translated():
            return await self._file.write(run)

    async def spaces(self) -> Sequence[str]:
        return [row[0] for row in await self._all("SELECT name FROM space ORDER BY name")]

    async def cursors(self) -> Mapping[str, Cursor]:
        found = await self._all("SELECT name, feed_epoch, feed_seq, feed_mark FROM space")
        return {name: Cursor(*row) for name, *row in found}

    async def partitions(self) -> Mapping[int, PartitionCursor]:
        found = await self._all("SELECT partition, number, mark FROM feed_partition")
        return {partition: PartitionCursor(*row) for partition, *row in found}

    async def unconfirmed_spaces(self) -> Sequence[str]:
        sql = "SELECT name FROM space WHERE id IN (SELECT space FROM unconfirmed) ORDER BY name"
        return [row[0] for row in await self._all(sql)]

    async def proposal_times(self, statuses: Sequence[Status]) -> Sequence[int]:
        marks = ", ".join("?" * len(statuses))
        sql = f"SELECT create_time FROM proposal WHERE status IN ({marks})"
        return [row[0] for row in await self._all(sql, *map(int, statuses))]

    async def waiting(self, now: int) -> Sequence[str]:
        sql = (
            "SELECT name FROM space WHERE id IN ("
            "SELECT space FROM proposal WHERE status IN (1, 2) AND expire_time <= ?"
            " UNION SELECT space FROM proposal WHERE status = 3)"
        )
        return [row[0] for row in await self._all(sql, now)]

    async def _all(self, sql: str, *bound: int) -> list[Row]:
        """Run one query over all spaces."""
        with _translated():
            return await self._file.read(lambda db: db.execute(sql, bound).fetchall())

    async def scrub(self) -> bool:
        with _translated():
            return await self._file.truncate_log()

    async def ready(self) -> bool:
        """Return whether the store answers; False for ever once damage was found."""
        with _translated():
            found = await self._file.read(lambda db: db.execute("SELECT 1 FROM meta").fetchone())
        return found is not None and not self._file.damaged

    async def close(self) -> None:
        self._file.close()


def open_ledger(
    path: Path, clock: Clock, *, readers: int = 2, busy_seconds: float = BUSY_SECONDS
) -> SqliteLedger:
    """Open a ledger, or make a new one.

    Raises:
        FileUnusable: the file cannot serve; the text says what to do.
    """
    file = open_file(path, SCHEMA, name="ledger", readers=readers, busy_seconds=busy_seconds)
    return SqliteLedger(file, clock)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except FileBusy as error:
        raise LedgerBusy("the ledger is busy") from error
    except FileDamaged as error:
        raise LedgerCorrupt("the ledger's file is damaged") from error
    except FileFull as error:
        raise LedgerFull("the ledger's disk is full") from error
    except FileUnreadable as error:
        raise LedgerUnavailable("the ledger's file cannot be read or written") from error
