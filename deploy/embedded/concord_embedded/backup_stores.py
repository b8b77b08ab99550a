"""The stores that are backed up: files in the data directory, or a Neo4j database."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from pathlib import Path
from typing import Protocol

from concord_chassis.config import ConfigError, load
from concord_governance import backup as ledger_backup
from concord_graph import backup as graph_backup
from concord_stores.neo4j_config import Neo4jConfig
from concord_stores.sqlite_copy import copy_at_one_instant, demand_sound, read_live, read_only

from concord_embedded.copies import GRAPH, LEDGER, NEO4J, Copy, Known
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError, StartError


class Stores(Protocol):
    """The running or stopped system's stores."""

    async def demand_there(self, data: DataDirectory) -> None:
        """Raises `BackupError` if they do not exist."""

    def known(self, data: DataDirectory) -> AbstractAsyncContextManager[Known]:
        """Opens their receipts and keys as of now."""

    async def copy(self, data: DataDirectory, folder: Path) -> None:
        """Copies both into a folder, as they stand at one instant."""


def of(environ: Mapping[str, str]) -> Stores:
    """The stores that the settings choose.

    Raises `BackupError`, or `StartError` naming a missing setting.
    """
    chosen = {environ.get("GRAPH_STORE") or "sqlite", environ.get("GOVERNANCE_STORE") or "sqlite"}
    if chosen == {"neo4j"}:
        from concord_embedded.neo4j_stores import Neo4jStores  # slow

        try:
            return Neo4jStores(load(Neo4jConfig, environ, "NEO4J_"))
        except ConfigError as error:
            raise StartError(str(error)) from error
    if "neo4j" in chosen:
        raise BackupError(
            "BACKUP_UNSUPPORTED",
            "A backup is of one instant, of files or of one Neo4j: it needs GRAPH_STORE and"
            " GOVERNANCE_STORE to be the same. `concord export --form full` takes a space along.",
        )
    return SqliteStores()


@contextmanager
def copied(folder: Path) -> Iterator[Copy]:
    """The copies in a backup's folder. Raises `FileUnusable`, `CopyDamaged`."""
    if (folder / NEO4J).exists():
        from concord_embedded.neo4j_stores import read_copy  # slow

        yield read_copy(folder / NEO4J)
        return
    with read_only(folder / GRAPH) as graph, read_only(folder / LEDGER) as ledger:
        yield Copy(graph_backup.SqliteCopy(graph), ledger_backup.SqliteCopy(ledger))


def newest_schemas(folder: Path) -> Mapping[str, int]:
    """The newest schema versions that this program knows, for the kind of stores in a backup."""
    neo4j = (folder / NEO4J).exists()
    graph = graph_backup.in_nodes() if neo4j else graph_backup.SqliteCopy
    ledger = ledger_backup.in_nodes() if neo4j else ledger_backup.SqliteCopy
    return {"graph": graph.NEWEST, "ledger": ledger.NEWEST}


def demand_whole(folder: Path) -> None:
    """Demand that the SQLite files in a backup's folder are sound. Raises `FileUnusable`.

    A copy of Neo4j is checked when it is read.
    """
    if not (folder / NEO4J).exists():
        for name in (GRAPH, LEDGER):
            demand_sound(folder / name)


class SqliteStores:
    """The SQLite files in the data directory."""

    async def demand_there(self, data: DataDirectory) -> None:
        """Raises `BackupError` if either is missing."""
        if not (data.graph_store.exists() and data.ledger.exists()):
            raise BackupError(
                "BACKUP_NO_SYSTEM", f"{data.root} holds no Concord: name another with --data."
            )

    @asynccontextmanager
    async def known(self, data: DataDirectory) -> AsyncIterator[Known]:
        """Opens their receipts and keys. One file is missing if a restore stopped between both."""
        with ExitStack() as stack:
            graph, ledger = (
                stack.enter_context(read_live(each)) if each.exists() else None
                for each in (data.graph_store, data.ledger)
            )
            yield Known(
                graph_backup.SqliteCopy(graph) if graph else None,
                ledger_backup.SqliteCopy(ledger) if ledger else None,
            )

    async def copy(self, data: DataDirectory, folder: Path) -> None:
        """Copies both files."""
        copy_at_one_instant({data.graph_store: folder / GRAPH, data.ledger: folder / LEDGER})
