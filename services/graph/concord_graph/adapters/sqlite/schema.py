"""The tables of the store's file, and their conversion from those of e65dbee (G16)."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

from concord_stores.sqlite_schema import Schema


def _begin(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO meta VALUES ('epoch', ?)", (str(uuid.uuid4()),))


_FROM_26 = """
ALTER TABLE relation ADD COLUMN temporal_class INTEGER NOT NULL DEFAULT 0;
ALTER TABLE relation ADD COLUMN transitive INTEGER NOT NULL DEFAULT 0;
ALTER TABLE relation ADD COLUMN exclusive_sets TEXT NOT NULL DEFAULT '[]';
ALTER TABLE entry ADD COLUMN words TEXT NOT NULL DEFAULT '{}';
ALTER TABLE entry ADD COLUMN erase_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry ADD COLUMN first_id TEXT AS (body ->> '$.first.id');
ALTER TABLE entry ADD COLUMN second_id TEXT AS (body ->> '$.second.id');
ALTER TABLE memory ADD COLUMN role INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
"""
_FROM_E65DBEE = """
ALTER TABLE memory ADD COLUMN properties TEXT NOT NULL DEFAULT '{}';
ALTER TABLE space ADD COLUMN enrolment TEXT NOT NULL DEFAULT '';
ALTER TABLE space ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE space DROP COLUMN tally;
DROP TABLE IF EXISTS sketch;
DROP TABLE IF EXISTS sketched;
DROP TABLE IF EXISTS sketch_key;
"""
SCHEMA = Schema(
    version=35,
    tables=Path(__file__).with_name("schema.sql").read_text("utf-8"),
    conversions={19: _FROM_E65DBEE + _FROM_26, 26: _FROM_26, 33: "", 34: ""},
    begin=_begin,
)
