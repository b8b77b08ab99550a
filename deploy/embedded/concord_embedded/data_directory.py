"""The data directory: only its owner may use it, and one running Concord at a time."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from concord_embedded.errors import StartError

LOCK_NAME = "lock"
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
OTHERS_MAY_LOOK = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class DataDirectory:
    """The paths of all files below a root folder."""

    root: Path

    @property
    def credentials(self) -> Path:
        """The file for the command line: addresses, API keys, enrolment secrets."""
        return self.root / "credentials.json"

    @property
    def keys(self) -> Path:
        """The folder for the services: key pairs, digests of API keys and enrolment secrets."""
        return self.root / "keys"

    @property
    def graph_store(self) -> Path:
        """Graph's SQLite file, the source of truth."""
        return self.root / "graph" / "graph.db"

    @property
    def ledger(self) -> Path:
        """Governance's SQLite file: proposals, consents, the audit log."""
        return self.root / "governance" / "ledger.db"

    @property
    def index(self) -> Path:
        """Search's folder: derived from graph, and rebuilt if it is missing."""
        return self.root / "index"

    @property
    def sketches(self) -> Path:
        """Dissonance's file: hashes of the words of texts that it read; rebuilt if missing."""
        return self.root / "sketches.db"

    @property
    def last_backup(self) -> Path:
        """A JSON file with the path and time (µs) of the last backup: `path`, `time`."""
        return self.root / "last-backup.json"

    @property
    def restoring(self) -> Path:
        """The folder in which a restore prepares the stores before they replace the former ones."""
        return self.root / "restoring"

    @property
    def runtime_note(self) -> Path:
        """A file with the path of the sockets' folder: the next start removes a killed one's."""
        return self.root / "runtime"

    @property
    def log(self) -> Path:
        """The services' log, JSON lines."""
        return self.root / "log" / "concord.jsonl"


@contextmanager
def opened(root: Path) -> Iterator[DataDirectory]:
    """The data directory, created if it is missing, and locked while the block runs.

    Raises `StartError` if it is in use or not writable, or if others may read or write in it.
    """
    root = root.expanduser().absolute()
    data = DataDirectory(root)
    with explained(root):
        for folder in (
            root,
            data.keys,
            data.graph_store.parent,
            data.ledger.parent,
            data.index,
            data.log.parent,
        ):
            _make(folder)
        _demand_closed(root)
        descriptor = os.open(root / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        with explained(root):
            _lock(descriptor, root)
        yield data
    finally:
        os.close(descriptor)  # this unlocks, and so does the end of the process


@contextmanager
def explained(root: Path) -> Iterator[None]:
    """Turns an `OSError` of the block about files below `root` into a `StartError` with advice."""
    try:
        yield
    except OSError as error:
        raise StartError(_advice(root, error)) from error


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise StartError(f"{folder} belongs to another user: choose another directory with --data.")
    if found.st_mode & OTHERS_MAY_WRITE:
        raise StartError(
            f"Others may write in {folder}: run `chmod 700 {folder}`, "
            "or choose another directory with --data."
        )


def _demand_closed(root: Path) -> None:
    """Refuse a directory that others may look into: in it are memories, keys and their digests."""
    if root.stat().st_mode & OTHERS_MAY_LOOK:
        raise StartError(
            f"Others may read {root}: run `chmod -R go= {root}`, and replace its API keys if "
            "others use this machine; or choose another directory with --data."
        )


def _lock(descriptor: int, root: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        who = f" (process {holder})" if holder.isdigit() else ""
        raise StartError(
            f"Another Concord{who} is running on {root}: stop that one, "
            "or choose another directory with --data."
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def _advice(root: Path, error: OSError) -> str:
    match error.errno:
        case errno.EACCES | errno.EPERM | errno.EROFS:
            why = f"{error.filename or root} cannot be written ({error.strerror})"
        case errno.ENOTDIR | errno.EEXIST:
            why = f"{error.filename or root} is not a directory"
        case errno.ENOSPC | errno.EDQUOT:
            why = f"The disk of {root} has no room, and a start needs 1 MiB"
        case _:
            why = f"{error.filename or root}: {error.strerror}"
    return f"{why}: make room for it, or choose another directory with --data."
