"""The ledger port over a Neo4j server: one driver a process, one session a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from concord_chassis.channel.cursors import Cursor as PartitionCursor
from concord_stores.neo4j_config import Neo4jConfig
from concord_stores.neo4j_server import (
    BUSY_SECONDS,
    ServerBusy,
    ServerUnavailable,
    closed_on_failure,
    connect,
    patiently,
)
from concord_stores.neo4j_transactions import TRANSACTION_SECONDS, Transactions
from neo4j import AsyncDriver, AsyncManagedTransaction
from neo4j.exceptions import DriverError, Neo4jError

from concord_governance.adapters.neo4j import schema, statements
from concord_governance.adapters.neo4j.access import Row
from concord_governance.adapters.neo4j.reads import Neo4jLedgerReads
from concord_governance.adapters.neo4j.writes import Neo4jLedgerWrites
from concord_governance.domain.errors import LedgerBusy, LedgerUnavailable
from concord_governance.domain.proposals import OPEN, Status
from concord_governance.ports.ledger import Clock, Cursor, LedgerReads, LedgerWrites

T = TypeVar("T")

_READ_TRIES = 3


class Neo4jLedger:
    """Governance's ledger in a Neo4j database. Build it with `open_ledger`.

    One transaction at a time writes a space, and locks the space's head; spaces do not wait for
    each other. A read sees one state of its space: if another transaction wrote the space
    meanwhile, the read runs again, in the end under the space's lock.
    """

    def __init__(self, server: Transactions, clock: Clock, epoch: str) -> None:
        self._server = server
        self._clock = clock
        self._epoch = epoch

    async def read(self, space: str, work: Callable[[LedgerReads], Awaitable[T]]) -> T:
        async def attempt(tx: AsyncManagedTransaction) -> tuple[T] | None:
            view = Neo4jLedgerReads(tx, space)
            begun = await view.holder()
            try:
                result = await work(view)
            except (DriverError, Neo4jError):
                raise
            except Exception:  # the refusal may come from a half-written state
                if await view.holder() == begun:
                    raise
                return None
            return (result,) if await view.holder() == begun else None

        for _ in range(_READ_TRIES):
            with _translated():
                found = await self._server.read(attempt)
            if found is not None:
                return found[0]
        return await self.write(space, work)  # under the lock no other transaction writes

    async def write(self, space: str, work: Callable[[LedgerWrites], Awaitable[T]]) -> T:
        async def attempt(tx: AsyncManagedTransaction) -> T:
            writes = Neo4jLedgerWrites(tx, space, self._clock)
            await writes.hold()
            return await work(writes)

        with _translated():
            return await self._server.write_space(space, attempt)

    async def write_each(
        self, works: Mapping[str, Callable[[LedgerWrites], Awaitable[T]]]
    ) -> Mapping[str, T]:
        """One after the other: a transaction that held many spaces would stop their writers."""
        return {space: await self.write(space, work) for space, work in works.items()}

    async def spaces(self) -> Sequence[str]:
        return sorted(await self._column(statements.SPACES))

    async def cursors(self) -> Mapping[str, Cursor]:
        return {space: Cursor(*row) for space, *row in await self._rows(statements.CURSORS)}

    async def partitions(self) -> Mapping[int, PartitionCursor]:
        found = await self._rows(statements.PARTITIONS)
        return {partition: PartitionCursor(*row) for partition, *row in found}

    async def unconfirmed_spaces(self) -> Sequence[str]:
        return sorted(await self._column(statements.UNCONFIRMED_SPACES))

    async def proposal_times(self, statuses: Sequence[Status]) -> Sequence[int]:
        found = await self._rows(statements.TIMES, statuses=[int(each) for each in statuses])
        return [int(time) for (time,) in found]

    async def waiting(self, now: int) -> Sequence[str]:
        still_open, decided = sorted(int(status) for status in OPEN), int(Status.APPROVED)
        return await self._column(statements.WAITING, open=still_open, decided=decided, now=now)

    async def scrub(self) -> bool:
        """Return True: no query shows removed words; compacting the store clears their bytes."""
        return True

    async def ready(self) -> bool:
        """Return whether the store answers, and has the epoch with which it was opened."""
        return await self._column(statements.STORE_EPOCH) == [self._epoch]

    async def close(self) -> None:
        await self._server.close()

    async def _column(self, text: str, **given: object) -> list[str]:
        return [row[0] for row in await self._rows(text, **given)]

    async def _rows(self, text: str, **given: object) -> list[Row]:
        """Run one statement over all spaces."""

        async def work(tx: AsyncManagedTransaction) -> list[Row]:
            found = await tx.run(statements.planned(text), given={"stamp": schema.STAMP, **given})
            return await found.values()

        with _translated():
            return await self._server.read(work)


async def open_ledger(
    settings: Neo4jConfig,
    clock: Clock,
    *,
    busy_seconds: float = BUSY_SECONDS,
    transaction_seconds: float = TRANSACTION_SECONDS,
    restoring: bool = False,
) -> Neo4jLedger:
    """Connect, and apply the schema. `busy_seconds` bounds waiting for a connection and retries,
    `transaction_seconds` a transaction, waiting for the space's lock included; `restoring` also
    opens a half restored database.

    Raises:
        ServerUnusable: the server is not there, refuses the password, or holds another database;
            the text says what to do.
    """

    async def start() -> tuple[AsyncDriver, str]:
        driver = await connect(settings, busy_seconds=busy_seconds)
        async with closed_on_failure(driver, settings), driver.session() as session:
            return driver, await schema.prepare(session, restoring=restoring)

    driver, epoch = await patiently(start, settings)
    return Neo4jLedger(Transactions(driver, seconds=transaction_seconds), clock, epoch)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except ServerBusy as error:
        raise LedgerBusy("the ledger is busy") from error
    except ServerUnavailable as error:
        raise LedgerUnavailable("the ledger's store cannot be read or written") from error
