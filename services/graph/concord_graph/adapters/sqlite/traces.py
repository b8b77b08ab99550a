"""Finds traces of erased texts in the free space of the store file's pages.

`secure_delete` zeroes what is deleted, but when SQLite moves rows between pages to balance a tree
it leaves copies in the free space of the pages they came from, and zeroes no such copy when the row
itself is erased later (measured on 3.40: two erased rows in a thousand leave one, where rows of
many sizes change much). VACUUM writes every page anew, which takes time; so the free space is
looked through first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

PIECE_BYTES = 12
"""A trace of twice this length holds a whole piece of the erased text."""

_HEADER_BYTES = 100
_PAGES_A_READ = 1024
_INTERIOR, _LEAF = (2, 5), (10, 13)  # types of pages that hold rows; others have no free space


def are_left(path: Path, said: Iterable[bytes]) -> bool:
    """Return whether free space in the file holds a piece of an erased text."""
    pieces = {piece for text in said for piece in _pieces(text)}
    if not pieces:
        return False
    return any(piece in free for free in _free_spaces(path) for piece in pieces)


def _pieces(text: bytes) -> Iterator[bytes]:
    if len(text) < PIECE_BYTES:
        yield text
    for start in range(0, len(text) - PIECE_BYTES + 1, PIECE_BYTES):
        yield text[start : start + PIECE_BYTES]


def _free_spaces(path: Path) -> Iterator[bytes]:
    """Yield the non-zero free space of the pages, joined for each chunk that is read."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(_HEADER_BYTES)[16:18])
        size = 65_536 if size == 1 else size
        file.seek(0)
        first = _HEADER_BYTES  # only the first page begins with the file's own header
        while chunk := file.read(size * _PAGES_A_READ):
            free = []
            for start in range(0, len(chunk), size):
                free.append(_free(chunk[start : start + size], first).strip(b"\0"))
                first = 0
            yield b"\0".join(filter(None, free))


def _free(page: bytes, header: int) -> bytes:
    """Return the free space between a page's list of rows and its rows."""
    kind = page[header]
    if kind not in (*_INTERIOR, *_LEAF):
        return b""
    count = int.from_bytes(page[header + 3 : header + 5])
    content = int.from_bytes(page[header + 5 : header + 7]) or 65_536
    return page[header + (12 if kind in _INTERIOR else 8) + 2 * count : content]
