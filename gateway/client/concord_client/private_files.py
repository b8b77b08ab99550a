"""The user's files that are written atomically and that only their owner may read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from io import TextIOWrapper
from pathlib import Path


def create(path: Path, content: bytes) -> None:
    """Write a new file (0600), durably. Raises FileExistsError, OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _put(path, lambda fresh: os.link(fresh, path)) as file:  # a rename would replace one
        file.buffer.write(content)


def replace(path: Path, content: bytes) -> None:
    """Write or replace a file (0600), as `replaced` does, in a folder made for it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replaced(path) as file:
        file.buffer.write(content)


def replaced(path: Path) -> AbstractContextManager[TextIOWrapper]:
    """A file (0600) that is there as a whole after the block, or not at all. Raises OSError.

    If root replaces one, its owner keeps it: containers run as another user and read it, too.
    """

    def put(fresh: Path) -> None:
        if os.geteuid() == 0 and path.exists():
            owned = path.stat()
            os.chown(fresh, owned.st_uid, owned.st_gid)
        fresh.replace(path)

    return _put(path, put)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from changing a file while the block runs. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = path.with_name(f".{path.name}.lock")
    descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _put(path: Path, put: Callable[[Path], None]) -> Iterator[TextIOWrapper]:
    """A new file beside `path`, which `put` puts there once it is written durably."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        put(fresh)
    finally:
        fresh.unlink(missing_ok=True)
