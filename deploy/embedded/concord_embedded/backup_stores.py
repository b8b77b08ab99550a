"""The stores that are backed up and restored: files in the data directory, or a Neo4j database."""

import shutil
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from concord_chassis.config import ConfigError, load
from concord_governance import backup as ledger_backup
from concord_governance import config as governance_config
from concord_governance.backup import LedgerCopy
from concord_graph import backup as graph_backup
from concord_graph import config as graph_config
from concord_graph.backup import GraphCopy
from concord_stores.neo4j_config import CopyDamaged, Neo4jConfig, ServerUnusable
from concord_stores.sqlite_copy import copy_at_one_instant, demand_sound, read_live, read_only
from concord_stores.sqlite_file import FileFailure, FileUnusable

from concord_embedded import data_directory, secret_files
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError, StartError

GRAPH, LEDGER, NEO4J = "graph.db", "ledger.db", "neo4j.jsonl.gz"
"""The names of the stores' copies in a backup's folder."""
KEYS, CREDENTIALS = "keys", "credentials.json"
Settings: TypeAlias = tuple[
    graph_config.SqliteConfig | Neo4jConfig, governance_config.SqliteConfig | Neo4jConfig
]
"""The places of graph's store and of the ledger."""


@dataclass(frozen=True)
class Known:
    """The stores now; None for a missing one."""

    graph: GraphCopy | None
    ledger: LedgerCopy | None


@dataclass(frozen=True)
class Copy(Known):
    """Both stores as they stood at one instant."""

    graph: GraphCopy
    ledger: LedgerCopy
    constitutive: Collection[tuple[str, str]] = ()
    """(space, id) of each live constitutive memory, if it is too late to ask the restored store."""


class Stores(Protocol):
    """The running or stopped system's stores."""

    async def demand_there(self, data: DataDirectory) -> None:
        """Raises `BackupError` if they do not exist."""

    def known(self, data: DataDirectory) -> AbstractAsyncContextManager[Known]:
        """Opens their receipts and keys as of now."""

    async def copy(self, data: DataDirectory, folder: Path) -> None:
        """Copies both into a folder, as they stand at one instant."""

    def demand_kind(self, backup: Path) -> None:
        """Raises `BackupError` if a backup is of stores of the other kind."""

    def opened(self, root: Path) -> AbstractAsyncContextManager[DataDirectory]:
        """Opens a data directory for a restore. Raises as `restore`."""

    def where(self, data: DataDirectory) -> str:
        """Returns what to call their place."""

    async def exist(self, data: DataDirectory) -> bool:
        """Returns whether either exists."""

    def kept_receipts(self, data: DataDirectory) -> Path | None:
        """Returns the file for the former stores' receipts, if these are lost in a restore that is
        stopped."""

    def replaced(self, backup: Path, data: DataDirectory) -> AbstractAsyncContextManager[Settings]:
        """Opens the backup's stores, which after the block have replaced the former ones, as the
        backup's keys and credentials have."""


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
        if not (data.graph_store.exists() and data.ledger.exists()):
            raise BackupError(
                "BACKUP_NO_SYSTEM", f"{data.root} holds no Concord: name another with --data."
            )

    @asynccontextmanager
    async def known(self, data: DataDirectory) -> AsyncIterator[Known]:
        # one file is missing if a restore stopped between both
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
        copy_at_one_instant({data.graph_store: folder / GRAPH, data.ledger: folder / LEDGER})

    def demand_kind(self, backup: Path) -> None:
        if (backup / NEO4J).exists():
            raise BackupError(
                "BACKUP_UNSUPPORTED",
                f"{backup} is of a Neo4j: set GRAPH_STORE=neo4j, GOVERNANCE_STORE=neo4j and"
                " NEO4J_URI.",
            )

    @asynccontextmanager
    async def opened(self, root: Path) -> AsyncIterator[DataDirectory]:
        with data_directory.opened(root) as data, data_directory.explained(data.root):
            yield data

    def where(self, data: DataDirectory) -> str:
        return str(data.root)

    async def exist(self, data: DataDirectory) -> bool:
        return data.graph_store.exists() or data.ledger.exists()

    def kept_receipts(self, data: DataDirectory) -> None:
        """None: the former files stay until the restored ones replace them."""

    @asynccontextmanager
    async def replaced(self, backup: Path, data: DataDirectory) -> AsyncIterator[Settings]:
        """Prepares the stores in a folder beside the former ones, which they then replace, the
        ledger first. If the restore is stopped in between, governance finds that graph and ledger
        do not belong together and decides nothing; repeating the restore completes it.
        """
        shutil.rmtree(data.restoring, ignore_errors=True)
        shutil.copytree(backup, data.restoring)
        try:
            yield in_folder(data.restoring)
            _put_in_place(data)
        finally:
            shutil.rmtree(data.restoring, ignore_errors=True)


def in_folder(folder: Path) -> Settings:
    """The SQLite files in a backup's folder, or in a copy of it."""
    return (
        graph_config.SqliteConfig(store_path=folder / GRAPH),
        governance_config.SqliteConfig(ledger_path=folder / LEDGER),
    )


def _put_in_place(data: DataDirectory) -> None:
    for each in (data.restoring / KEYS).iterdir():
        each.replace(data.keys / each.name)
    (data.restoring / CREDENTIALS).replace(data.credentials)
    shutil.rmtree(data.index)
    data.index.mkdir(mode=0o700)
    for made, place in (
        (data.restoring / LEDGER, data.ledger),
        (data.restoring / GRAPH, data.graph_store),
    ):
        for end in ("-wal", "-shm"):  # belong to the former file; the new one has none
            with suppress(FileNotFoundError):
                place.with_name(place.name + end).unlink()
        made.replace(place)
        secret_files.sync(place.parent)


@contextmanager
def explained(damaged: BackupError | None = None) -> Iterator[None]:
    """Turn the errors of unreadable and unwritable files into a `BackupError`."""
    try:
        yield
    except (FileUnusable, CopyDamaged, ServerUnusable) as error:
        raise damaged or BackupError("BACKUP_STORE_UNUSABLE", f"{error}.") from error
    except FileFailure as error:
        raise BackupError("BACKUP_STORE_UNUSABLE", f"{error}: try again.") from error
    except (sqlite3.DatabaseError, LookupError) as error:  # a log without its hashes has gaps
        raise damaged or BackupError("BACKUP_STORE_UNUSABLE", f"{error}.") from error
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
        raise BackupError("BACKUP_UNWRITABLE", f"Cannot read or write {why}.") from error
