"""How the store's schema grew, in numbered steps, and what they call (G16)."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

from concord_stores.sqlite_file import Schema, steps_in

from concord_graph.domain.spelling import backwards, folded


def _begin(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO meta VALUES ('epoch', ?)", (str(uuid.uuid4()),))


SCHEMA = Schema(
    steps_in(Path(__file__).with_name("schema")),
    (
        ("folded", 1, folded),
        ("backwards", 1, backwards),
    ),
    _begin,
)
