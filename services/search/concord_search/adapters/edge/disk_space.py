"""Room on the index's disk: nothing is opened or written without `SPARE` bytes free.

The engine writes into sparse mapped files. If the disk has no room for such a page, no write fails:
the operating system ends the process (SIGBUS), and with it, embedded, all of Concord.
"""

import shutil
from pathlib import Path

from concord_search.domain.errors import IndexDiskFull

SPARE = 64 << 20
"""Bytes: several times what one batch of changes writes, log and files together."""


def free_bytes(path: Path) -> int:
    """The free bytes of the disk that holds `path`."""
    return shutil.disk_usage(path).free


def require(free: int, path: Path) -> None:
    """Raises `IndexDiskFull` if fewer than `SPARE` bytes are free for the files below `path`."""
    if free < SPARE:
        raise IndexDiskFull(
            f"the disk of {path} has {free >> 20} MiB left, and the index needs {SPARE >> 20} MiB:"
            " make room"
        )
