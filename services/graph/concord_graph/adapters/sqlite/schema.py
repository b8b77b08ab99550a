"""The tables of the store's file, and their conversions from earlier ones (G16)."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

from concord_stores.sqlite_schema import Schema


def _begin(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO meta VALUES ('epoch', ?)", (str(uuid.uuid4()),))


SCHEMA = Schema(
    version=35,
    tables=Path(__file__).with_name("schema.sql").read_text("utf-8"),
    conversions={},
    begin=_begin,
)
