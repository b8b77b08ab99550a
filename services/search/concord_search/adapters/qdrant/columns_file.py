"""The columns of a large space on disk, so that using it need not ask the engine for every point.

One file beside the shard, written when the space leaves memory, and removed before the next write:
while it exists, it agrees with the engine. A process that was killed leaves none, and the columns
are read from the engine. Like payloads, it holds only numbers and keyed hashes.

    "concord-columns 3 " and the next line's CRC-32 in 8 hexadecimal digits\n
    JSON: the stamp, each array's name and length, their CRC-32\n
    the arrays, whole numbers of 64 bits
"""

import json
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from concord_search.adapters.durable_file import sync_folder
from concord_search.adapters.qdrant.columns import Columns
from concord_search.domain.candidates import Ints

FORMAT = b"concord-columns 3 "

Stamp = Mapping[str, object]
"""Identifies the contents of the shard that the columns belong to; JSON."""


class ColumnsFile:
    """The file of one space's columns. Not safe for use by several threads at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_suffix(".tmp")
        self._void = False

    def read(self, stamp: Stamp) -> Columns | None:
        """The stored columns; None if there are none, damaged ones, or those of another stamp."""
        try:
            with self._path.open("rb") as file:
                return _read(file, stamp)
        except FileNotFoundError:
            return None

    def write(self, stamp: Stamp, columns: Columns) -> None:
        """Stores columns that agree with the engine's files, unless the file is still valid."""
        if not self._void:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._draft.open("wb") as file:
                _write(file, stamp, columns.arrays())
                file.flush()
                os.fsync(file.fileno())
            self._draft.replace(self._path)
        except OSError:  # a full disk must not keep a space from closing; the file is optional
            return
        self._void = False

    def void(self) -> None:
        """Removes the file, for good, before the engine is written to."""
        if self._void:
            return
        there = [path for path in (self._draft, self._path) if path.exists()]
        for path in there:
            path.unlink()
        if there:
            sync_folder(self._path.parent)
        self._void = True


def _write(file: BinaryIO, stamp: Stamp, arrays: Mapping[str, Ints]) -> None:
    written = [np.ascontiguousarray(array, "<i8") for array in arrays.values()]
    lengths = {name: len(array) for name, array in arrays.items()}
    header = json.dumps({"stamp": stamp, "arrays": lengths, "crc": _crc(written)}).encode() + b"\n"
    file.write(_first_line(header))
    file.write(header)
    for array in written:
        file.write(array.data)


def _read(file: BinaryIO, stamp: Stamp) -> Columns | None:
    head, header = file.readline(64), file.readline()
    if head != _first_line(header):
        return None
    read = json.loads(header)
    if read["stamp"] != stamp:
        return None
    # Straight into arrays: tens of megabytes that pass through the heap would stay resident.
    arrays = {name: np.fromfile(file, "<i8", length) for name, length in read["arrays"].items()}
    if _crc(arrays.values()) != read["crc"]:
        return None
    return Columns.of_arrays(
        {name: array.astype(np.int64, copy=False) for name, array in arrays.items()}
    )


def _first_line(header: bytes) -> bytes:
    return FORMAT + f"{zlib.crc32(header):08x}\n".encode()


def _crc(arrays: Iterable[Ints]) -> int:
    crc = 0
    for array in arrays:
        crc = zlib.crc32(array.data, crc)
    return crc
