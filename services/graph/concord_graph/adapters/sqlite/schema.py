"""The tables of the store's file, and how those that e65dbee wrote become them (G16)."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

from concord_stores.sqlite_schema import Schema


def _begin(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO meta VALUES ('epoch', ?)", (str(uuid.uuid4()),))


_HERE = Path(__file__).parent
_FROM_19, _FROM_26, _FROM_33 = (
    (_HERE / name).read_text("utf-8") for name in ("from_e65dbee.sql", "from_26.sql", "from_33.sql")
)
SCHEMA = Schema(
    version=34,
    tables=(_HERE / "schema.sql").read_text("utf-8"),
    conversions={
        19: _FROM_19 + _FROM_26 + _FROM_33,
        26: _FROM_26 + _FROM_33,
        33: _FROM_33,
    },
    begin=_begin,
)
