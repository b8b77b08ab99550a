"""The log: one file of JSON lines that never outgrows its bound."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import TextIO

from typing_extensions import Buffer

from concord_embedded.errors import StartError

MAX_BYTES = 16 << 20


class _Bounded(RawIOBase):
    """A file that is renamed to `NAME.1` when it is full, which replaces the former `NAME.1`."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path, self._max_bytes = path, max_bytes
        self._descriptor, self._size, self._lost = -1, 0, 0
        self._open()

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        """Appends `data`, or as much of it as the disk takes; on an error `data` is lost.

        Raises nothing then, since a lost line must not fail the call that it is about. A line
        with the number of lost bytes precedes the next line that can be written.
        """
        try:
            if self._size >= self._max_bytes:
                self._turn_over()
            if self._lost:
                note = json.dumps({"event": "log lost", "level": "warning", "bytes": self._lost})
                self._append(f"\n{note}\n".encode())
                self._lost = 0
            return self._append(data)
        except OSError:
            self._lost += memoryview(data).nbytes
            return memoryview(data).nbytes

    def _append(self, data: Buffer) -> int:
        written = os.write(self._descriptor, data)
        self._size += written
        return written

    def _turn_over(self) -> None:
        former = self._descriptor
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        self._open()
        os.close(former)

    def close(self) -> None:
        """Closes the file."""
        if not self.closed:
            os.close(self._descriptor)
        super().close()

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._descriptor).st_size


@contextmanager
def opened(path: Path, max_bytes: int = MAX_BYTES) -> Iterator[TextIO]:
    """The log at `path`, open for appending. Raises `StartError` if it cannot be opened."""
    try:
        raw = _Bounded(path, max_bytes)
    except OSError as error:
        raise StartError(f"Cannot write the log {path}: {error.strerror}.") from error
    with TextIOWrapper(BufferedWriter(raw), encoding="utf-8", line_buffering=True) as file:
        yield file
