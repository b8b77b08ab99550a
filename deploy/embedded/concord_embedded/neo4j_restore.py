"""Restoring a backup into a Neo4j database that no service is connected to.

The database's content is replaced, and no service can use it until the restore is complete; a
stopped restore must be repeated. For that case the receipts of the former stores are first written
into the data directory.
"""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from concord_graph.backup import Clock
from concord_stores import neo4j_copy
from neo4j import AsyncDriver

from concord_embedded import backup, receipts, restored
from concord_embedded.backup import CREDENTIALS, KEYS
from concord_embedded.copies import NEO4J
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError
from concord_embedded.neo4j_stores import Neo4jStores, read_copy
from concord_embedded.receipts import Receipts
from concord_embedded.restored import Restored

FORMER = "restoring-receipts.jsonl"
"""Exists in the data directory during a restore: the receipts of the stores that it replaces."""


async def run(
    path: Path,
    root: Path,
    clock: Clock,
    api_key: str,
    stores: Neo4jStores,
    *,
    receipts_file: Path | None = None,
    replace: bool = False,
    ignore_target: bool = False,
) -> Restored:
    """Replace the database by a backup, as stores of a new epoch, and put its keys into `root`.

    What was erased, burnt, revoked or deleted stays so, by the receipts of the former stores
    (unless `ignore_target`) and of `receipts_file`. `api_key`: an operator's in the backup.

    Raises:
        BackupError: the backup is faulty, or cannot be restored there; nothing was changed.
    """
    whole = backup.verify(path)
    if not (path / NEO4J).exists():
        raise BackupError(
            "BACKUP_UNSUPPORTED", f"{path} is of files: unset GRAPH_STORE and GOVERNANCE_STORE."
        )
    copy = read_copy(path / NEO4J)
    backup.demand_operator(copy, api_key, clock())
    data = DataDirectory(root)
    with backup.explained():
        data.keys.mkdir(mode=0o700, parents=True, exist_ok=True)
        async with stores.opened() as driver:
            await neo4j_copy.demand_unused(driver)
            later = [] if receipts_file is None else [receipts.read(receipts_file)]
            if await _holds_concord(driver):
                restored.demand_replace(stores.settings.uri, replace=replace)
                later += [] if ignore_target else await _former(data, stores)
            restored.demand_same(whole, later, stores.settings.uri)
            for space, memory_id in (each for known in later for each in known.erased):
                if (space, memory_id) in copy.constitutive:
                    raise restored.erased_by_both(space, memory_id)
            async with neo4j_copy.replacing(driver, path / NEO4J):
                place = (stores.settings, stores.settings)
                outcome = await restored.applied(whole, place, later, clock)
                _put_in_place(path, data)
        (root / FORMER).unlink(missing_ok=True)
    return outcome


async def _holds_concord(driver: AsyncDriver) -> bool:
    return bool(await neo4j_copy.labelled(driver, "Store"))


async def _former(data: DataDirectory, stores: Neo4jStores) -> Sequence[Receipts]:
    """The receipts of the stores to be replaced: after a stopped restore, those that it had saved.
    They are saved in a file before anything is changed."""
    file = data.root / FORMER
    if file.exists():
        return [receipts.read(file)]
    known = await restored.known_of(stores, data)
    receipts.write(file, known)
    return [known]


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
