"""Restoring a backup into a data directory on which no Concord runs.

The stores are prepared in a folder beside the former ones, which they then replace, the ledger
first. If the restore is stopped in between, governance finds that graph and ledger do not belong
together and decides nothing; repeating the restore completes it.
"""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol

from concord_governance import config as governance_config
from concord_graph import config as graph_config
from concord_graph.backup import Clock

from concord_embedded import backup, backup_stores, data_directory, receipts, restored, secret_files
from concord_embedded.backup import CREDENTIALS, KEYS, Backup
from concord_embedded.backup_stores import SqliteStores, Stores
from concord_embedded.copies import GRAPH, LEDGER, NEO4J
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError
from concord_embedded.receipts import Receipts
from concord_embedded.restored import Restored


class Restore(Protocol):
    """Replaces stores of one kind by a backup."""

    async def __call__(
        self,
        path: Path,
        root: Path,
        clock: Clock,
        api_key: str,
        *,
        receipts_file: Path | None = None,
        replace: bool = False,
        ignore_target: bool = False,
    ) -> Restored:
        """As `restore` below."""


def into(stores: Stores) -> Restore:
    """The function that restores a backup into these stores."""
    if isinstance(stores, SqliteStores):
        return restore
    from concord_embedded import neo4j_restore  # slow
    from concord_embedded.neo4j_stores import Neo4jStores

    if not isinstance(stores, Neo4jStores):
        raise TypeError(type(stores))  # a bug of ours
    return partial(neo4j_restore.run, stores=stores)


async def restore(
    path: Path,
    root: Path,
    clock: Clock,
    api_key: str,
    *,
    receipts_file: Path | None = None,
    replace: bool = False,
    ignore_target: bool = False,
) -> Restored:
    """Put a backup into a data directory, as stores of a new epoch.

    What was erased, burnt, revoked or deleted stays so, by the receipts of the directory's former
    stores (unless `ignore_target`) and of `receipts_file`. `api_key`: an operator's in the backup.

    Raises:
        BackupError: the backup is faulty, or cannot be restored there; nothing was changed.
        StartError: a Concord runs there, or the directory belongs to another user.
    """
    whole = backup.verify(path)
    if (path / NEO4J).exists():
        raise BackupError(
            "BACKUP_UNSUPPORTED",
            f"{path} is of a Neo4j: set GRAPH_STORE=neo4j, GOVERNANCE_STORE=neo4j and NEO4J_URI.",
        )
    with backup_stores.copied(path) as copy:
        backup.demand_operator(copy, api_key, clock())
    with data_directory.opened(root) as data, data_directory.explained(data.root):
        later = await _later(
            whole, data, receipts_file, replace=replace, ignore_target=ignore_target
        )
        shutil.rmtree(data.restoring, ignore_errors=True)
        shutil.copytree(path, data.restoring)
        try:
            outcome = await begin_again(whole, data.restoring, later, clock)
            _put_in_place(data)
        finally:
            shutil.rmtree(data.restoring, ignore_errors=True)
    return outcome


async def _later(
    whole: Backup,
    data: DataDirectory,
    receipts_file: Path | None,
    *,
    replace: bool,
    ignore_target: bool,
) -> Sequence[Receipts]:
    """Return the receipts of `receipts_file` and of the stores that are to be replaced."""
    later = [] if receipts_file is None else [receipts.read(receipts_file)]
    if data.graph_store.exists() or data.ledger.exists():
        restored.demand_replace(str(data.root), replace=replace)
        if not ignore_target:
            later.append(await restored.known_of(SqliteStores(), data))
    restored.demand_same(whole, later, str(data.root))
    return later


async def begin_again(
    whole: Backup, stage: Path, later: Sequence[Receipts], clock: Clock
) -> Restored:
    """Apply receipts to the stores of a folder, `graph.db` and `ledger.db`, under a new epoch.

    Raises `BackupError` if a memory that is constitutive there was erased later.
    """
    stores = (
        graph_config.SqliteConfig(store_path=stage / GRAPH),
        governance_config.SqliteConfig(ledger_path=stage / LEDGER),
    )
    return await restored.applied(whole, stores, later, clock)


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
