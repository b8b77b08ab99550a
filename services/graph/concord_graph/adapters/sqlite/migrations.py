"""How the store's schema grew, in numbered steps, and what they call (G16)."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

from concord_stores.sqlite_file import Schema, steps_in

from concord_graph.domain.sketch import bands, pack, unpack
from concord_graph.domain.spelling import backwards, folded


def _sketched(key: bytes, kind: int, content: str) -> bytes | None:
    """Return the sketch of a text, packed; None when it has none."""
    sketch = bands(key, kind, content)
    return pack(sketch) if sketch else None


def _band(packed: bytes, place: int) -> int:
    return unpack(packed)[place]


def _begin(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO meta VALUES ('epoch', ?)", (str(uuid.uuid4()),))


SCHEMA = Schema(
    steps_in(Path(__file__).with_name("schema")),
    (
        ("folded", 1, folded),
        ("backwards", 1, backwards),
        ("sketched", 3, _sketched),
        ("band", 2, _band),
    ),
    _begin,
)
