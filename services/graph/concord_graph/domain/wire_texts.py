"""The texts in a serialised protobuf message, of whatever type: a claim's request among them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

_FIXED = {1: 8, 5: 4}
_LENGTH = 2
_MOST_DEPTH = 40


def texts_in(message: bytes, depth: int = 0) -> Iterator[str]:
    """Yield every string of a message and of the messages in it.

    What is both, as far as the bytes say, is taken for both; bytes that are no message say nothing.
    """
    for value in _parts(message) or ():
        with suppress(UnicodeDecodeError):
            yield value.decode()
        if depth < _MOST_DEPTH:
            yield from texts_in(value, depth + 1)


def _parts(message: bytes) -> list[bytes] | None:
    """Return the values of variable length of a message; None if it is none."""
    place, found = 0, list[bytes]()
    while place < len(message):
        tag, place = _varint(message, place)
        kind = tag & 7
        if kind == 0:
            _, place = _varint(message, place)
        elif kind == _LENGTH:
            length, place = _varint(message, place)
            found.append(message[place : place + length])
            place += length
        elif kind in _FIXED:
            place += _FIXED[kind]
        else:
            return None
    return found if place == len(message) else None


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """Return a number and the place after it, which is behind the end where it is cut."""
    value = shift = 0
    while place < len(message):
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    return 0, len(message) + 1
