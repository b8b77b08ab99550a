"""The user's files that are written atomically and that only their owner may read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


def create(path: Path, content: bytes) -> None:
    """Write a new file (0600), durably. Raises FileExistsError, OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _fresh(path, content) as fresh:
        os.link(fresh, path)  # unlike a rename, it never replaces an existing file


def replace(path: Path, content: bytes) -> None:
    """Write or replace a file (0600) atomically and durably. Raises OSError.

    If root replaces it, its owner keeps it: containers run as another user and read it, too.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _fresh(path, content) as fresh:
        if os.geteuid() == 0 and path.exists():
            owned = path.stat()
            os.chown(fresh, owned.st_uid, owned.st_gid)
        fresh.replace(path)


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
def _fresh(path: Path, content: bytes) -> Iterator[Path]:
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield fresh
    finally:
        fresh.unlink(missing_ok=True)
