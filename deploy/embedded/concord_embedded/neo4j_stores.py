"""Graph's store and the ledger in one Neo4j database, and a copy of it."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from concord_governance import backup as ledger_backup
from concord_graph import backup as graph_backup
from concord_stores import neo4j_copy
from concord_stores.neo4j_config import Neo4jConfig
from concord_stores.neo4j_copy import Node, Writers
from concord_stores.neo4j_server import ServerFailure, connect
from neo4j import AsyncDriver

from concord_embedded.copies import NEO4J, Copy, Known
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError


class Neo4jStores:
    """The database that the NEO4J_... settings name."""

    def __init__(self, settings: Neo4jConfig) -> None:
        self.settings = settings

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[AsyncDriver]:
        """A connection to the database. Raises `ServerUnusable`, `BackupError`."""
        try:
            async with await connect(self.settings) as driver:
                yield driver
        except ServerFailure as error:
            raise BackupError("BACKUP_STORE_UNUSABLE", f"{error}: try again.") from error

    async def demand_there(self, data: DataDirectory) -> None:  # noqa: ARG002 - it is elsewhere
        """Raises `BackupError` if graph or the ledger is not in the database."""
        async with self.opened() as driver:
            stamps = {each["key"] for each in await neo4j_copy.labelled(driver, "Store")}
        if not {"concord", "concord-ledger"} <= stamps:
            raise BackupError(
                "BACKUP_NO_SYSTEM",
                f"{self.settings.uri} does not hold both graph and the ledger: set NEO4J_URI to the"
                " server that both are on.",
            )

    @asynccontextmanager
    async def known(self, data: DataDirectory) -> AsyncIterator[Known]:  # noqa: ARG002
        """The receipts and keys in the database now."""
        graph, ledger = graph_backup.in_nodes(), ledger_backup.in_nodes()
        async with self.opened() as driver:
            for label in (*graph.RECEIPTS, *ledger.ACCESS):
                for properties in await neo4j_copy.labelled(driver, label):
                    graph.take([label], properties)
                    ledger.take([label], properties)
        yield Known(graph, ledger)

    async def copy(self, data: DataDirectory, folder: Path) -> None:  # noqa: ARG002
        """Copies the database."""
        async with self.opened() as driver:
            graph, ledger = graph_backup.in_nodes(), ledger_backup.in_nodes()
            writers = Writers(graph.HEAD, ledger.HEAD, ledger.ACCESS)
            await neo4j_copy.write(driver, folder / NEO4J, writers)


@dataclass(frozen=True)
class Neo4jCopy(Copy):
    """A copy of the database."""

    constitutive: set[tuple[str, str]]
    """(space, id) of each live constitutive memory."""


def read_copy(file: Path) -> Neo4jCopy:
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
    return Neo4jCopy(graph, ledger, graph.constitutive)


def _nodes(file: Path) -> Iterable[Node]:
    return (each for each in neo4j_copy.read(file) if isinstance(each, Node))
