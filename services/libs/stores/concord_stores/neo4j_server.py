"""A Neo4j server as a service's store: connection, schema, and failures by name.

A service with a store there translates the two failures into errors of its own. The driver's texts
go to the log, never to a client. Several services may share a database: each has labels of its own,
and a stamp with the version of its schema.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from types import MappingProxyType
from typing import TypeVar

from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, AsyncSession
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    DatabaseError,
    DatabaseUnavailable,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
    UnsupportedServerProduct,
)

from concord_stores.neo4j_config import Neo4jConfig, ServerUnusable

# The driver logs each retry; with no handler Python would print that on standard error. A service
# reports final failures in its own words.
from concord_stores.other_schema import which_to_run

logging.getLogger("neo4j").addHandler(logging.NullHandler())

T = TypeVar("T")
BUSY_SECONDS = 5.0
START_SECONDS = 60.0
"""How long a start waits for a server that is slow."""
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 5.0
NO_CONVERSIONS: Mapping[int, Sequence[str]] = MappingProxyType({})
RESERVED = "Concord"
"""Prefix of the labels of services' nodes beside the graph. No caller's own label may begin with
it, or a caller could write a node that looks like another service's."""
_STAMPED = "concord"  # prefix of the keys of stamps
RESTORING = "concord-restoring"
"""The stamp of a database under restore from a copy: it serves nobody."""
_ADDRESS = re.compile(r"(bolt|neo4j)(\+s|\+ssc)?://")
_CONNECTIONS = 50
_INDEXES_ONLINE_SECONDS = 120
_TOO_SLOW = ("TransactionTimedOut", "LockClientStopped", "Terminated", "LockAcquisitionTimeout")


class ServerFailure(Exception):
    """Root of the failures of a server that was reached once."""


class ServerBusy(ServerFailure):
    """Connections, locks or time are used up: try again later."""


class ServerUnavailable(ServerFailure):
    """The server does not answer, or cannot read or write its store."""


class ServerSlow(ServerUnusable):
    """The server gave no reply in time, and may a little later."""


async def patiently(
    start: Callable[[], Awaitable[T]], settings: Neo4jConfig, *, seconds: float = START_SECONDS
) -> T:
    """Run a step of a start, again for so many seconds while the server is slow.

    Raises:
        ServerUnusable: it was slow until then, or cannot be used for another reason.
        ServerUnavailable: from a step that translates the driver's errors.
    """
    end, wait = time.monotonic() + seconds, _FIRST_WAIT
    while True:
        try:
            return await start()
        except (ServerSlow, ServerBusy) as slow:
            if time.monotonic() + wait > end:
                raise ServerUnusable(
                    f"Neo4j at {settings.uri} gave no reply in time for {seconds:.0f} s: see its "
                    "log, and that its machine has memory and disk to spare, and start again"
                ) from slow
        await asyncio.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT)


async def connect(settings: Neo4jConfig, *, busy_seconds: float = BUSY_SECONDS) -> AsyncDriver:
    """Return a driver that has reached the server. `busy_seconds` bounds waiting for a connection
    and retries.

    Raises:
        ServerUnusable: the server does not answer, or refuses the password.
    """
    with _advised(settings):
        if not _ADDRESS.match(settings.uri):
            raise ValueError("no address of a Neo4j server")
        driver = AsyncGraphDatabase.driver(
            settings.uri,
            auth=(settings.user, settings.password.get_secret_value()),
            max_connection_pool_size=_CONNECTIONS,
            connection_acquisition_timeout=busy_seconds,
            connection_timeout=busy_seconds,
            max_transaction_retry_time=busy_seconds,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )
    async with closed_on_failure(driver, settings):
        await driver.verify_connectivity()
    return driver


@asynccontextmanager
async def closed_on_failure(driver: AsyncDriver, settings: Neo4jConfig) -> AsyncIterator[None]:
    """Close the driver if the block fails; a failure of the server becomes ServerUnusable.

    Raises:
        ServerUnusable: the server cannot be used as a store; the text says what to do.
    """
    try:
        with _advised(settings):
            yield
    except BaseException:
        await driver.close()
        raise


@contextmanager
def translated() -> Iterator[None]:
    """Translate the driver's errors into a ServerFailure; errors by our own bugs stay."""
    try:
        yield
    except (DriverError, Neo4jError) as error:
        failure = _meaning(error)
        if failure is None:
            raise
        raise failure from error


async def prepare(
    session: AsyncSession,
    stamp: str,
    version: int,
    statements: Sequence[str],
    *,
    conversions: Mapping[int, Sequence[str]] = NO_CONVERSIONS,
    restoring: bool = False,
) -> str:
    """Run a schema's statements in a database that has none yet; each may run again.

    `conversions`: of each older version that can become this one, what to run besides; this too may
    run again, also beside a process that has already stamped the version.

    Returns the epoch of the stamp's store, made with the stamp and never changed. The stamp begins
    with "concord". `restoring`: the caller restores a copy; until then nobody else is let in.

    Raises:
        ServerUnusable: the database is another program's, has another version, or is half restored.
    """
    found = await session.execute_read(_stamped_as, stamp)
    if not restoring and await session.execute_read(_has_stamp, RESTORING):
        raise ServerUnusable(
            "a restore is under way, or was not finished: repeat `concord backup restore`"
        )
    if found is not None and found not in (version, *conversions):
        raise ServerUnusable(
            f"the database has schema {found}, this program knows {version}: "
            f"{which_to_run(found, version)}"
        )
    if found is None:
        await _demand_ours(session)
    if found != version:
        for statement in (*statements, *conversions.get(found or version, ())):
            await _make(session, statement)
        await session.run("CALL db.awaitIndexes($seconds)", seconds=_INDEXES_ONLINE_SECONDS)
    return await session.execute_write(_stamp, stamp, version)


