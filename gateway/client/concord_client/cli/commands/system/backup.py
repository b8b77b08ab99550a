"""`concord backup`: makes, verifies and restores copies of the whole system."""

import json
import signal
import sys
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from concord_client.cli.errors import CommandError
from concord_client.cli.session import (
    Session,
    SessionCommands,
    SystemSession,
    demand_embedded,
    write_line,
)
from concord_client.cli.values import period
from concord_client.credentials import (
    FILE_NAME,
    KEY_VARIABLE,
    SYSTEM_SPACE,
    CredentialsError,
    data_directory,
    key_in,
)

if TYPE_CHECKING:
    from concord_embedded.backup import Backup
    from concord_embedded.backup_stores import Stores
    from concord_embedded.restore import Restored

T = TypeVar("T")

app = SessionCommands(
    no_args_is_help=True,
    help="Back up the system in the data directory, running or not, and restore it. Takes the "
    "operator's key. A backup holds every key of the system: keep it as you keep those.",
)
FolderArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="Where backups are kept.")]
BackupArgument = Annotated[Path, typer.Argument(metavar="BACKUP", help="A backup's own folder.")]


@app.command("create")
def create(
    session: SystemSession,
    folder: FolderArgument,
    *,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="PERIOD", help="Go on, with one each period (30m, 24h), until Ctrl-C."
        ),
    ] = None,
    keep: Annotated[
        int | None, typer.Option(min=1, help="Then remove all but this many, the newest.")
    ] = None,
) -> None:
    """Make a backup of all spaces as they stand at one instant, and read it back to verify it."""
    demand_embedded()
    pause = period(every) if every else None
    with _stop_on_signal() as stopped:
        while True:
            try:
                _create(session, folder, keep)
            except CommandError as error:
                if pause is None:
                    raise
                typer.echo(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ} {error}", err=True)
            if pause is None or stopped.wait(pause.total_seconds()):
                return


@app.command("verify")
def verify(session: SystemSession, path: BackupArgument) -> None:
    """Read a backup from end to end: that it is whole, unchanged, and of one instant."""
    demand_embedded()
    with _reported():
        from concord_embedded import backup

        _show_backup(session, backup.verify(path), "Whole")


@app.command("receipts")
def receipts(
    session: SystemSession,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Write to this file.")],
) -> None:
    """Write down what no restore may bring back: what is erased, burnt, revoked and deleted now."""
    demand_embedded()
    with _reported():
        from concord_embedded import backup

        root = data_directory(session.environ)
        key, stores = _operator_key(session, root), _stores(session)
        _ran(backup.write_receipts(root, file.absolute(), _now(), key, stores))
    if session.as_json:
        write_line(json.dumps({"file": str(file)}))
    else:
        typer.echo(f"Wrote the receipts to {file}.")


@app.command("restore")
def restore(
    session: SystemSession,
    path: BackupArgument,
    *,
    receipts_file: Annotated[
        Path | None,
        typer.Option("--receipts", metavar="FILE", help="What `concord backup receipts` wrote."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="In the place of what is in the data directory. What that knows was erased, burnt "
            "or revoked stays so; all else of it is lost.",
        ),
    ] = False,
    ignore_target: Annotated[
        bool,
        typer.Option("--ignore-target", help="Where what is there cannot be read any more."),
    ] = False,
) -> None:
    """Put a backup into the data directory, on which no Concord runs.

    Tokens of before do not count there, and pending proposals have ended. Clients that saw a later
    audit log refuse this one (THE AUDIT LOG WAS REWRITTEN), as they are meant to.
    """
    demand_embedded()
    root = data_directory(session.environ)
    with _reported():
        from concord_embedded.restore import confirmers, restore

        restored = _ran(
            restore(
                path,
                root,
                _now,
                _operator_key(session, path, root),
                _stores(session),
                confirmers=confirmers(session.environ),
                receipts_file=receipts_file,
                replace=replace,
                ignore_target=ignore_target,
            )
        )
    _show_restored(session, restored, root)


def _stores(session: Session) -> "Stores":
    from concord_embedded import backup_stores

    return backup_stores.of(session.environ)


