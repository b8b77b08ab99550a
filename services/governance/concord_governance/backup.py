"""Reads and restores governance's ledger, for a backup of the whole system."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from concord_stores.neo4j_config import Neo4jConfig, ServerUnusable
from concord_stores.sqlite_copy import read_live
from concord_stores.sqlite_file import FileUnusable

from concord_governance.adapters.sqlite.copies import SqliteCopy
from concord_governance.bootstrap import opened
from concord_governance.config import SqliteConfig
from concord_governance.domain.access import SYSTEM_SPACE, ApiKey, KeyStatus, Space, is_operator
from concord_governance.ports.copies import EndedKey, LedgerCopy
from concord_governance.ports.ledger import Clock
from concord_governance.usecases.restore import Restoring

if TYPE_CHECKING:
    from concord_governance.adapters.neo4j.copies import Neo4jCopy

__all__ = [
    "SYSTEM_SPACE",
    "ApiKey",
    "EndedKey",
    "KeyStatus",
    "LedgerCopy",
    "Space",
    "SqliteCopy",
    "is_operator",
]


def in_nodes() -> Neo4jCopy:
    """Return the ledger's part of a Neo4j database, which takes the database's nodes."""
    from concord_governance.adapters.neo4j.copies import Neo4jCopy  # slow

    return Neo4jCopy()


async def deleted_spaces(settings: SqliteConfig | Neo4jConfig) -> frozenset[str]:
    """Return the names of the deleted spaces; none of a file that cannot be read.

    Raises:
        ServerUnusable: the database cannot be read; the text says what to do.
    """
    if isinstance(settings, Neo4jConfig):
        return _names(await _spaces_in(settings))
    try:
        with read_live(settings.ledger_path) as db:
            return _names(SqliteCopy(db))
    except (FileUnusable, sqlite3.DatabaseError):
        return frozenset()  # it does not exist yet, or the start says what is wrong with it


def _names(copy: LedgerCopy) -> frozenset[str]:
    return frozenset(space.name for space in copy.deleted_spaces())


async def _spaces_in(settings: Neo4jConfig) -> Neo4jCopy:
    from concord_stores.neo4j_copy import labelled  # slow
    from concord_stores.neo4j_server import ServerFailure, connect, patiently

    copy = in_nodes()

    async def start() -> None:
        async with await connect(settings) as driver:
            for properties in await labelled(driver, copy.SPACE):
                copy.take([copy.SPACE], properties)

    try:
        await patiently(start, settings)
    except ServerFailure as error:
        raise ServerUnusable(f"{error}: try again.") from error
    return copy


@asynccontextmanager
async def restoring(settings: SqliteConfig | Neo4jConfig, clock: Clock) -> AsyncIterator[Restoring]:
    """Open a ledger that a copy was put into.

    Raises:
        FileUnusable, ServerUnusable: the ledger cannot be used; the text says what to do.
    """
    ledger = await opened(settings, clock, restoring=True)
    try:
        yield Restoring(ledger)
    finally:
        await ledger.close()
