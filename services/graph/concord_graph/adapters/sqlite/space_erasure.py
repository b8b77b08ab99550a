"""Removes the rows of a deleted space."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from concord_graph.adapters.sqlite.erased_items import looked_for
from concord_graph.adapters.sqlite.rows import CONTENT
from concord_graph.domain.items import ItemKind

_RESERVED: Final = "'concord:%'"
_STEPPED: Final = {
    "edge": f"relation NOT LIKE {_RESERVED}",
    "node": f"name NOT LIKE {_RESERVED}",
    "memory": "true",
    "entry": "true",
    "support": "true",
}
"""The tables that grow with a space, each with the test of the rows to remove."""
_WHOLE: Final = (
    *("relation", "standing", "spelling", "participant", "access", "request"),
    *("session", "co_read", "restatement", "service_record", "recall"),
)


def memories(db: sqlite3.Connection, space: int, limit: int) -> list[str]:
    """Return memories, forgotten ones too, that are not erased."""
    sql = (
        "SELECT DISTINCT id FROM memory WHERE space = ? AND id NOT IN"
        " (SELECT memory_id FROM erasure WHERE space = ?) LIMIT ?"
    )
    return [str(row[0]) for row in db.execute(sql, (space, space, limit))]


def drop_memories(db: sqlite3.Connection, space: int, ids: Sequence[str]) -> list[bytes]:
    """Remove every revision of memories; return their texts."""
    bound = (space, json.dumps(ids))
    test = "space = ? AND id IN (SELECT value FROM json_each(?))"
    columns = ", ".join(CONTENT[ItemKind.MEMORY])
    said = db.execute(f"SELECT {columns} FROM memory WHERE {test}", bound).fetchall()
    db.execute(f"DELETE FROM memory WHERE {test}", bound)
    return looked_for(text for row in said for text in row)


def drop_rows(db: sqlite3.Connection, space: int, limit: int) -> bool:
    """Remove at most `limit` rows of the rest; return whether none is left."""
    for table, test in _STEPPED.items():
        sql = (
            f"DELETE FROM {table} WHERE rowid IN"
            f" (SELECT rowid FROM {table} WHERE space = ? AND {test} LIMIT ?)"
        )
        limit -= db.execute(sql, (space, limit)).rowcount
        if limit <= 0:
            return False
    for table in _WHOLE:
        db.execute(f"DELETE FROM {table} WHERE space = ?", (space,))
    return True
