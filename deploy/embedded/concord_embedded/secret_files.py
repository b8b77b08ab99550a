"""Files that are written as a whole or not at all, and that only their owner may read."""

import os
import secrets
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Replaces `path` atomically and durably, with mode 0600."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    sync(path.parent)


def sync(folder: Path) -> None:
    """Flushes a folder's entries to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