def unique(name: str, label: str, *keys: str) -> str:
    """Return the statement that makes a constraint (and its index), once."""
    listed = ", ".join(f"x.{key}" for key in keys)
    return (
        f"CREATE CONSTRAINT concord_{name} IF NOT EXISTS"
        f" FOR (x:{label}) REQUIRE ({listed}) IS UNIQUE"
    )


def indexed(name: str, label: str, *keys: str) -> str:
    """Return the statement that makes an index, once."""
    listed = ", ".join(f"x.{key}" for key in keys)
    return f"CREATE INDEX concord_{name} IF NOT EXISTS FOR (x:{label}) ON ({listed})"


STAMP = unique("store", "Store", "key")
"""Makes stamps unique: the first statement of each schema."""


async def _make(session: AsyncSession, statement: str) -> None:
    async def work(tx: AsyncManagedTransaction) -> None:
        await (await tx.run(statement)).consume()

    try:
        await session.execute_write(work)
    except ClientError as error:  # "if not exists" looks before it takes the lock
        if not (error.code or "").endswith("AlreadyExists"):
            raise


async def _stamped_as(tx: AsyncManagedTransaction, stamp: str) -> int | None:
    found = await (await tx.run("MATCH (s:Store {key: $key}) RETURN s.schema", key=stamp)).single()
    return int(found[0]) if found else None


async def _has_stamp(tx: AsyncManagedTransaction, stamp: str) -> bool:
    found = await tx.run("MATCH (s:Store {key: $key}) RETURN count(s)", key=stamp)
    return bool((await found.single(strict=True))[0])


async def _stamp(tx: AsyncManagedTransaction, stamp: str, version: int) -> str:
    """Write the version, and the epoch only the first time: two processes may start at once."""
    found = await tx.run(
        "MERGE (s:Store {key: $key}) ON CREATE SET s.epoch = $epoch SET s.schema = $schema"
        " RETURN s.epoch",
        key=stamp,
        epoch=str(uuid.uuid4()),
        schema=version,
    )
    return str((await found.single(strict=True))[0])


async def _demand_ours(session: AsyncSession) -> None:
    """Refuse a database that has nodes and no stamp of any service of Concord."""
    found = await session.run(
        "RETURN EXISTS { MATCH (n) }"
        " AND NOT EXISTS { MATCH (s:Store) WHERE s.key STARTS WITH $stamped }",
        stamped=_STAMPED,
    )
    if (await found.single(strict=True))[0]:
        raise ServerUnusable(
            "the database holds another program's nodes: give Concord one of its own"
        )


def _meaning(error: DriverError | Neo4jError) -> ServerFailure | None:
    if isinstance(error, ConnectionAcquisitionTimeoutError):
        return ServerBusy("every connection to the store is busy")
    if isinstance(error, (ServiceUnavailable, SessionExpired, DatabaseUnavailable, AuthError)):
        return ServerUnavailable("the store does not answer")
    if isinstance(error, DatabaseError):
        return ServerUnavailable("the store cannot be read or written")
    slow = isinstance(error, ClientError) and any(word in (error.code or "") for word in _TOO_SLOW)
    if slow or isinstance(error, TransientError):
        return ServerBusy("the store is busy")
    return None


@contextmanager
def _advised(settings: Neo4jConfig) -> Iterator[None]:
    try:
        yield
    except (DriverError, Neo4jError, ValueError) as error:  # ValueError: no such port
        kind = ServerSlow if _is_slow(error) else ServerUnusable
        raise kind(_advice(settings.uri, settings.user, error)) from error


def _is_slow(error: DriverError | Neo4jError | ValueError) -> bool:
    """Whether the server is busy, or a reply did not come in time; not if it refuses."""
    if isinstance(error, ValueError):
        return False
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, TimeoutError):
        cause = cause.__cause__
    return cause is not None or isinstance(_meaning(error), ServerBusy)


def _advice(uri: str, user: str, error: Exception) -> str:
    """Return what to do about a server that cannot be used."""
    if isinstance(error, AuthError):
        return (
            f"Neo4j at {uri} refuses the user {user!r}: set NEO4J_USER and NEO4J_PASSWORD "
            "to those of its owner"
        )
    if isinstance(error, (ConfigurationError, UnsupportedServerProduct, ValueError)):
        return f"NEO4J_URI {uri} is not usable ({error}): it looks like bolt://127.0.0.1:7687"
    if isinstance(error, (ServiceUnavailable, SessionExpired, DatabaseUnavailable)):
        return (
            f"Neo4j does not answer at {uri}: start it (`make neo4j-up` starts one on this "
            "machine), or set NEO4J_URI to where it is"
        )
    return f"Neo4j at {uri} cannot serve as a store: {error}"
