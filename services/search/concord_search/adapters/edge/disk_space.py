"""Room on the index's disk: nothing is opened or written without some to spare.

The engine writes into mapped files with holes. Where the disk has no room for such a page, no
write fails: the operating system ends the process (SIGBUS), and with it, embedded, all of Concord.
"""

import shutil
from pathlib import Path

from concord_search.domain.errors import IndexDiskFull

SPARE = 64 << 20
"""Bytes: several times what one batch of changes writes, log and files together."""


def free_bytes(path: Path) -> int:
    """How many bytes the disk that holds `path` has left for us."""
    return shutil.disk_usage(path).free


def require(free: int, path: Path) -> None:
    """Raises `IndexDiskFull` when fewer than `SPARE` bytes are free for what is below `path`."""
    if free < SPARE:
        raise IndexDiskFull(
            f"the disk of {path} has {free >> 20} MiB left, and the index needs {SPARE >> 20} MiB:"
            " make room"
        )
