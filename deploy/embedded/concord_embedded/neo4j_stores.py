"""Graph's store and the ledger in one Neo4j database, and a copy of it."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from concord_attestation.tree import Frontier
from concord_governance.adapters.neo4j import copies as ledger_copies
from concord_governance.adapters.sqlite.copies import LogHead
from concord_governance.domain.access import ApiKey, Space
from concord_governance.usecases.restore import EndedKey
from concord_graph.adapters.neo4j import copies as graph_copies
from concord_stores import neo4j_copy
from concord_stores.neo4j_config import CopyDamaged, Neo4jConfig
from concord_stores.neo4j_copy import Node, Writers
from concord_stores.neo4j_server import ServerFailure, connect, patiently
from neo4j import AsyncDriver

from concord_embedded.backup_stores import NEO4J, Known
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError, StartError

_KNOWN = (*graph_copies.RECEIPTS, *ledger_copies.ACCESS)
_KEPT = {"Store", graph_copies.HEAD, ledger_copies.HEAD, *_KNOWN}
_WRITERS = Writers(graph_copies.HEAD, ledger_copies.HEAD, ledger_copies.ACCESS)
Rows = dict[str, list[Mapping[str, Any]]]


async def deleted_spaces_in(settings: Neo4jConfig) -> frozenset[str]:
    """The names of the deleted spaces in the database's ledger.

    Raises `ServerUnusable`, `StartError`.
    """

    async def start() -> Rows:
        async with await connect(settings) as driver:
            return {ledger_copies.SPACE: await neo4j_copy.labelled(driver, ledger_copies.SPACE)}

    try:
        rows = await patiently(start, settings)
    except ServerFailure as error:
        raise StartError(f"{error}: try again.") from error
    return frozenset(space.name for space in ledger_copies.deleted_spaces(rows))


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
        async with self.opened() as driver:
            rows = {label: await neo4j_copy.labelled(driver, label) for label in _KNOWN}
        yield Neo4jKnown(rows)

    async def copy(self, data: DataDirectory, folder: Path) -> None:  # noqa: ARG002
        """Copies the database."""
        async with self.opened() as driver:
            await neo4j_copy.write(driver, folder / NEO4J, _WRITERS)


class Neo4jKnown:
    """Receipts and keys, from nodes' properties by label."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def erasures(self) -> Iterable[tuple[str, str]]:
        """(space, memory id) of every receipt of an erasure."""
        return graph_copies.erasures(self.rows)

    def nonces(self) -> Iterable[tuple[str, str]]:
        """(space, nonce) of every burnt nonce."""
        return graph_copies.nonces(self.rows)

    def ended_keys(self) -> Iterable[EndedKey]:
        """Every key that was revoked or has an end."""
        return ledger_copies.ended_keys(self.rows)

    def deleted_spaces(self) -> Iterable[Space]:
        """Every deleted space."""
        return ledger_copies.deleted_spaces(self.rows)

    def key_of(self, digest: str) -> ApiKey | None:
        """The key of a digest, ended or not."""
        return ledger_copies.key_of(self.rows, digest)


class Neo4jCopy(Neo4jKnown):
    """A copy in a file, read twice: first the heads, then the changes and hashes that they name."""

    def __init__(self, file: Path) -> None:
        """Raises `CopyDamaged`."""
        super().__init__({label: [] for label in _KEPT})
        self.constitutive: set[tuple[str, str]] = set()
        """(space, id) of each live constitutive memory."""
        for node in _nodes(file):
            if set(node.labels) >= graph_copies.CONSTITUTIVE_MEMORY:
                self.constitutive.add((node.properties["space"], node.properties["id"]))
            for label in _KEPT.intersection(node.labels):
                self.rows[label].append(node.properties)
        try:
            self.epoch, graph = graph_copies.stamped(self.rows)
            self.schemas = {"graph": graph, "ledger": ledger_copies.schema_of(self.rows)}
        except ValueError as error:
            raise CopyDamaged(f"{file} has no stamp of Concord's") from error
        sizes, cursors = ledger_copies.log_sizes(self.rows), ledger_copies.cursors(self.rows)
        changes = set(self.heads().items()) | {(s, each.seq) for s, each in cursors.items()}
        edges = {(s, *name) for s, size in sizes.items() for name in Frontier.edge_of(size)}
        self._changes: dict[tuple[str, int], Mapping[str, Any]] = {}
        hashes: dict[tuple[str, int, int], bytes] = {}
        for node in _nodes(file):
            said = node.properties
            if graph_copies.CHANGE in node.labels and (said["space"], said["seq"]) in changes:
                self._changes[said["space"], said["seq"]] = said
            elif ledger_copies.SUBTREE in node.labels:
                place = (said["space"], said["level"], said["place"])
                if place in edges:
                    hashes[place] = said["hash"]
        self._logs = {
            space: LogHead(
                size,
                Frontier(size, [hashes[space, *name] for name in Frontier.edge_of(size)]).root(),
                cursors[space],
            )
            for space, size in sizes.items()
        }

    def heads(self) -> Mapping[str, int]:
        """The last sequence number of each space that has changes."""
        return graph_copies.heads(self.rows)

    def digest_at(self, space: str, seq: int, epoch: str) -> str:
        """The digest of a change under an epoch; the change is a head's or a ledger cursor's."""
        found = self._changes.get((space, seq))
        return graph_copies.digest_of_change(found, epoch) if found else ""

    def log_heads(self) -> Mapping[str, LogHead]:
        """The head of each space's log."""
        return self._logs


def _nodes(file: Path) -> Iterable[Node]:
    return (each for each in neo4j_copy.read(file) if isinstance(each, Node))
