"""Reads and restores graph's store, for a backup of the whole system."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from concord_stores.neo4j_config import Neo4jConfig

from concord_graph.adapters.sqlite.copies import SqliteCopy, begin_epoch
from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.adapters.sqlite.store import open_store
from concord_graph.config import SqliteConfig
from concord_graph.domain.errors import ConstitutiveProtected
from concord_graph.ports import Clock, GraphStore
from concord_graph.ports.copies import GraphCopy
from concord_graph.servicer.outgoing import token
from concord_graph.usecases.governed.change_digest import digest_at
from concord_graph.usecases.governed.principal_keys import closed_slots
from concord_graph.usecases.memory.erase_again import ErasingAgain

if TYPE_CHECKING:
    from concord_graph.adapters.neo4j.copies import Neo4jCopy

__all__ = ["ErasedByBoth", "GraphCopy", "RestoredGraph", "token"]
SQLITE_SCHEMA = SCHEMA.version
"""The newest version of a file's schema that this program knows."""


class ErasedByBoth(Exception):
    """A memory that was erased later is constitutive in a restored store."""

    def __init__(self, space: str, memory_id: str) -> None:
        super().__init__(space, memory_id)
        self.space, self.memory_id = space, memory_id


def in_file(db: sqlite3.Connection) -> SqliteCopy:
    """Return the store in a SQLite file."""
    return SqliteCopy(db)


def in_nodes() -> Neo4jCopy:
    """Return graph's part of a Neo4j database, which takes the database's nodes."""
    from concord_graph.adapters.neo4j.copies import Neo4jCopy  # slow

    return Neo4jCopy()


def neo4j_schema() -> int:
    """Return the newest version of a database's schema that this program knows."""
    from concord_graph.adapters.neo4j.schema import VERSION  # slow

    return VERSION


class RestoredGraph:
    """A store that a copy was put into, under an epoch of its own."""

    def __init__(self, store: GraphStore, clock: Clock, confirmers: Sequence[str]) -> None:
        self._store = store
        self._again = ErasingAgain(store, clock, confirmers)

    @property
    def epoch(self) -> str:
        """The new epoch."""
        return self._store.epoch

    async def apply(
        self, erased: Iterable[tuple[str, str]], burnt: Iterable[tuple[str, str]]
    ) -> tuple[int, int]:
        """Erase (space, memory id) and burn (space, nonce) as recorded after the copy.

        Return how many memories were still there, and how many nonces were not burnt yet.

        Raises:
            ErasedByBoth: one of the memories is constitutive in this copy.
        """
        here = await self._spaces()
        fresh = [await self._again.burn(space, nonce) for space, nonce in burnt if space in here]
        gone = 0
        for space, memory_id in erased:
            try:
                gone += space in here and await self._again.erase(space, memory_id)
            except ConstitutiveProtected as error:
                raise ErasedByBoth(space, memory_id) from error
        await self._store.scrub(thorough=True)
        return gone, sum(fresh)

    async def digest_at(self, space: str, seq: int) -> str:
        """Return the digest of a change; empty if the store has no such change."""
        return await digest_at(self._store, space, seq)

    async def closed_slots(self) -> Sequence[tuple[str, str]]:
        """Return (space, slot) of each principal's key that was replaced since the copy."""
        spaces = sorted(await self._spaces())
        return [
            (space, slot) for space in spaces for slot in await closed_slots(self._store, space)
        ]

    async def _spaces(self) -> set[str]:
        return {head.space for head in await self._store.spaces()}


@asynccontextmanager
async def restoring(
    settings: SqliteConfig | Neo4jConfig, clock: Clock, confirmers: Sequence[str]
) -> AsyncIterator[RestoredGraph]:
    """Open a store that a copy was put into, under a new epoch.

    An erasure waits for the services in `confirmers` as soon as the system runs.

    Raises:
        StoreUnusable: the store cannot be used; the text says what to do.
    """
    store: GraphStore
    if isinstance(settings, Neo4jConfig):
        from concord_graph.adapters.neo4j.store import open_store as open_neo4j  # slow

        store = await open_neo4j(settings, clock, restoring=True)
    else:
        begin_epoch(settings.store_path, str(uuid.uuid4()))
        store = open_store(settings.store_path, clock, readers=settings.readers)
    try:
        yield RestoredGraph(store, clock, confirmers)
    finally:
        await store.close()
