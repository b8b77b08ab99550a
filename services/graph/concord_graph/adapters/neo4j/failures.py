"""What Neo4j's errors mean to graph. The driver's own words go to the log, never to a client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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

from concord_graph.domain.exceptions import GraphError, Overloaded, StoreUnavailable

_TOO_SLOW = (*("TransactionTimedOut", "LockClientStopped", "Terminated", "LockAcquisitionTimeout"),)


@contextmanager
def told_by_graph() -> Iterator[None]:
    """Raise graph's own word for what the driver raises. Our own bugs stay what they are."""
    try:
        yield
    except (DriverError, Neo4jError) as error:
        meant = _meaning(error)
        if meant is None:
            raise
        raise meant from error


def _meaning(error: DriverError | Neo4jError) -> GraphError | None:
    if isinstance(error, ConnectionAcquisitionTimeoutError):
        return Overloaded("every connection to the store is busy")
    if isinstance(error, (ServiceUnavailable, SessionExpired, DatabaseUnavailable, AuthError)):
        return StoreUnavailable("the store does not answer")
    if isinstance(error, DatabaseError):
        return StoreUnavailable("the store cannot be read or written")
    slow = isinstance(error, ClientError) and any(word in (error.code or "") for word in _TOO_SLOW)
    if slow or isinstance(error, TransientError):
        return Overloaded("the store is busy")
    return None


def advice(uri: str, user: str, error: Exception) -> str:
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
