"""The feed by partitions in the file: each commit takes the next numbers of its space's one.

The file has one writer, so commits are numbered in their order.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence

from concord_chassis.channel.partitions import partition_of

from concord_graph.adapters.stored import CHANGE_COLUMNS, change_of
from concord_graph.ports import Change, FeedChange, Imported, SpaceHead

_CHANGE = ", ".join(f"c.{name}" for name in CHANGE_COLUMNS)
_PAGE = (
    "SELECT f.number - (f.seq - c.seq), s.name, s.seq, i.seq,"
    f" CASE WHEN c.seq = i.seq THEN i.restore END, {_CHANGE}"
    " FROM feed f CROSS JOIN change c ON c.space = f.space AND c.seq <= f.seq"
    " AND c.seq > f.seq - min(f.count, f.number - :after)"
    " CROSS JOIN space s ON s.id = f.space LEFT JOIN imported i ON i.space = f.space"
    " WHERE f.partition = :partition AND f.number > :after"
    " ORDER BY f.partition, f.number, c.seq LIMIT :limit"
)
_NUMBERED = (
    f"SELECT a.value ->> 0, a.value ->> 1, {_CHANGE} FROM json_each(?) a"
    " CROSS JOIN feed f ON f.partition = a.value ->> 0 AND f.number ="
    " (SELECT min(n.number) FROM feed n"
    " WHERE n.partition = a.value ->> 0 AND n.number >= a.value ->> 1)"
    " CROSS JOIN change c ON c.space = f.space AND c.seq = f.seq - (f.number - a.value ->> 1)"
    " WHERE f.number - a.value ->> 1 < f.count"
)
_AT = (
    f"SELECT s.name, c.seq, {_CHANGE} FROM json_each(?) a"
    " CROSS JOIN space s ON s.name = a.value ->> 0"
    " CROSS JOIN change c ON c.space = s.id AND c.seq = a.value ->> 1"
)
_UNNUMBERED = (
    "SELECT s.id, s.name, (SELECT max(c.seq) FROM change c WHERE c.space = s.id) FROM space s"
    " WHERE s.partition = -1 ORDER BY s.id"
)
_SPACES = (
    "SELECT name, seq FROM space WHERE partition = ? AND name > ? AND seq > 0 ORDER BY name LIMIT ?"
)


def prepare(db: sqlite3.Connection, partitions: int) -> int:
    """Make the partitions of a store that has none, and number what was written before it had.

    Return how many spaces were numbered. A space's changes get its partition's next numbers
    together: only their order in the space counts.
    """
    count = len(numbers(db))
    if not count:
        rows = [(each,) for each in range(partitions)]
        db.executemany("INSERT INTO partition VALUES (?, 0)", rows)
    old = db.execute(_UNNUMBERED).fetchall()
    for space, name, seq in old:
        partition = partition_of(name, count or partitions)
        db.execute("UPDATE space SET partition = ? WHERE id = ?", (partition, space))
        if seq:
            append(db, partition, space, seq, seq)
    return len(old)


def append(db: sqlite3.Connection, partition: int, space: int, seq: int, count: int) -> int:
    """Number the last `count` changes of a space, up to `seq`; return the last number."""
    ((number,),) = db.execute(
        "UPDATE partition SET number = number + ? WHERE id = ? RETURNING number", (count, partition)
    ).fetchall()
    row = (partition, number, space, seq, count)
    db.execute("INSERT INTO feed VALUES (?, ?, ?, ?, ?)", row)
    return int(number)


def numbers(db: sqlite3.Connection) -> list[int]:
    """Return the number of each partition's newest change."""
    return [row[0] for row in db.execute("SELECT number FROM partition ORDER BY id").fetchall()]


def page(db: sqlite3.Connection, partition: int, after: int, limit: int) -> list[FeedChange]:
    """Return the changes of a partition after a number, in the order of numbers."""
    bound = {"partition": partition, "after": after, "limit": limit}
    return [
        FeedChange(
            number,
            space,
            head_seq,
            change_of(row),
            None if imported is None else Imported(imported, restore or b""),
        )
        for number, space, head_seq, imported, restore, *row in db.execute(_PAGE, bound).fetchall()
    ]


def numbered(
    db: sqlite3.Connection, cursors: Collection[tuple[int, int]]
) -> Mapping[tuple[int, int], Change]:
    """Return the changes of cursors, each a partition and a number: those there are."""
    found = db.execute(_NUMBERED, (json.dumps(list(cursors)),)).fetchall()
    return {(partition, number): change_of(row) for partition, number, *row in found}


def changes_at(
    db: sqlite3.Connection, places: Collection[tuple[str, int]]
) -> Mapping[tuple[str, int], Change]:
    """Return the changes at places, each a space and a sequence number: those there are."""
    found = db.execute(_AT, (json.dumps(list(places)),)).fetchall()
    return {(space, seq): change_of(row) for space, seq, *row in found}


def spaces(db: sqlite3.Connection, partition: int, after: str, limit: int) -> Sequence[SpaceHead]:
    """Return the spaces of a partition that have a change: those after a name, by name."""
    return [SpaceHead(*row) for row in db.execute(_SPACES, (partition, after, limit)).fetchall()]
