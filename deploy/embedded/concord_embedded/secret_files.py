"""Files that are written as a whole or not at all, and that only their owner may read."""

import os
from pathlib import Path

from concord_client import private_files


def write(path: Path, content: bytes) -> None:
    """Replaces `path` atomically and durably, with mode 0600."""
    with private_files.replaced(path) as file:
        file.buffer.write(content)
    sync(path.parent)


def sync(folder: Path) -> None:
    """Flushes a folder's entries to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
