"""Restoring a backup into a data directory on which no Concord runs.

The stores are made ready beside their places and then put there, the ledger first: whatever a stop
comes between, governance finds a graph that is not the ledger's and decides nothing, and the same
restore again completes it.
"""

import shutil
import sqlite3
import uuid
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from concord_attestation.instants import format_time
from concord_governance.adapters.sqlite import copies as ledger_copies
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_governance.ports.ledger import Clock, Cursor
from concord_governance.usecases.restore import Restoring
from concord_graph.adapters.sqlite import copies as graph_copies
from concord_graph.adapters.sqlite.store import open_store
from concord_graph.domain.errors import ConstitutiveProtected
from concord_graph.usecases.memory.erase_again import ErasingAgain
from concord_stores.sqlite_copy import read_live, read_only
from concord_stores.sqlite_file import FileUnusable

from concord_embedded import backup, data_directory, receipts
from concord_embedded.backup import CREDENTIALS, GRAPH, KEYS, LEDGER, Backup
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError
from concord_embedded.receipts import Receipts

CONFIRMERS = ("search", "governance")
"""Who confirms an erasure once the system runs."""


@dataclass(frozen=True)
class Restored:
    """What a restore did beside copying. `age`: µs from the backup's instant to the restore."""

    backup: Backup
    age: int
    epoch: str
    erased: int
    burnt: int
    ended_keys: int
    deleted_spaces: int
    ended_proposals: int


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
    """Put a backup into a data directory, as a store of a new epoch.

    What the directory's own stores (unless they are to be ignored) and a file of receipts know was
    erased, burnt, revoked or deleted stays so. `api_key` is an operator's, as the backup knows it.

    Raises:
        BackupError: the backup is not whole, or cannot be restored there; nothing was changed.
        StartError: a Concord runs there, or the directory is somebody else's.
    """
    whole = backup.verify(path)
    backup.demand_operator(whole.ledger, api_key, clock())
    with data_directory.opened(root) as data, data_directory.explained(data.root):
        later = _later(whole, data, receipts_file, replace=replace, ignore_target=ignore_target)
        shutil.rmtree(data.restoring, ignore_errors=True)
        shutil.copytree(path, data.restoring)
        try:
            restored = await begin_again(whole, data.restoring, later, clock)
            _put_in_place(data)
        finally:
            shutil.rmtree(data.restoring, ignore_errors=True)
    return restored


def _later(
    whole: Backup,
    data: DataDirectory,
    receipts_file: Path | None,
    *,
    replace: bool,
    ignore_target: bool,
) -> Sequence[Receipts]:
    """Return what is known of the time after the backup."""
    own = backup.log_key_of(whole.path / KEYS)
    later = [] if receipts_file is None else [receipts.read(receipts_file)]
    if data.graph_store.exists() or data.ledger.exists():
        if not replace:
            raise BackupError(
                "BACKUP_TARGET_IN_USE",
                f"{data.root} holds a Concord: --replace restores in its place, for ever.",
            )
        if not ignore_target:
            later.append(_known_of(data))
    for each in later:
        if each.log_key != own:
            raise BackupError(
                "BACKUP_OF_ANOTHER",
                "The backup is of another Concord than the receipts, or than what is in "
                f"{data.root}: restore it into an empty directory, with its own receipts.",
            )
    return later


def _known_of(data: DataDirectory) -> Receipts:
    try:
        with ExitStack() as stack:
            # One alone is there when a restore was stopped between the two.
            graph, ledger = (
                stack.enter_context(read_live(each)) if each.exists() else None
                for each in (data.graph_store, data.ledger)
            )
            return receipts.known(graph, ledger, backup.log_key_of(data.keys), 0)
    except (FileUnusable, sqlite3.DatabaseError) as error:
        raise BackupError(
            "BACKUP_TARGET_UNREADABLE",
            f"{error}. What was erased and revoked since the backup is written there: name a file "
            "of it with --receipts, and leave the rest out with --ignore-target.",
        ) from error


async def begin_again(
    whole: Backup, stage: Path, later: Sequence[Receipts], clock: Clock
) -> Restored:
    """Make the stores in a folder, `graph.db` and `ledger.db`, ones of a new epoch that know what
    was known later.

    Raises `BackupError` when what is constitutive there was erased later.
    """
    epoch = str(uuid.uuid4())
    erased, burnt = await _graph_again(stage / GRAPH, epoch, later, clock)
    with read_only(stage / GRAPH) as graph, read_only(stage / LEDGER) as ledger:
        cursors = {
            space: Cursor(
                epoch, log.cursor.seq, graph_copies.digest_at(graph, space, log.cursor.seq, epoch)
            )
            for space, log in ledger_copies.log_heads(ledger).items()
        }
    store = open_ledger(stage / LEDGER, clock)
    try:
        restoring = Restoring(store)
        gone = [await restoring.delete_space(space) for known in later for space in known.deleted]
        keys = [await restoring.end_key(key) for known in later for key in known.ended]
        evidence = {
            "backup_time": format_time(whole.time),
            "epoch": epoch,
            "former_epoch": whole.epoch,
        }
        ended = [
            await restoring.begin_again(space, cursor, evidence)
            for space, cursor in cursors.items()
        ]
        await store.scrub()
    finally:
        await store.close()
    return Restored(
        backup=whole,
        age=max(0, clock() - whole.time),
        epoch=epoch,
        erased=erased,
        burnt=burnt,
        ended_keys=sum(keys),
        deleted_spaces=sum(gone),
        ended_proposals=sum(ended),
    )


async def _graph_again(
    file: Path, epoch: str, later: Sequence[Receipts], clock: Clock
) -> tuple[int, int]:
    graph_copies.begin_epoch(file, epoch)
    store = open_store(file, clock)
    try:
        again = ErasingAgain(store, clock, CONFIRMERS)
        here = {head.space for head in await store.spaces()}
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
                raise BackupError(
                    "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED",
                    f"Both principals of {space} have erased {memory_id} since this backup, in "
                    "which it is constitutive: nobody erases it again without them. Restore a "
                    "backup from after that.",
                ) from error
        await store.scrub(thorough=True)
    finally:
        await store.close()
    return erased, sum(burnt)


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
        for end in ("-wal", "-shm"):  # of the former file: the new one has none
            with suppress(FileNotFoundError):
                place.with_name(place.name + end).unlink()
        made.replace(place)
        backup.synced(place.parent)
