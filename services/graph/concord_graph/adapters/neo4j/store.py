"""The store over a Neo4j server: one driver a process, one session a call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString, TypeVar

import neo4j
from concord_chassis.channel.partitions import partition_of
from concord_stores.neo4j_config import Neo4jConfig, ServerUnusable
from concord_stores.neo4j_server import (
    BUSY_SECONDS,
    ServerBusy,
    ServerUnavailable,
    closed_on_failure,
    connect,
    patiently,
)
from concord_stores.neo4j_transactions import TRANSACTION_SECONDS, Transactions
from neo4j import AsyncDriver, AsyncManagedTransaction, AsyncSession

from concord_graph.adapters.neo4j import (
    erased_items,
    feed,
    layers,
    leases,
    patterns,
    schema,
    sessions,
)
from concord_graph.adapters.neo4j.pending import PendingReads
from concord_graph.adapters.neo4j.reads import Neo4jReads
from concord_graph.adapters.neo4j.tokens import Tokens
from concord_graph.adapters.neo4j.writes import Neo4jWrites
from concord_graph.adapters.passed import Passed
from concord_graph.adapters.stored import change_of
from concord_graph.domain.erasure import STORE
from concord_graph.domain.errors import Overloaded, StoreUnavailable, StoreUnusable
from concord_graph.domain.items import ItemKind
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

POLL_SECONDS = 0.5
"""The seconds after which another replica's commit is seen at the latest, by who waits for it."""
_READ_TRIES = 3

_TOUCH = (
    "UNWIND $reads AS read MATCH (s:Space {space: read.space})"
    " MERGE (a:Access {space: read.space, id: read.id})"
    " ON CREATE SET a.count = 0, a.last_time = read.last_time"
    " SET a.count = a.count + read.count, a.unannounced = true, a.last_time ="
    " CASE WHEN read.last_time > a.last_time THEN read.last_time ELSE a.last_time END"
)
_NEWLY_READ = (
    f"{patterns.PLANNED_ONCE}MATCH (a:Access) WHERE a.unannounced = true"  # sought by index
    " WITH a ORDER BY a.space, a.id REMOVE a.unannounced"
    " WITH a MATCH (m:Item {space: a.space, id: a.id}) WHERE m.kind = $memory"
    " RETURN m.space, collect(m.id)"
)
_CHANGES = (
    f"MATCH (c:Change) WHERE c.seq > $after RETURN {layers.CHANGE}"
    " ORDER BY c.space, c.seq LIMIT $limit"
)
_UNSETTLED = (
    "MATCH (s:Space) WITH s, coalesce(s.unsettled, 1) AS first WHERE s.seq > 0 AND first > 0"
    " RETURN s.space, first, s.seq ORDER BY s.space"
)
"""A space without the number is of schema 15, which kept no standings, or of a copy of such."""


