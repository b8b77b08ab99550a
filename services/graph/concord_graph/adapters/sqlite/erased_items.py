"""Erases the content of items from their rows, and stores the receipts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from concord_graph.adapters.sqlite import rows
from concord_graph.domain.erasure import Confirmation, Erasure
from concord_graph.domain.items import Edge, ItemKind, Record
from concord_graph.domain.spelling import backwards, folded

_TELLING = 4
"""Fewest bytes of a text that is looked for in the file: `[]`, say, is found everywhere."""

_RECEIPT = ("id", "memory_id", "time", "principal", "reason", "digest", "edge_count")
_NAME = {ItemKind.NODE: "name", ItemKind.MEMORY: "external_id"}


def erase(db: sqlite3.Connection, space: int, item: Record) -> list[bytes]:
    """Erase every revision of an item but the newest, which is erased already; return their texts.

    Requests that wrote or found the item lose salt and digest: with these, a guess of its content
    could be tested.
    """
    table, columns = rows.table(item.kind), rows.CONTENT[item.kind]
    if isinstance(item, Edge) and item.target.id == item.id:  # it named a ghost
        columns = [*columns, "target_id"]
    left = rows.values(space, item)
    bound = left | {"quoted": json.dumps(item.id)}
    test = "WHERE space = :space AND id = :id AND erase_time = 0"
    said = db.execute(f"SELECT {', '.join(columns)} FROM {table} {test}", bound).fetchall()
    texts = {
        value
        for row in said
        for name, value in zip(columns, row, strict=True)
        if value != left[name]
    }
    if isinstance(item, Edge):
        texts |= _drop_participants(db, bound)
    blank = ", ".join(f"{name} = :{name}" for name in [*columns, "erase_time"])
    db.execute(f"UPDATE {table} SET salt = x'', {blank} {test}", bound)
    db.execute(
        "UPDATE request SET salt = x'', digest = ''"
        " WHERE space = :space AND instr(refs, :quoted) > 0",
        bound,
    )
    db.execute("DELETE FROM access WHERE space = :space AND id = :id", bound)
    for table in ("co_read", "restatement", "recall"):
        db.execute(f"DELETE FROM {table} WHERE space = :space AND memory_id = :id", bound)
    if item.kind in _NAME:
        names = {row[columns.index(_NAME[item.kind])] for row in said}
        texts |= {spelt for name in names if name for spelt in (folded(name), backwards(name))}
    return looked_for(texts)


def looked_for(texts: Iterable[Any]) -> list[bytes]:
    """Return, as bytes, the texts among the values that are to be looked for in the file."""
    found = {text.encode() for text in texts if isinstance(text, str)}
    return sorted(text for text in found if len(text) >= _TELLING)


def _drop_participants(db: sqlite3.Connection, bound: dict[str, Any]) -> set[str]:
    """Delete all participants that an edge ever had from their index; return their names."""
    names = (
        "SELECT p.value FROM edge e, json_each(e.properties, '$.participants') p"
        " WHERE e.space = :space AND e.id = :id AND p.type = 'text'"
    )
    found = {name for (name,) in db.execute(names, bound)}
    db.execute(
        f"DELETE FROM participant WHERE space = :space AND edge = :id AND name IN ({names})", bound
    )
    return found


def put_erasure(db: sqlite3.Connection, space: int, erasure: Erasure) -> None:
    """Store the receipt of an erasure, with the confirmers that it waits for."""
    db.execute(
        "INSERT INTO erasure VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(space, erasure.id, erasure.memory_id, erasure.time, erasure.principal),
            *(erasure.reason, erasure.digest, erasure.edge_count),
        ),
    )
    db.executemany(
        "INSERT INTO erase_confirmation VALUES (?, ?, ?, ?, ?)",
        [
            (space, erasure.id, place, each.confirmer, each.time)
            for place, each in enumerate(erasure.confirmations)
        ],
    )


def confirm(db: sqlite3.Connection, space: int, erase_id: str, confirmer: str, time: int) -> None:
    """Record a confirmer's confirmation at a time (µs); the first one stays."""
    db.execute(
        "UPDATE erase_confirmation SET time = ?"
        " WHERE space = ? AND erase_id = ? AND confirmer = ? AND time IS NULL",
        (time, space, erase_id, confirmer),
    )


def erasure(db: sqlite3.Connection, space: int, *, erase_id: str, memory_id: str) -> Erasure | None:
    """Return the receipt of an erasure by its id or by the memory's id."""
    column, value = ("id", erase_id) if erase_id else ("memory_id", memory_id)
    row = db.execute(
        f"SELECT {', '.join(_RECEIPT)} FROM erasure WHERE space = ? AND {column} = ?",
        (space, value),
    ).fetchone()
    if row is None:
        return None
    known = dict(zip(_RECEIPT, row, strict=True))
    return Erasure(**known, confirmations=tuple(_confirmations(db, space, row[0])))


def _confirmations(db: sqlite3.Connection, space: int, erase_id: str) -> Iterator[Confirmation]:
    sql = (
        "SELECT confirmer, time FROM erase_confirmation"
        " WHERE space = ? AND erase_id = ? ORDER BY place"
    )
    for confirmer, time in db.execute(sql, (space, erase_id)).fetchall():
        yield Confirmation(confirmer, time)


def unconfirmed(db: sqlite3.Connection, confirmer: str) -> list[tuple[int, str]]:
    """Return (space, erase id) of the erasures that a confirmer has not confirmed."""
    sql = "SELECT space, erase_id FROM erase_confirmation WHERE confirmer = ? AND time IS NULL"
    return [(space, erase_id) for space, erase_id in db.execute(sql, (confirmer,)).fetchall()]
