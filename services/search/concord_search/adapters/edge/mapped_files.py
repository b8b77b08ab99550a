"""Gives back the memory of files that the engine maps, and reads through when it opens them.

Each field's index is a sparse file of 2 MB or more: an empty shard holds 50 MB resident. What is
used later comes back from the page cache, page by page.
"""

import ctypes
import mmap
from pathlib import Path

_MAPS = Path("/proc/self/maps")


def release(directory: Path) -> int:
    """Gives back the pages of all mapped files below a directory; returns their bytes.

    Only of shared mappings: their changes are the file's, and lost with no page. Where the system
    does not list mappings, nothing is given back.
    """
    if not _MAPS.exists():
        return 0
    below, released = f"{directory.resolve()}/", 0
    advise = ctypes.CDLL(None).madvise
    for line in _MAPS.read_text("utf-8", "surrogateescape").splitlines():
        span, mode, *_, path = line.split(maxsplit=5) if line.count("/") else ("", "", "")
        if mode[3:] != "s" or not path.startswith(below):
            continue
        start, end = (int(each, 16) for each in span.split("-"))
        advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)
        released += end - start
    return released
