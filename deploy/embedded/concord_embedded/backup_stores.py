"""The stores that are backed up: files in the data directory, or a Neo4j database."""

import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from concord_chassis.config import ConfigError, load
from concord_governance.adapters.sqlite import copies as ledger_copies
from concord_governance.adapters.sqlite.copies import LogHead
from concord_governance.adapters.sqlite.ledger import SCHEMA as LEDGER_SCHEMA
from concord_governance.domain.access import ApiKey, Space
from concord_governance.usecases.restore import EndedKey
from concord_graph.adapters.sqlite import copies as graph_copies
from concord_graph.adapters.sqlite.schema import SCHEMA as GRAPH_SCHEMA
from concord_stores.neo4j_config import Neo4jConfig
from concord_stores.sqlite_copy import copy_at_one_instant, demand_sound, read_live, read_only

from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError, StartError

GRAPH, LEDGER, NEO4J = "graph.db", "ledger.db", "neo4j.jsonl.gz"


class Known(Protocol):
    """The stores' receipts, which no restore may undo, and the API keys."""

    def erasures(self) -> Iterable[tuple[str, str]]:
        """(space, memory id) of every receipt of an erasure."""

    def nonces(self) -> Iterable[tuple[str, str]]:
        """(space, nonce) of every burnt nonce."""

    def ended_keys(self) -> Iterable[EndedKey]:
        """Every API key that was revoked or has an expiry time."""

    def deleted_spaces(self) -> Iterable[Space]:
        """Every deleted space."""

    def key_of(self, digest: str) -> ApiKey | None:
        """The API key with this digest, ended or not; None without one."""


class Copy(Known, Protocol):
    """Both stores as they stood at one instant."""

    @property
    def epoch(self) -> str:
        """The epoch of graph's store."""

    @property
    def schemas(self) -> Mapping[str, int]:
        """The versions of the schemas of "graph" and "ledger"."""

    def heads(self) -> Mapping[str, int]:
        """The last sequence number of each space that has changes."""

    def digest_at(self, space: str, seq: int, epoch: str) -> str:
        """The digest of a change under an epoch; the change is a head's or a ledger cursor's."""

    def log_heads(self) -> Mapping[str, LogHead]:
        """The head of each space's log."""


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
        from concord_embedded.neo4j_stores import Neo4jCopy  # slow

        yield Neo4jCopy(folder / NEO4J)
        return
    with read_only(folder / GRAPH) as graph, read_only(folder / LEDGER) as ledger:
        yield SqliteCopy(graph, ledger)


def newest_schemas(folder: Path) -> Mapping[str, int]:
    """The newest schema versions that this program knows, for the kind of stores in a backup."""
    if (folder / NEO4J).exists():
        from concord_governance.adapters.neo4j.schema import VERSION as NEO4J_LEDGER  # slow
        from concord_graph.adapters.neo4j.schema import VERSION as NEO4J_GRAPH  # slow

        return {"graph": NEO4J_GRAPH, "ledger": NEO4J_LEDGER}
    return {"graph": GRAPH_SCHEMA.version, "ledger": LEDGER_SCHEMA.version}


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
            yield SqliteKnown(graph, ledger)

    async def copy(self, data: DataDirectory, folder: Path) -> None:
        """Copies both files."""
        copy_at_one_instant({data.graph_store: folder / GRAPH, data.ledger: folder / LEDGER})


@dataclass(frozen=True)
class SqliteKnown:
    """The receipts and keys in graph's file and in the ledger's; None for a missing file."""

    graph: sqlite3.Connection | None
    ledger: sqlite3.Connection | None

    def erasures(self) -> Iterable[tuple[str, str]]:
        """(space, memory id) of every receipt of an erasure."""
        return graph_copies.erasures(self.graph) if self.graph else ()

    def nonces(self) -> Iterable[tuple[str, str]]:
        """(space, nonce) of every burnt nonce."""
        return graph_copies.nonces(self.graph) if self.graph else ()

    def ended_keys(self) -> Iterable[EndedKey]:
        """Every key that was revoked or has an end."""
        return ledger_copies.ended_keys(self.ledger) if self.ledger else ()

    def deleted_spaces(self) -> Iterable[Space]:
        """Every deleted space."""
        return ledger_copies.deleted_spaces(self.ledger) if self.ledger else ()

    def key_of(self, digest: str) -> ApiKey | None:
        """The key of a digest, ended or not."""
        return ledger_copies.key_of(self.ledger, digest) if self.ledger else None


@dataclass(frozen=True)
class SqliteCopy(SqliteKnown):
    """The copies of both files."""

    graph: sqlite3.Connection
    ledger: sqlite3.Connection

    @property
    def epoch(self) -> str:
        """Graph's."""
        return graph_copies.epoch_of(self.graph)

    @property
    def schemas(self) -> Mapping[str, int]:
        """The versions of both schemas."""
        return {"graph": _schema_of(self.graph), "ledger": _schema_of(self.ledger)}

    def heads(self) -> Mapping[str, int]:
        """The last sequence number of each space in which something was recorded."""
        return graph_copies.heads(self.graph)

    def digest_at(self, space: str, seq: int, epoch: str) -> str:
        """The digest of a change under an epoch."""
        return graph_copies.digest_at(self.graph, space, seq, epoch)

    def log_heads(self) -> Mapping[str, LogHead]:
        """The head of each space's log."""
        return ledger_copies.log_heads(self.ledger)


def _schema_of(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()[0])
