"""The columns on disk, so that a start need not ask the engine for every point.

One file beside the shard, written when a space is closed whole and removed before the first write
after that: while it is there, it says what the engine says. A process that was killed leaves none,
and the columns are read from the engine. It holds what payloads hold: numbers and keyed hashes.

    concord-columns 1\n | CRC-32 of what follows, 8 hexadecimal digits\n
    JSON: the stamp and each array's name and length\n | the arrays, whole numbers of 64 bits
"""

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from concord_search.adapters.edge.columns import Columns
from concord_search.domain.candidates import Ints

FORMAT = b"concord-columns 1\n"

Stamp = Mapping[str, object]
"""What says of which contents of the shard the columns are; JSON."""


class KeptColumns:
    """The file of one space's columns. Not safe for use by several threads at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_suffix(".tmp")
        self._void = False

    def read(self, stamp: Stamp) -> Columns | None:
        """The columns; None when there are none, or damaged ones, or those of another stamp."""
        try:
            content = memoryview(self._path.read_bytes())
        except FileNotFoundError:
            return None
        start = len(FORMAT) + 9
        if content[:start] != _head(content[start:]):
            return None
        told, _, _ = bytes(content[start : start + (1 << 16)]).partition(b"\n")
        said = json.loads(told)
        if said["stamp"] != stamp:
            return None
        return Columns.of_arrays(dict(_arrays(said["arrays"], content[start + len(told) + 1 :])))

    def write(self, stamp: Stamp, columns: Columns) -> None:
        """Keeps columns that say what the engine has on disk, unless the file stands."""
        if not self._void:
            return
        try:
            self._replace(_content(stamp, columns))
        except OSError:  # a full disk must not keep a space from closing; a start does without
            return
        self._void = False

    def _replace(self, content: bytes) -> None:
        with self._draft.open("wb") as file:
            file.write(_head(content))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self._draft.replace(self._path)

    def void(self) -> None:
        """Removes the file, for good, before the engine is written to."""
        if self._void:
            return
        for path in (self._draft, self._path):
            path.unlink(missing_ok=True)
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self._void = True


def _content(stamp: Stamp, columns: Columns) -> bytes:
    arrays = columns.arrays()
    lengths = [(name, len(array)) for name, array in arrays.items()]
    told = json.dumps({"stamp": stamp, "arrays": lengths}).encode() + b"\n"
    return b"".join([told, *(array.astype("<i8").tobytes() for array in arrays.values())])


def _head(body: bytes | memoryview) -> bytes:
    return FORMAT + f"{zlib.crc32(body):08x}\n".encode()


def _arrays(lengths: list[tuple[str, int]], content: memoryview) -> Iterator[tuple[str, Ints]]:
    at = 0
    for name, length in lengths:
        yield name, np.frombuffer(content, "<i8", count=length, offset=at).astype(np.int64)
        at += 8 * length
