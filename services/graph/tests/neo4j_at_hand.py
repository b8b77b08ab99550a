"""The Neo4j that tests run on when GRAPH_STORE=neo4j: one server, wiped for each new store.

Community has one database. So there is one store at a time: asking for the store of another path
wipes it, asking for the same path again opens what is there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from concord_graph.adapters.neo4j import schema
from concord_stores.neo4j_config import Neo4jConfig
from concord_testing.neo4j_server import Address, running
from neo4j import Driver, GraphDatabase
from pydantic import SecretStr

_server: Address | None = None
_driver: Driver | None = None
_path: Path | None = None


def is_chosen() -> bool:
    """Return whether the tests run on Neo4j."""
    return os.environ.get("GRAPH_STORE") == "neo4j"


@contextmanager
def server(folder: Path) -> Iterator[Address]:
    """Start the server, or find the given one, for as long as the tests run."""
    global _server, _driver
    with (
        running(folder, os.environ) as _server,
        GraphDatabase.driver(
            _server.uri,
            auth=(_server.user, _server.password),
            notifications_min_severity="OFF",  # advice on our tests' own statements
        ) as _driver,
    ):
        yield _server


def of(path: Path) -> Neo4jConfig:
    """Return the settings of the store of a path; a new one is empty."""
    global _path  # noqa: PLW0603 - see above
    if _server is None:
        raise RuntimeError("no Neo4j: only tests below this folder start one")
    if path != _path:
        wipe()
        _path = path
    return Neo4jConfig(uri=_server.uri, user=_server.user, password=SecretStr(_server.password))


def environment(path: Path) -> dict[str, str]:
    """Return the settings of the store of a path, for a process of its own."""
    if not is_chosen():
        return {"GRAPH_STORE_PATH": str(path)}
    given = of(path)
    password = given.password.get_secret_value()
    return {"NEO4J_URI": given.uri, "NEO4J_USER": given.user, "NEO4J_PASSWORD": password}


def wipe() -> None:
    """Remove everything but the schema, as in a database that is prepared and never used."""
    run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS")
    if run("SHOW CONSTRAINTS YIELD name WHERE name = 'concord_item' RETURN count(*)") == [[1]]:
        run(
            "CREATE (s:Store {key: 'concord', schema: $schema, epoch: randomUUID()})",
            schema=schema.VERSION,
        )


def driver() -> Driver:
    """Return a driver of whoever has the password."""
    if _driver is None:
        raise RuntimeError("no Neo4j: only tests below this folder start one")
    return _driver


def run(text: str, **bound: object) -> list[list[object]]:
    """Run a statement as anybody with the password may; return its rows."""
    with driver().session() as session:
        return session.run(text, bound).values()
