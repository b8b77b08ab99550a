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
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
