"""Sketches of texts: eight numbers, of which near-identical texts share some (T6).

MinHash over pairs of neighbouring words (Broder 1997, with bands as in Leskovec et al., Mining of
Massive Datasets, ch. 3): each of 16 keyed hash functions keeps the least value of a text's pairs,
and two of these minima make a band. Two texts with the part J of their pairs in common share a band
with probability 1 - (1 - J²)⁸: .996 at J = .7, .90 at .5, .08 at .1.
"""

from __future__ import annotations

import secrets
import struct
from hashlib import blake2b
from itertools import pairwise

from concord_graph.domain.edits import LEAST_WORDS, Text
from concord_graph.domain.items import Memory, MemoryKind

BANDS = 8
MOST_PER_BAND = 16
"""The newest ones of a band are looked at: one that many texts share tells little."""
_KEY_BYTES = 32
_MINIMA = struct.Struct("<16I")
_BANDS = struct.Struct("<8q")


def new_key() -> bytes:
    """Return a new space's secret."""
    return secrets.token_bytes(_KEY_BYTES)


def sketch_of(key: bytes, memory: Memory) -> tuple[int, ...]:
    """Return the bands by which a memory is found; none for one that amendments are not sought of.

    Those are forgotten ones, and turns: what was said in a dialogue stays as it was said.
    """
    if memory.deleted or memory.memory_kind == MemoryKind.TURN:
        return ()
    return bands(key, memory.memory_kind, memory.content)


def bands(key: bytes, kind: int, content: str) -> tuple[int, ...]:
    """Return the 8 bands of a text as signed 64-bit numbers; none when it has too few words.

    `key` is the space's secret: without it a band tells nothing of the words. Memories of two kinds
    share no band.
    """
    words = Text(content).words
    if len(words) < LEAST_WORDS:
        return ()
    pairs = {f"{one} {other}" for one, other in pairwise(("", *words, ""))}
    salt = bytes([kind])
    hashed = (blake2b(pair.encode(), key=key, salt=salt).digest() for pair in pairs)
    minima = map(min, zip(*map(_MINIMA.unpack, hashed), strict=True))
    return unpack(_MINIMA.pack(*minima))


def pack(sketch: tuple[int, ...]) -> bytes:
    """Return a sketch as 64 bytes."""
    return _BANDS.pack(*sketch)


def unpack(packed: bytes) -> tuple[int, ...]:
    """Return the sketch that was packed."""
    return _BANDS.unpack(packed)
