"""The record of operations: rows of the outbox, which are never rewritten."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from concord_graph.adapters.stored import CHANGE_COLUMNS, change_of
from concord_graph.ports import Change, ChangeType, OperationFilter

_COLUMNS = ", ".join(CHANGE_COLUMNS)
_CONSEQUENCES = (int(ChangeType.STANDING_CHANGED), int(ChangeType.TOUCHED))


def changes(db: sqlite3.Connection, space: str, after: int, limit: int) -> list[Change]:
    """Return the changes of a space after a sequence number, in sequence."""
    sql = (
        f"SELECT {_COLUMNS} FROM change WHERE space = (SELECT id FROM space WHERE name = ?)"
        " AND seq > ? ORDER BY seq LIMIT ?"
    )
    return [change_of(row) for row in db.execute(sql, (space, after, limit)).fetchall()]


def operations(
    db: sqlite3.Connection, space: int, filter_: OperationFilter, beyond: int | None, limit: int
) -> Sequence[Change]:
    """Return operations beyond a sequence number, in the order that the filter asks for."""
    test, bound = _tests(filter_)
    first, end = (_first_seq(db, space, at) for at in (filter_.since, filter_.before))
    if beyond is not None and filter_.oldest_first:
        first = beyond + 1
    elif beyond is not None:
        end = beyond
    bound |= {"space": space, "first": first or 0, "limit": limit}
    if end is not None:
        test += " AND seq < :end"
        bound["end"] = end
    order = "ASC" if filter_.oldest_first else "DESC"
    sql = (
        f"SELECT {_COLUMNS} FROM change WHERE space = :space AND seq >= :first{test}"
        f" ORDER BY seq {order} LIMIT :limit"
    )
    return [change_of(row) for row in db.execute(sql, bound).fetchall()]


def _tests(filter_: OperationFilter) -> tuple[str, dict[str, Any]]:
    tests = ""
    bound: dict[str, Any] = {}
    for name, value in (("item_id", filter_.item_id), ("principal", filter_.principal)):
        if value:
            tests += f" AND {name} = :{name}"
            bound[name] = value
    if filter_.item_kinds:
        tests += " AND item_kind IN (SELECT value FROM json_each(:kinds))"
        bound["kinds"] = json.dumps([int(kind) for kind in filter_.item_kinds])
    if filter_.types:
        tests += " AND type IN (SELECT value FROM json_each(:types))"
        bound["types"] = json.dumps([int(type_) for type_ in filter_.types])
    else:
        tests += f" AND type NOT IN {_CONSEQUENCES}"
    return tests, bound


def _first_seq(db: sqlite3.Connection, space: int, time: int | None) -> int | None:
    """Return the first sequence number recorded at a time (µs) or later, by binary search."""
    if time is None:
        return None
    row = db.execute("SELECT coalesce(max(seq), 0) FROM change WHERE space = ?", (space,))
    low, high = 1, int(row.fetchone()[0]) + 1
    while low < high:
        middle = (low + high) // 2
        sql = (
            "SELECT record_time FROM change WHERE space = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
        )
        found = db.execute(sql, (space, middle)).fetchone()
        low, high = (low, middle) if found and found[0] >= time else (middle + 1, high)
    return low
