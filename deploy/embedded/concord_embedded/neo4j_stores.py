"""Graph's store and the ledger in one Neo4j database, and a copy of it."""

import os
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from concord_governance import backup as ledger_backup
from concord_graph import backup as graph_backup
from concord_stores import neo4j_copy
from concord_stores.neo4j_config import Neo4jConfig
from concord_stores.neo4j_copy import Node, Writers
from concord_stores.neo4j_server import ServerFailure, connect
from neo4j import AsyncDriver

from concord_embedded.backup_stores import (
    CREDENTIALS,
    KEYS,
    NEO4J,
    Copy,
    Known,
    Settings,
    explained,
)
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError


class Neo4jStores:
    """The database that the NEO4J_... settings name."""

    def __init__(self, settings: Neo4jConfig) -> None:
        self._settings = settings

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[AsyncDriver]:
        """A connection to the database. Raises `ServerUnusable`, `BackupError`."""
        try:
            async with await connect(self._settings) as driver:
                yield driver
        except ServerFailure as error:
            raise BackupError("BACKUP_STORE_UNUSABLE", f"{error}: try again.") from error

    async def demand_there(self, data: DataDirectory) -> None:  # noqa: ARG002 - it is elsewhere
        async with self.connected() as driver:
            stamps = {each["key"] for each in await neo4j_copy.labelled(driver, "Store")}
        if not {"concord", "concord-ledger"} <= stamps:
            raise BackupError(
                "BACKUP_NO_SYSTEM",
                f"{self._settings.uri} does not hold both graph and the ledger: set NEO4J_URI to"
                " the server that both are on.",
            )

    @asynccontextmanager
    async def known(self, data: DataDirectory) -> AsyncIterator[Known]:  # noqa: ARG002
        graph, ledger = graph_backup.in_nodes(), ledger_backup.in_nodes()
        async with self.connected() as driver:
            for label in (*graph.RECEIPTS, *ledger.ACCESS):
                for properties in await neo4j_copy.labelled(driver, label):
                    graph.take([label], properties)
                    ledger.take([label], properties)
        yield Known(graph, ledger)

    async def copy(self, data: DataDirectory, folder: Path) -> None:  # noqa: ARG002
        async with self.connected() as driver:
            graph, ledger = graph_backup.in_nodes(), ledger_backup.in_nodes()
            writers = Writers(graph.HEAD, graph.GATE, ledger.HEAD, ledger.ACCESS)
            await neo4j_copy.write(driver, folder / NEO4J, writers)

    def demand_kind(self, backup: Path) -> None:
        if not (backup / NEO4J).exists():
            raise BackupError(
                "BACKUP_UNSUPPORTED",
                f"{backup} is of files: unset GRAPH_STORE and GOVERNANCE_STORE.",
            )

    @asynccontextmanager
    async def opened(self, root: Path) -> AsyncIterator[DataDirectory]:
        """Demands that no service is connected to the database."""
        data = DataDirectory(root)
        with explained():
            data.keys.mkdir(mode=0o700, parents=True, exist_ok=True)
            async with self.connected() as driver:
                await neo4j_copy.demand_unused(driver)
            yield data

    def where(self, data: DataDirectory) -> str:  # noqa: ARG002
        return self._settings.uri

    async def exist(self, data: DataDirectory) -> bool:  # noqa: ARG002
        async with self.connected() as driver:
            return bool(await neo4j_copy.labelled(driver, "Store"))

    def kept_receipts(self, data: DataDirectory) -> Path:
        """A file in the data directory, which exists during a restore."""
        return data.root / "restoring-receipts.jsonl"

    @asynccontextmanager
    async def replaced(self, backup: Path, data: DataDirectory) -> AsyncIterator[Settings]:
        """Replaces the content of the database, which no service can use until the restore is
        complete; a stopped restore must be repeated."""
        async with (
            self.connected() as driver,
            neo4j_copy.replacing(driver, backup / NEO4J),
        ):
            yield self._settings, self._settings
            _put_in_place(backup, data)


def read_copy(file: Path) -> Copy:
    """Read a copy twice: first the heads, then the changes and hashes that they name.

    Raises `CopyDamaged`.
    """
    graph, ledger = graph_backup.in_nodes(), ledger_backup.in_nodes()
    for node in _nodes(file):
        graph.take(node.labels, node.properties)
        ledger.take(node.labels, node.properties)
    changes = {*graph.heads().items(), *ledger.changes()}
    for node in _nodes(file):
        graph.take_change(node.labels, node.properties, changes)
        ledger.take_hash(node.labels, node.properties)
    return Copy(graph, ledger, graph.constitutive)


def _nodes(file: Path) -> Iterable[Node]:
    return (each for each in neo4j_copy.read(file) if isinstance(each, Node))


def _put_in_place(path: Path, data: DataDirectory) -> None:
    """Replace the keys and credentials by the backup's, owned by the data directory's owner."""
    owner = data.root.stat()
    for source in (path / CREDENTIALS, *(path / KEYS).iterdir()):
        target = data.root / source.relative_to(path)
        fresh = target.with_name(f".{target.name}.restored")
        shutil.copy(source, fresh)
        with suppress(PermissionError):
            os.chown(fresh, owner.st_uid, owner.st_gid)
        fresh.replace(target)
