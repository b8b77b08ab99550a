"""Callers of a Neo4j that is gone fail at once, not one after the other (W1)."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
from concord_stores import neo4j_transactions
from concord_stores.neo4j_config import Neo4jConfig, ServerUnusable
from concord_stores.neo4j_server import ServerUnavailable, connect, patiently
from concord_stores.neo4j_transactions import Transactions
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction
from pydantic import SecretStr

RETRIES = 1.0
"""How long the driver tries again."""


class Gone:
    """An address that refuses, or accepts and is silent; it counts connections."""

    def __init__(self) -> None:
        self.tried = 0
        self._server: asyncio.Server | None = None
        self._bound = socket.socket()  # who is bound and does not listen refuses, and is alone
        self._bound.bind(("127.0.0.1", 0))
        self.port: int = self._bound.getsockname()[1]

    async def be_silent(self) -> None:
        """Accept, and say nothing."""
        self._server = await asyncio.start_server(self._taken, sock=self._bound)

    async def hang_up(self) -> None:
        """Accept, and close."""
        self._server = await asyncio.start_server(self._dropped, sock=self._bound)

    async def close(self) -> None:
        """Accept no more."""
        if self._server is not None:
            self._server.close()
        self._bound.close()

    async def _taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tried += 1
        await reader.read()
        writer.close()

    async def _dropped(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tried += 1
        writer.close()


def driver_of(gone: Gone) -> AsyncDriver:
    """A driver that tries again for a second."""
    return AsyncGraphDatabase.driver(
        f"bolt://127.0.0.1:{gone.port}",
        auth=("secret", "secret"),
        max_transaction_retry_time=RETRIES,
        connection_timeout=60,
    )


@pytest.fixture
async def gone() -> AsyncIterator[Gone]:
    """An address where no server of Neo4j's is."""
    address = Gone()
    yield address
    await address.close()


@pytest.fixture
async def server(gone: Gone) -> AsyncIterator[Transactions]:
    """Transactions on that address."""
    transactions = Transactions(driver_of(gone))
    yield transactions
    await transactions.close()


async def work(tx: AsyncManagedTransaction) -> None:
    """Ask anything."""
    await tx.run("RETURN 1")


async def outcome(write: "asyncio.Future[None]") -> Exception:
    """Return the error of the call."""
    with pytest.raises(ServerUnavailable) as refused:
        await write
    return refused.value


async def test_a_start_goes_on_while_the_server_is_slow(gone: Gone) -> None:
    """W4 W7 One reply that does not come ends no start; many do, in a sentence that says so."""
    settings = Neo4jConfig(uri=f"bolt://127.0.0.1:{gone.port}", password=SecretStr("secret"))
    await gone.be_silent()

    async def start() -> AsyncDriver:
        return await connect(settings, busy_seconds=0.05)

    async with asyncio.timeout(60):
        with pytest.raises(ServerUnusable, match="gave no reply in time for 1 s: see its log"):
            await patiently(start, settings, seconds=1)

    assert gone.tried > 1


async def test_a_start_does_not_wait_for_a_server_that_is_gone(gone: Gone) -> None:
    """W7 Who refuses the connection, or hangs up, is not slow."""
    settings = Neo4jConfig(uri=f"bolt://127.0.0.1:{gone.port}", password=SecretStr("secret"))
    await gone.hang_up()
    with pytest.raises(ServerUnusable, match="does not answer at bolt://"):
        await patiently(lambda: connect(settings), settings)

    assert gone.tried == 1


async def test_who_waits_is_told_of_the_outage_at_once(gone: Gone, server: Transactions) -> None:
    """W1 One writer finds the server gone; those behind it do not look for it one by one."""
    await gone.hang_up()
    async with asyncio.timeout(30):
        writing = [asyncio.create_task(server.write_space("space", work)) for _ in range(50)]
        refused = [await outcome(write) for write in writing]

    assert not any("secret" in str(each) or str(gone.port) in str(each) for each in refused)
    assert gone.tried < 10


async def test_who_comes_after_an_outage_looks_once(gone: Gone, server: Transactions) -> None:
    """W1 The driver's retries are spent once an outage; then one look answers each caller."""
    await gone.hang_up()
    with pytest.raises(ServerUnavailable):
        await server.write(work)
    after = gone.tried
    for ask in (server.read, server.write):
        with pytest.raises(ServerUnavailable):
            await ask(work)
    with pytest.raises(ServerUnavailable):
        await server.write_space("space", work)

    assert gone.tried == after + 3


async def test_a_server_that_only_accepts_is_gone_still(
    gone: Gone, server: Transactions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W1 A look at a silent server ends by itself."""
    monkeypatch.setattr(neo4j_transactions, "PROBE_SECONDS", 0.05)
    with pytest.raises(ServerUnavailable):
        await server.write(work)
    await gone.be_silent()
    async with asyncio.timeout(30):
        with pytest.raises(ServerUnavailable):
            await server.read(work)

    assert gone.tried == 1
