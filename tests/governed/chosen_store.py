"""Where the graphs and ledgers of these tests are: a file each, or a Neo4j where it is chosen.

GRAPH_STORE=neo4j and GOVERNANCE_STORE=neo4j choose it. Tests that look into a file run on files
alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

import concord_governance.config
import concord_graph.config
from concord_governance.adapters.sqlite import ledger
from concord_graph.adapters.sqlite import schema
from concord_stores.neo4j_config import Neo4jConfig
from concord_testing import blank_files
from concord_testing.neo4j_server import OneStore, one_store
from pydantic import SecretStr

Embedded = TypeVar("Embedded")


class ChosenStore(Generic[Embedded]):
    """A file, or a Neo4j where the variable says so; `embedded` makes the settings of a file."""

    def __init__(self, variable: str, embedded: Callable[[Path], Embedded]) -> None:
        self._variable, self._embedded = variable, embedded
        self._server: OneStore | None = None

    @contextmanager
    def server(self, folder: Path) -> Iterator[None]:
        """Have a Neo4j, when it is chosen, for as long as the tests run."""
        if os.environ.get(self._variable) != "neo4j":
            yield
            return
        with one_store(folder, os.environ) as self._server:
            yield

    def of(self, path: Path) -> Embedded | Neo4jConfig:
        """Return the settings of the store of a path; a new one is empty."""
        if self._server is None:
            return self._embedded(path)
        at = self._server.of(path)
        return Neo4jConfig(uri=at.uri, user=at.user, password=SecretStr(at.password))


GRAPH = ChosenStore(
    "GRAPH_STORE",
    lambda path: concord_graph.config.SqliteConfig(store_path=blank_files.lay(path, schema.SCHEMA)),
)
LEDGER = ChosenStore(
    "GOVERNANCE_STORE",
    lambda path: concord_governance.config.SqliteConfig(
        ledger_path=blank_files.lay(path, ledger.SCHEMA)
    ),
)
