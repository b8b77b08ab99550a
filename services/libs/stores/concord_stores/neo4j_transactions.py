"""Managed transactions on a Neo4j server; the writers of one space in a process take turns.

Once a server was found gone, each caller probes it once, briefly, and the writers that wait behind
one that found it gone fail, too. Else each would spend its time on retries.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar
from weakref import WeakValueDictionary

import neo4j
from concord_chassis.observe import tracing
from neo4j import AsyncDriver, AsyncManagedTransaction, AsyncSession

from concord_stores.neo4j_server import ServerBusy, ServerUnavailable, translated

T = TypeVar("T")
Work = Callable[[AsyncManagedTransaction], Awaitable[T]]

TRANSACTION_SECONDS = 60.0
PROBE_SECONDS = 1.0
"""The seconds in which a server that was gone must answer before a transaction is tried again."""
_FETCHED = 5_000  # rows that the server sends at a time
_MOST_WAITING = 1024


class Transactions:
    """A store's transactions on its server. Each may take `seconds`, waiting for locks included;
    the driver runs its work again after transient failures.

    Each method raises:
        ServerBusy: connections, locks or time are used up, or too many wait for their turn.
        ServerUnavailable: the server does not answer, or cannot read or write its store.
    """

    def __init__(self, driver: AsyncDriver, *, seconds: float = TRANSACTION_SECONDS) -> None:
        self._driver = driver
        self._seconds = seconds
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._queued = 0
        self._outages = 0
        self._is_gone = False

    async def read(self, work: Work[T]) -> T:
        """Run work that only reads."""
        async with self.session(neo4j.READ_ACCESS) as session:
            return await session.execute_read(self._bounded(work))

    async def write(self, work: Work[T]) -> T:
        """Run work that writes to no single space."""
        async with self.session(neo4j.WRITE_ACCESS) as session:
            return await session.execute_write(self._bounded(work))

    async def write_space(self, space: str, work: Work[T]) -> T:
        """Run work on a space after this process's earlier writers of it: they wait here without
        taking a connection. Between processes the space's lock node decides."""
        async with self._turn(space):
            return await self.write(work)

    @asynccontextmanager
    async def session(self, access: str) -> AsyncIterator[AsyncSession]:
        """Open a session of the driver for a caller that manages its transaction itself."""
        if self._is_gone:
            await self._probe()
        try:
            with tracing.span(f"neo4j {access.lower()}"), translated():
                async with self._driver.session(
                    default_access_mode=access, fetch_size=_FETCHED
                ) as session:
                    yield session
        except ServerUnavailable:
            self._is_gone = True
            raise

    async def close(self) -> None:
        """Close the driver."""
        await self._driver.close()

    @asynccontextmanager
    async def _turn(self, space: str) -> AsyncIterator[None]:
        if self._queued >= _MOST_WAITING:
            raise ServerBusy("the store is busy")
        turn = self._turns.setdefault(space, asyncio.Lock())
        self._queued += 1
        outages = self._outages
        try:
            async with turn:
                if self._outages != outages:  # somebody found the server gone meanwhile
                    raise ServerUnavailable("the store does not answer")
                try:
                    yield
                except ServerUnavailable:
                    self._outages += 1
                    raise
        finally:
            self._queued -= 1

    async def _probe(self) -> None:
        """Look once whether the server is there again; the driver would try for seconds."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                with translated():
                    await self._driver.verify_connectivity()
        except TimeoutError as error:
            raise ServerUnavailable("the store does not answer") from error
        self._is_gone = False

    def _bounded(self, work: Work[T]) -> Work[T]:
        return neo4j.unit_of_work(timeout=self._seconds)(work)