def _create(session: Session, folder: Path, keep: int | None) -> None:
    root = data_directory(session.environ)
    with _reported():
        from concord_embedded import backup

        key, stores = _operator_key(session, root), _stores(session)
        made = _ran(backup.create(root, folder.absolute(), _now(), key, stores))
        gone = backup.prune(folder.absolute(), keep) if keep else ()
    _show_backup(session, made, "Made", len(gone))


def _operator_key(session: Session, *folders: Path) -> str:
    """The API key in the environment, else the operator's from the first folder with one."""
    if given := session.environ.get(KEY_VARIABLE):
        return given
    for folder in folders:
        if found := key_in(folder / FILE_NAME, SYSTEM_SPACE):
            return found
    raise CredentialsError(f"There is no operator's key in {folders[0]}: set {KEY_VARIABLE}.")


@contextmanager
def _reported() -> Iterator[None]:
    """Raise `CommandError` for the errors of backups and restores."""
    from concord_embedded.errors import BackupError, StartError

    try:
        yield
    except BackupError as error:
        raise CommandError(str(error), reason=error.reason) from error
    except StartError as error:
        raise CommandError(str(error)) from error


@contextmanager
def _stop_on_signal() -> Iterator[Event]:
    """An event that SIGTERM and SIGINT set, so that a started backup is finished first."""
    stopped = Event()
    signals = (signal.SIGTERM, signal.SIGINT)
    former = [signal.signal(each, lambda *_: stopped.set()) for each in signals]
    try:
        yield stopped
    finally:
        for each, handler in zip(signals, former, strict=True):
            signal.signal(each, handler)


def _show_backup(session: Session, made: "Backup", verb: str, removed: int = 0) -> None:
    if session.as_json:
        said = {"path": str(made.path), "time": _when(made.time), "bytes": made.size}
        write_line(json.dumps({**said, "spaces": made.spaces, "removed": removed}))
    else:
        typer.echo(
            f"{verb}: {made.path}, of {_when(made.time)}, {len(made.spaces)} spaces, "
            f"{made.size:,} bytes."
        )
        if removed:
            typer.echo(f"Removed {removed} older ones.")
    sys.stdout.flush()  # with --every, the next line may come a day later


def _show_restored(session: Session, restored: "Restored", root: Path) -> None:
    counts = {
        "erased": restored.erased,
        "burntNonces": restored.burnt,
        "endedKeys": restored.ended_keys,
        "deletedSpaces": restored.deleted_spaces,
        "endedProposals": restored.ended_proposals,
    }
    made, age = _when(restored.backup.time), timedelta(seconds=restored.age // 1_000_000)
    if session.as_json:
        said = {"backupTime": made, "ageSeconds": restored.age // 1_000_000}
        closed = [{"space": space, "slot": slot} for space, slot in restored.closed_slots]
        write_line(json.dumps({**said, "epoch": restored.epoch, **counts, "closedSlots": closed}))
        return
    typer.echo(f"Restored {root} as it was at {made}, {age} ago: what came since is not there.")
    typer.echo(
        f"Applied what is known since: {restored.erased} memories erased again, "
        f"{restored.burnt} nonces burnt, {restored.ended_keys} keys ended, "
        f"{restored.deleted_spaces} spaces deleted."
    )
    for space, slot in restored.closed_slots:
        typer.echo(
            f"The key of {slot} in the space {space} was replaced since: it signs nothing until "
            f"`concord --space {space} principal rotate --slot {slot.lower()} --key FILE` puts "
            "the newer one back, with both consents."
        )
    typer.echo(f"{restored.ended_proposals} pending proposals ended. Start it with `concord up`.")


def _ran(work: "Coroutine[None, None, T]") -> T:
    import asyncio  # slow to import, and not needed for help

    return asyncio.run(work)


def _now() -> int:
    return time.time_ns() // 1_000


def _when(micros: int) -> str:
    return f"{datetime.fromtimestamp(micros // 1_000_000, UTC):%Y-%m-%dT%H:%M:%SZ}"
