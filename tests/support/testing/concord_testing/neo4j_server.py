"""A Neo4j for tests: the one that NEO4J_URI names, else one that runs only for them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concord_neo4j.server import USER, LocalNeo4j
from neo4j import Driver, GraphDatabase


@dataclass(frozen=True)
class Address:
    """A server's address and credentials."""

    uri: str
    user: str
    password: str

    def __repr__(self) -> str:
        return f"Address(uri={self.uri!r}, user={self.user!r})"


SHORT_LIVED = ("-XX:TieredStopAtLevel=1",)
"""Compile quickly rather than well: a server that lives for minutes never regains the time of good
compilation (measured: half the time for the same tests)."""


@contextmanager
def running(
    folder: Path, environ: Mapping[str, str], *, java_options: Sequence[str] = SHORT_LIVED
) -> Iterator[Address]:
    """Yield a server that answers. What measures it asks for no `java_options`, as people run it.

    With NEO4J_URI set it is that server (NEO4J_USER, NEO4J_PASSWORD), which goes on running. Else
    one is started in `folder` on a free port, and removed afterwards; if this process is killed,
    the server ends with it, but its files stay.

    Raises:
        CannotStart: no server can be started. Tests that need one must fail then, not be skipped.
    """
    if uri := environ.get("NEO4J_URI"):
        user, password = environ.get("NEO4J_USER", USER), environ.get("NEO4J_PASSWORD", "")
        yield Address(uri, user, password)
        return
    server = LocalNeo4j(folder, java_options=java_options, dies_with_us=True)
    try:
        server.start()
        yield Address(server.uri, USER, server.password)
    finally:
        server.remove()


class OneStore:
    """A server whose one database (Community has no more) holds one store at a time."""

    def __init__(self, address: Address, driver: Driver) -> None:
        self._address = address
        self._driver = driver
        self._path: Path | None = None

    def of(self, path: Path) -> Address:
        """Return the address for the store of a path; wipes it if the last path was another."""
        if path != self._path:
            self.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS")
            self._path = path
        return self._address

    def run(self, text: str, **bound: Any) -> list[list[Any]]:
        """Run a statement directly, past Concord; return its rows."""
        with self._driver.session() as session:
            return session.run(text, bound).values()

    def plan(self, text: str) -> dict[str, Any]:
        """Return the plan of a statement that begins with EXPLAIN; `given` is bound, empty."""
        with self._driver.session() as session:
            found = session.run(text, given={}).consume().plan
        if found is None:
            raise ValueError(f"not explained: {text}")
        return found


@contextmanager
def one_store(folder: Path, environ: Mapping[str, str]) -> Iterator[OneStore]:
    """Yield a server as `running` does, for one store at a time. Wipes its database."""
    with (
        running(folder, environ) as at,
        GraphDatabase.driver(
            at.uri, auth=(at.user, at.password), notifications_min_severity="OFF"
        ) as driver,
    ):
        yield OneStore(at, driver)
