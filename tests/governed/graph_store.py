"""Where the graphs of these tests are: a file each, or with GRAPH_STORE=neo4j a Neo4j.

Tests that look into the graph's file run on files alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.config import SqliteConfig
from concord_stores.neo4j_config import Neo4jConfig
from concord_testing import blank_files
from concord_testing.neo4j_server import OneStore, one_store
from pydantic import SecretStr

_server: OneStore | None = None


@contextmanager
def server(folder: Path) -> Iterator[None]:
    """Have a Neo4j, when it is chosen, for as long as the tests run."""
    global _server
    if os.environ.get("GRAPH_STORE") != "neo4j":
        yield
        return
    with one_store(folder, os.environ) as _server:
        yield


def of(path: Path) -> SqliteConfig | Neo4jConfig:
    """Return the settings of the graph of a path; a new one is empty."""
    if _server is None:
        return SqliteConfig(store_path=blank_files.lay(path, SCHEMA))
    at = _server.of(path)
    return Neo4jConfig(uri=at.uri, user=at.user, password=SecretStr(at.password))
