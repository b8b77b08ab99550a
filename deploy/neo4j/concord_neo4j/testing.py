"""A Neo4j for tests: the one that NEO4J_URI names, else one of their own while they run."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from concord_neo4j.server import USER, LocalNeo4j


@dataclass(frozen=True)
class Address:
    """Where a server answers, and to whom."""

    uri: str
    user: str
    password: str

    def __repr__(self) -> str:
        return f"Address(uri={self.uri!r}, user={self.user!r})"


@contextmanager
def running(folder: Path, environ: Mapping[str, str]) -> Iterator[Address]:
    """Yield a server that answers.

    With NEO4J_URI set it is that one (NEO4J_USER, NEO4J_PASSWORD), and stays. Else one is started
    in `folder` on a free port, and removed afterwards.

    Raises:
        CannotStart: it cannot be started. Tests that need it must fail then, not be skipped.
    """
    if uri := environ.get("NEO4J_URI"):
        user, password = environ.get("NEO4J_USER", USER), environ.get("NEO4J_PASSWORD", "")
        yield Address(uri, user, password)
        return
    server = LocalNeo4j(folder)
    try:
        server.start()
        yield Address(server.uri, USER, server.password)
    finally:
        server.remove()
