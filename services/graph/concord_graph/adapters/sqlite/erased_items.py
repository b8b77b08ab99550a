"""Taking what an item said out of its rows, and receipts for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from concord_graph.adapters.sqlite.rows import TABLE
from concord_graph.domain.erasure import Confirmation, Erasure
from concord_graph.domain.items import Edge, Item
from concord_graph.domain.spelling import backwards, folded

_LINEAGE = "relation IN ('SUPERSEDES', 'DEPRECATES', 'AMENDS', 'CONTRADICTS')"
_TELLING = 4
"""Fewest bytes of a text that is looked for in the file: an empty list says nothing."""

_RECEIPT = ("id", "memory_id", "time", "principal", "reason", "digest", "edge_count")
TEXTS = {
    "node": "name, label, properties, vector_id",
    "memory": (
        "content, content_digest, concepts, domain, surfaces_when, sources, category, tags, facts,"
        " properties, external_id"
    ),
    "edge": (
        f"iif({_LINEAGE} OR relation = 'ERASED', '', relation), properties,"
        " iif(:named, target_id, '')"
    ),
}
"""The columns of each table that hold what its items say."""
_BLANK = {
    "node": "salt = x'', name = '', label = 'Entity', properties = '{}', vector_id = ''",
    "memory": (
        "salt = x'', content = '', content_digest = '', concepts = '[]', concepts_stated = 0,"
        " domain = '', importance = 0, surfaces_when = '[]', sources = '[]', external_id = NULL,"
        " category = '', tags = '[]', facts = '[]', properties = '{}'"
    ),
    "edge": (
        "salt = x'', properties = '{}', weight = 1.0, importance = 0,"
        f" relation = iif({_LINEAGE}, relation, 'ERASED'),"
        " target_id = iif(:named, id, target_id)"
    ),
}


def erase(db: sqlite3.Connection, space: int, item: Item) -> list[bytes]:
    """Erase every revision of an item but the newest, which is so already; return what they said.

    Requests that wrote or found it lose what they are compared with: their salt stands beside a
    digest of what was said, so that a guess could be tested.
    """
    table = TABLE[item.kind]
    bound: dict[str, Any] = {
        "space": space,
        "id": item.id,
        "time": item.erase_time,
        "named": isinstance(item, Edge) and item.target.id == item.id,
        "quoted": json.dumps(item.id),
    }
    rows = f"FROM {table} WHERE space = :space AND id = :id AND erase_time = 0"
    said = db.execute(f"SELECT {TEXTS[table]} {rows}", bound).fetchall()
    if table == "edge":
        said += _drop_participants(db, bound)
    db.execute(
        f"UPDATE {table} SET {_BLANK[table]}, erase_time = :time"
        " WHERE space = :space AND id = :id AND erase_time = 0",
        bound,
    )
    db.execute(
        "UPDATE request SET salt = x'', digest = ''"
        " WHERE space = :space AND instr(refs, :quoted) > 0",
        bound,
    )
    db.execute("DELETE FROM access WHERE space = :space AND id = :id", bound)
    named = {"memory": -1, "node": 0}.get(table)  # where a name stands, of what has one
    names = [row[named] for row in said if named is not None and row[named]]
    said += [(folded(name), backwards(name)) for name in names]  # as they stood in `spelling`
    texts = {text.encode() for row in said for text in row if text}
    return sorted(text for text in texts if len(text) >= _TELLING)


def _drop_participants(db: sqlite3.Connection, bound: dict[str, Any]) -> list[tuple[str]]:
    """Forget whom an edge ever had as a participant; return their names."""
    names = (
        "SELECT p.value FROM edge e, json_each(e.properties, '$.participants') p"
        " WHERE e.space = :space AND e.id = :id AND p.type = 'text'"
    )
    found = db.execute(names, bound).fetchall()
    db.execute(
        f"DELETE FROM participant WHERE space = :space AND edge = :id AND name IN ({names})", bound
    )
    return found


def put_erasure(db: sqlite3.Connection, space: int, erasure: Erasure) -> None:
    """Keep a receipt and whom it waits for."""
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
    """Note when a confirmer confirmed; the first time stands."""
    db.execute(
        "UPDATE erase_confirmation SET time = ?"
        " WHERE space = ? AND erase_id = ? AND confirmer = ? AND time IS NULL",
        (time, space, erase_id, confirmer),
    )


def erasure(db: sqlite3.Connection, space: int, *, erase_id: str, memory_id: str) -> Erasure | None:
    """Return a receipt by its id or by the memory's."""
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
    """Return (space, erase id) of what a confirmer has not confirmed."""
    sql = "SELECT space, erase_id FROM erase_confirmation WHERE confirmer = ? AND time IS NULL"
    return [(space, erase_id) for space, erase_id in db.execute(sql, (confirmer,)).fetchall()]