class Neo4jStore:
    """Graph's store in a Neo4j database. Build it with `open_store`.

    A space is written by one transaction at a time, which locks the space's counter. Spaces wait
    for each other only at their commits, which are numbered in a partition's feed. A read sees one
    state of its space: if the space changed meanwhile, it runs again, at last under the space's
    lock.
    """

    def __init__(
        self,
        server: Transactions,
        clock: Clock,
        epoch: str,
        *,
        tokens: Tokens,
        exporters: int,
        partitions: int,
    ) -> None:
        self._server = server
        self._exporters = asyncio.Semaphore(exporters)
        self._clock = clock
        self._epoch = epoch
        self._tokens = tokens
        self._pending = PendingReads()
        self._partitions = partitions
        self._passed = Passed()
        self._polled = -POLL_SECONDS

    @property
    def epoch(self) -> str:
        return self._epoch

    async def read(
        self,
        space: str,
        work: Callable[[Reads], Awaitable[T]],
        *,
        brief: bool = False,  # noqa: ARG002 # every answer comes over a network
    ) -> T:
        async def attempt(tx: AsyncManagedTransaction) -> tuple[T, bool]:
            view = Neo4jReads(tx, space, epoch=self._epoch, pending=self._pending)
            await view.begin()
            result = await work(view)
            return result, await view.is_unchanged()

        for _ in range(_READ_TRIES):
            with _failures_named():
                result, is_whole = await self._server.read(attempt)
            if is_whole:
                return result
        return await self.write(space, work)  # under the lock, the space does not change

    async def export(self, space: str, work: Callable[[Reads], Awaitable[T]]) -> T:
        """Run work that reads a whole space; few run at once, so as to leave connections free."""
        async with self._exporters:
            return await self.read(space, work)

    async def write(
        self,
        space: str,
        work: Callable[[Writes], Awaitable[T]],
        *,
        author: Author = NOBODY,
    ) -> T:
        partition = partition_of(space, self._partitions)

        async def attempt(tx: AsyncManagedTransaction) -> tuple[T, int]:
            writes = Neo4jWrites(
                tx,
                space,
                epoch=self._epoch,
                pending=self._pending,
                clock=self._clock,
                tokens=self._tokens,
                author=author,
                partition=partition,
            )
            await writes.begin()
            result = await work(writes)
            return result, await writes.finish()

        with _failures_named():
            result, number = await self._server.write_space(space, attempt)
        self._passed.note(partition, number)
        return result

    def pending(self, reads: Callable[[], Sequence[ReadCounts]]) -> None:
        self._pending.show(reads)

    async def touch(self, reads: ReadCounts, uses: SessionUses, stored: Callable[[], None]) -> None:
        if not (reads or uses):
            return
        rows = [
            {"space": space, "id": item_id, "count": count, "last_time": last}
            for (space, item_id), (count, last) in sorted(reads.items())  # sorted, so no deadlock
        ]

        with _failures_named():
            async with self._server.session(neo4j.WRITE_ACCESS) as session:
                tx = await session.begin_transaction(timeout=TRANSACTION_SECONDS)
                async with tx:
                    await (await tx.run(_TOUCH, reads=rows)).consume()
                    if uses:
                        await (await tx.run(sessions.USE, sessions.rows(uses))).consume()
                    async with self._pending.moving():  # only now: until here it may have to wait
                        await tx.commit()
                        stored()

    async def newly_read(self) -> Mapping[str, Sequence[str]]:
        found = await self._rows(neo4j.WRITE_ACCESS, _NEWLY_READ, memory=int(ItemKind.MEMORY))
        return dict(found)

    async def spaces(self, partition: int, after: str, limit: int) -> Sequence[SpaceHead]:
        given = {"partition": partition, "after": after, "limit": limit}
        found = await self._rows(neo4j.READ_ACCESS, feed.SPACES, given=given)
        return [SpaceHead(space, seq) for space, seq in found]

    async def unsettled(self) -> Sequence[Unsettled]:
        found = await self._rows(neo4j.READ_ACCESS, _UNSETTLED)
        return [Unsettled(*row) for row in found]

    async def changes(self, space: str, after: int, limit: int) -> Sequence[Change]:
        text = patterns.scoped(_CHANGES)
        given = {"space": space, "after": after, "limit": limit}
        found = await self._rows(neo4j.READ_ACCESS, text, given=given)
        return [change_of(row) for row in found]

    async def changes_at(
        self, places: Collection[tuple[str, int]]
    ) -> Mapping[tuple[str, int], Change]:
        given = {"places": [[*place] for place in places]}
        found = await self._rows(neo4j.READ_ACCESS, feed.AT, given=given)
        return {(space, seq): change_of(row) for space, seq, *row in found}

    async def numbers(self) -> Sequence[int]:
        return [row[0] for row in await self._rows(neo4j.READ_ACCESS, feed.NUMBERS)]

    async def feed(self, partition: int, after: int, limit: int) -> Sequence[FeedChange]:
        given: dict[str, Any] = {"partition": partition, "after": after, "limit": limit}
        commits = await self._rows(neo4j.READ_ACCESS, feed.COMMITS, given=given)
        given = {"parts": feed.parts(commits, after, limit)}
        return feed.page(await self._rows(neo4j.READ_ACCESS, feed.CHANGES, given=given))

    async def numbered(
        self, cursors: Collection[tuple[int, int]]
    ) -> Mapping[tuple[int, int], Change]:
        given = {"cursors": [[*cursor] for cursor in cursors]}
        found = await self._rows(neo4j.READ_ACCESS, feed.NUMBERED, given=given)
        return {(partition, number): change_of(row) for partition, number, *row in found}

    async def passed(self, numbers: Mapping[int, int]) -> Collection[int]:
        """Return which partitions got changes; other replicas' commits are seen within a poll."""
        while not (ahead := self._passed.ahead(numbers)):
            until_poll = self._polled + POLL_SECONDS - time.monotonic()
            if until_poll > 0:
                await self._passed.change(numbers, until_poll)
                continue
            self._polled = time.monotonic()  # callers that wait together share one query
            for partition, number in enumerate(await self.numbers()):
                self._passed.note(partition, number)
        return ahead

    async def acquire_lease(self, key: LeaseKey, holder: str, now: int, until: int) -> Lease:
        with _failures_named():
            return await self._server.write(lambda tx: leases.acquire(tx, key, holder, now, until))

    async def renew_lease(self, key: LeaseKey, renewed: Lease, now: int) -> bool:
        with _failures_named():
            return await self._server.write(lambda tx: leases.renew(tx, key, renewed, now))

    async def scrub(self, *, thorough: bool) -> None:  # noqa: ARG002 - Neo4j takes nothing out
        """Confirm erasures: no query shows the content; compacting the store removes its bytes."""
        await self._rows(
            neo4j.WRITE_ACCESS, erased_items.CONFIRM_ALL, confirmer=STORE, time=self._clock()
        )

    async def ready(self) -> bool:
        """Return whether the store answers, and is the one that was opened."""
        text = "MATCH (s:Store {key: 'concord'}) RETURN s.epoch"
        found = await self._rows(neo4j.READ_ACCESS, text)
        return found == [[self._epoch]]

    async def close(self) -> None:
        await self._server.close()

    async def _rows(self, access: str, text: str, **bound: Any) -> list[list[Any]]:
        """Run one statement that concerns no single space, or names its space itself."""

        async def work(tx: AsyncManagedTransaction) -> list[list[Any]]:
            result = await tx.run(text, bound)
            return await result.values()

        with _failures_named():
            if access == neo4j.WRITE_ACCESS:
                return await self._server.write(work)
            return await self._server.read(work)


