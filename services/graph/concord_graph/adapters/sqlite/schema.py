"""The tables of the store's file, and their conversions from earlier ones (G16)."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

from concord_stores.sqlite_schema import Schema


def _begin(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO meta VALUES ('epoch', ?)", (str(uuid.uuid4()),))


_TO_SETTLE = """
ALTER TABLE space ADD COLUMN unsettled INTEGER NOT NULL DEFAULT 0;
UPDATE space SET unsettled = 1 WHERE seq > 0;
DROP INDEX edge_replaces;
DROP INDEX edge_replacing;
DROP INDEX edge_replaces_then;
DROP INDEX edge_replacing_then;
ALTER TABLE edge DROP COLUMN replaces;
"""
"""How items stand was worked out at each read, from what replaces what: now
`usecases.write.settled_anew` stores it."""

_WORDS_ORIGIN = """
ALTER TABLE memory ADD COLUMN words_origin INTEGER NOT NULL DEFAULT 0;
"""
"""Whose words a memory's are, beside who wrote it first (W8)."""
_TO_CLAIM = "ALTER TABLE edge ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0;\n"
"""What was written before the guard of W9 acts as it did."""
_TO_NUMBER = "ALTER TABLE space ADD COLUMN partition INTEGER NOT NULL DEFAULT -1;\n"
"""`feed.prepare` numbers what was written before there were partitions (S10)."""
_TO_38 = _WORDS_ORIGIN + _TO_CLAIM

SCHEMA = Schema(
    version=39,
    tables=Path(__file__).with_name("schema.sql").read_text("utf-8"),
    conversions={
        35: _TO_SETTLE + _TO_38 + _TO_NUMBER,
        36: _TO_38 + _TO_NUMBER,
        37: _TO_NUMBER,
        38: _TO_NUMBER,
    },
    begin=_begin,
)
