"""Reads and restores graph's store, for a backup of the whole system."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from concord_stores.neo4j_config import Neo4jConfig

from concord_graph.adapters.sqlite.copies import SqliteCopy, begin_epoch
from concord_graph.bootstrap import opened
from concord_graph.config import SqliteConfig
from concord_graph.ports import Clock
from concord_graph.ports.copies import GraphCopy
from concord_graph.servicer.outgoing import token
from concord_graph.usecases.governed.restore import ErasedByBoth, Restoring

if TYPE_CHECKING:
    from concord_graph.adapters.neo4j.copies import Neo4jCopy

__all__ = ["Clock", "ErasedByBoth", "GraphCopy", "SqliteCopy", "token"]


def in_nodes() -> Neo4jCopy:
    """Return graph's part of a Neo4j database, which takes the database's nodes."""
    from concord_graph.adapters.neo4j.copies import Neo4jCopy  # slow

    return Neo4jCopy()


@asynccontextmanager
async def restoring(
    settings: SqliteConfig | Neo4jConfig, clock: Clock, confirmers: Sequence[str]
) -> AsyncIterator[Restoring]:
    """Open a store that a copy was put into, under a new epoch.

    An erasure waits for the services in `confirmers` as soon as the system runs.

    Raises:
        StoreUnusable: the store cannot be used; the text says what to do.
    """
    if isinstance(settings, SqliteConfig):  # a database gets its epoch when it is opened
        begin_epoch(settings.store_path, str(uuid.uuid4()))
    store = await opened(settings, clock, restoring=True)
    try:
        yield Restoring(store, clock, confirmers)
    finally:
        await store.close()
