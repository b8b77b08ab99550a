"""Restoring a backup into a data directory on which no Concord runs.

The stores are prepared in a folder beside the former ones, which they then replace, the ledger
first. If the restore is stopped in between, governance finds that graph and ledger do not belong
together and decides nothing; repeating the restore completes it.
"""

import shutil
import sqlite3
import uuid
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from concord_attestation.instants import format_time
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_governance.ports.ledger import Clock, Cursor, Ledger
from concord_governance.usecases.restore import Restoring
from concord_graph.adapters.sqlite import copies as graph_copies
from concord_graph.adapters.sqlite.store import open_store
from concord_graph.domain.errors import ConstitutiveProtected
from concord_graph.ports import GraphStore
from concord_graph.usecases.governed.change_digest import digest_at
from concord_graph.usecases.governed.principal_keys import closed_slots
from concord_graph.usecases.memory.erase_again import ErasingAgain
from concord_stores.sqlite_file import FileUnusable

from concord_embedded import backup, backup_stores, data_directory, receipts
from concord_embedded.backup import CREDENTIALS, KEYS, Backup
from concord_embedded.backup_stores import GRAPH, LEDGER, NEO4J, SqliteStores, Stores
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError
from concord_embedded.receipts import Receipts

CONFIRMERS = ("search", "governance")
"""The services that confirm an erasure once the system runs."""


@dataclass(frozen=True)
class Restored:
    """The counts of a restore's own changes. `age`: µs from the backup's instant to the restore.

    `closed_slots`: (space, slot) of each principal's key that was replaced since the backup.
    """

    backup: Backup
    age: int
    epoch: str
    erased: int
    burnt: int
    ended_keys: int
    deleted_spaces: int
    ended_proposals: int
    closed_slots: tuple[tuple[str, str], ...]


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
            restored = await begin_again(whole, data.restoring, later, clock)
            _put_in_place(data)
        finally:
            shutil.rmtree(data.restoring, ignore_errors=True)
    return restored


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
        demand_replace(str(data.root), replace=replace)
        if not ignore_target:
            later.append(await known_of(SqliteStores(), data))
    demand_same(whole, later, str(data.root))
    return later


def demand_replace(where: str, *, replace: bool) -> None:
    """Demand the caller's permission to replace the stores that are there."""
    if not replace:
        raise BackupError(
            "BACKUP_TARGET_IN_USE",
            f"{where} holds a Concord: --replace restores in its place, for ever.",
        )


def demand_same(whole: Backup, later: Sequence[Receipts], where: str) -> None:
    """Demand that receipts are of the backup's own system, by the public key of its log."""
    own = backup.log_key_of(whole.path / KEYS)
    for each in later:
        if each.log_key != own:
            raise BackupError(
                "BACKUP_OF_ANOTHER",
                "The backup is of another Concord than the receipts, or than what is in "
                f"{where}: restore it into an empty one, with its own receipts.",
            )


async def known_of(stores: Stores, data: DataDirectory) -> Receipts:
    """Return the receipts of the stores that are to be replaced."""
    try:
        async with stores.known(data) as known:
            return receipts.known(known, backup.log_key_of(data.keys), 0)
    except (FileUnusable, sqlite3.DatabaseError) as error:
        raise BackupError(
            "BACKUP_TARGET_UNREADABLE",
            f"{error}. What was erased and revoked since the backup is written there: name a file "
            "of it with --receipts, and leave the rest out with --ignore-target.",
        ) from error


async def begin_again(
    whole: Backup, stage: Path, later: Sequence[Receipts], clock: Clock
) -> Restored:
    """Begin a new epoch in the stores of a folder, `graph.db` and `ledger.db`, and apply receipts.

    Raises `BackupError` if a memory that is constitutive there was erased later.
    """
    graph_copies.begin_epoch(stage / GRAPH, str(uuid.uuid4()))
    store = open_store(stage / GRAPH, clock)
    try:
        ledger = open_ledger(stage / LEDGER, clock)
        try:
            return await applied(whole, store, ledger, later, clock)
        finally:
            await ledger.close()
    finally:
        await store.close()


async def applied(
    whole: Backup, store: GraphStore, ledger: Ledger, later: Sequence[Receipts], clock: Clock
) -> Restored:
    """Apply later receipts to stores of a new epoch, and end the proposals pending there.

    Raises `BackupError` if a memory that is constitutive there was erased later.
    """
    again = ErasingAgain(store, clock, CONFIRMERS)
    here = {head.space for head in await store.spaces()}
    erased, burnt = await _graph_again(again, here, later)
    await store.scrub(thorough=True)
    restoring = Restoring(ledger)
    gone = [await restoring.delete_space(space) for known in later for space in known.deleted]
    keys = [await restoring.end_key(key) for known in later for key in known.ended]
    evidence = {
        "backup_time": format_time(whole.time),
        "epoch": store.epoch,
        "former_epoch": whole.epoch,
    }
    ended = []
    for space in await ledger.spaces():
        reached = (await ledger.read(space, lambda tx: tx.feed_cursor())).seq
        cursor = Cursor(store.epoch, reached, await digest_at(store, space, reached))
        ended.append(await restoring.begin_again(space, cursor, evidence))
    await ledger.scrub()
    return Restored(
        backup=whole,
        age=max(0, clock() - whole.time),
        epoch=store.epoch,
        erased=erased,
        burnt=burnt,
        ended_keys=sum(keys),
        deleted_spaces=sum(gone),
        ended_proposals=sum(ended),
        closed_slots=tuple(
            [(space, slot) for space in sorted(here) for slot in await closed_slots(store, space)]
        ),
    )


async def _graph_again(
    again: ErasingAgain, here: Container[str], later: Sequence[Receipts]
) -> tuple[int, int]:
    burnt = [
        await again.burn(space, nonce)
        for known in later
        for space, nonce in known.burnt
        if space in here
    ]
    erased = 0
    for space, memory_id in (each for known in later for each in known.erased):
        try:
            erased += space in here and await again.erase(space, memory_id)
        except ConstitutiveProtected as error:
            raise erased_by_both(space, memory_id) from error
    return erased, sum(burnt)


def erased_by_both(space: str, memory_id: str) -> BackupError:
    """Return the error for a memory that is constitutive in the backup and was erased since."""
    return BackupError(
        "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED",
        f"Both principals of {space} have erased {memory_id} since this backup, in which it is "
        "constitutive: nobody erases it again without them. Restore a backup from after that.",
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
        backup.synced(place.parent)