async def open_store(
    settings: Neo4jConfig,
    clock: Clock,
    *,
    exporters: int = EXPORTERS,
    busy_seconds: float = BUSY_SECONDS,
    restoring: bool = False,
    partitions: int = PARTITIONS,
    numbered: Callable[[int, float], None] | None = None,
) -> Neo4jStore:
    """Connect, and apply the schema. `busy_seconds` bounds waiting for a connection and retries,
    `exporters` the exports at once; `restoring`: the caller is putting a copy there. A new store
    gets `partitions`; of one that was written before there were any, `numbered` is told how many
    spaces were numbered, in how many seconds.

    Raises:
        StoreUnusable: the server does not answer, refuses the password, or holds other data; the
            text says what to do.
    """

    async def start() -> tuple[AsyncDriver, str, Tokens, int]:
        driver = await connect(settings, busy_seconds=busy_seconds)
        async with closed_on_failure(driver, settings), driver.session() as session:
            epoch = await schema.prepare(session, restoring=restoring)
            begun = time.perf_counter()
            count, spaces = await feed.prepare(session, partitions)
            if spaces and numbered:
                numbered(spaces, time.perf_counter() - begun)
            return driver, epoch, await _tokens(session), count

    try:
        driver, epoch, tokens, count = await patiently(start, settings)
    except ServerUnusable as error:
        raise StoreUnusable(str(error)) from error
    return Neo4jStore(
        Transactions(driver), clock, epoch, tokens=tokens, exporters=exporters, partitions=count
    )


async def _tokens(session: AsyncSession) -> Tokens:
    async def names(text: LiteralString) -> set[str]:
        return {row[0] for row in await (await session.run(text)).values()}

    return Tokens(
        labels=await names("CALL db.labels()"),
        types=await names("CALL db.relationshipTypes()"),
        keys=await names("CALL db.propertyKeys()"),
    )


@contextmanager
def _failures_named() -> Iterator[None]:
    """Translate the server's failures into graph's errors."""
    try:
        yield
    except ServerBusy as error:
        raise Overloaded(str(error)) from error
    except ServerUnavailable as error:
        raise StoreUnavailable(str(error)) from error
