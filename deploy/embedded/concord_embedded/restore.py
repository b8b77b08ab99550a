"""Restoring a backup: of files into a data directory, of a Neo4j into a database that is unused."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from concord_attestation.instants import format_time
from concord_chassis.config import ConfigError, load
from concord_governance import backup as ledger_backup
from concord_graph import backup as graph_backup
from concord_graph.backup import Clock, ErasedByBoth
from concord_graph.config import ErasureConfig
from concord_stores.sqlite_file import FileUnusable

from concord_embedded import backup, backup_stores, receipts
from concord_embedded.backup import Backup
from concord_embedded.backup_stores import KEYS, Settings, Stores
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError, StartError
from concord_embedded.receipts import Receipts


def confirmers(environ: Mapping[str, str]) -> Sequence[str]:
    """Return the services that confirm an erasure once the system runs: GRAPH_ERASE_CONFIRMERS.

    Raises `StartError`.
    """
    try:
        return load(ErasureConfig, environ, "GRAPH_").erase_confirmers
    except ConfigError as error:
        raise StartError(str(error)) from error


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


async def restore(
    path: Path,
    root: Path,
    clock: Clock,
    api_key: str,
    stores: Stores,
    *,
    confirmers: Sequence[str],
    receipts_file: Path | None = None,
    replace: bool = False,
    ignore_target: bool = False,
) -> Restored:
    """Put a backup into a data directory and its stores, as stores of a new epoch.

    What was erased, burnt, revoked or deleted stays so, by the receipts of the former stores
    (unless `ignore_target`) and of `receipts_file`; what is erased so waits for `confirmers`.
    `api_key`: an operator's in the backup.

    Raises:
        BackupError: the backup is faulty, or cannot be restored there; nothing was changed.
        StartError: a Concord runs there, or the directory belongs to another user.
    """
    whole = backup.verify(path)
    stores.demand_kind(path)
    with backup_stores.copied(path) as copy:
        backup.demand_operator(copy, api_key, clock())
    async with stores.opened(root) as data:
        where = stores.where(data)
        later = [] if receipts_file is None else [receipts.read(receipts_file)]
        if await stores.exist(data):
            if not replace:
                raise BackupError(
                    "BACKUP_TARGET_IN_USE",
                    f"{where} holds a Concord: --replace restores in its place, for ever.",
                )
            later += [] if ignore_target else [await _former(stores, data)]
        _demand_same(whole, later, where)
        for erased in (each for known in later for each in known.erased):
            if erased in copy.constitutive:
                raise _erased_by_both(*erased)
        async with stores.replaced(path, data) as settings:
            outcome = await applied(whole, settings, later, clock, confirmers)
        if kept := stores.kept_receipts(data):
            kept.unlink(missing_ok=True)
    return outcome


def _demand_same(whole: Backup, later: Sequence[Receipts], where: str) -> None:
    """Demand that receipts are of the backup's own system, by the public key of its log."""
    own = backup.log_key_of(whole.path / KEYS)
    for each in later:
        if each.log_key != own:
            raise BackupError(
                "BACKUP_OF_ANOTHER",
                "The backup is of another Concord than the receipts, or than what is in "
                f"{where}: restore it into an empty one, with its own receipts.",
            )


async def _former(stores: Stores, data: DataDirectory) -> Receipts:
    """Return the receipts of the stores to be replaced: after a stopped restore, those that it had
    kept. They are kept in a file before anything is changed."""
    kept = stores.kept_receipts(data)
    if kept and kept.exists():
        return receipts.read(kept)
    try:
        async with stores.known(data) as known:
            former = receipts.known(known, backup.log_key_of(data.keys), 0)
    except (FileUnusable, sqlite3.DatabaseError) as error:
        raise BackupError(
            "BACKUP_TARGET_UNREADABLE",
            f"{error}. What was erased and revoked since the backup is written there: name a file "
            "of it with --receipts, and leave the rest out with --ignore-target.",
        ) from error
    if kept:
        receipts.write(kept, former)
    return former


async def applied(
    whole: Backup,
    stores: Settings,
    later: Sequence[Receipts],
    clock: Clock,
    confirmers: Sequence[str],
) -> Restored:
    """Apply later receipts to graph's store and the ledger, under a new epoch, and end the
    proposals pending there.

    Raises `BackupError` if a memory that is constitutive there was erased later.
    """
    async with (
        graph_backup.restoring(stores[0], clock, confirmers) as graph,
        ledger_backup.restoring(stores[1], clock) as ledger,
    ):
        try:
            erased, burnt = await graph.apply(
                [each for known in later for each in known.erased],
                [each for known in later for each in known.burnt],
            )
        except ErasedByBoth as error:
            raise _erased_by_both(*error.args) from error
        deleted_spaces, ended_keys = await ledger.apply(
            [each for known in later for each in known.deleted],
            [each for known in later for each in known.ended],
        )
        evidence = {
            "backup_time": format_time(whole.time),
            "epoch": graph.epoch,
            "former_epoch": whole.epoch,
        }
        return Restored(
            backup=whole,
            age=max(0, clock() - whole.time),
            epoch=graph.epoch,
            erased=erased,
            burnt=burnt,
            ended_keys=ended_keys,
            deleted_spaces=deleted_spaces,
            ended_proposals=await ledger.begin_again(graph.epoch, graph.digest_at, evidence),
            closed_slots=tuple(await graph.closed_slots()),
        )


def _erased_by_both(space: str, memory_id: str) -> BackupError:
    """Return the error for a memory that is constitutive in the backup and was erased since."""
    return BackupError(
        "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED",
        f"Both principals of {space} have erased {memory_id} since this backup, in which it is "
        "constitutive: nobody erases it again without them. Restore a backup from after that.",
    )
