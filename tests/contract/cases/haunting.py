"""A second space in a store file that has the very same ids as the first, and says otherwise."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

OTHER = 99

# What the other space says of the items that it shares ids with, by table and column. There all
# is constitutive, nothing is forgotten, and every edge holds from a little later.
_OTHERWISE = {
    "node": {
        "name": "'other ' || name",
        "label": "'Ghost'",
        "properties": """'{"whose":"the other"}'""",
    },
    "edge": {
        "weight": "0.01",
        "edge_type": "2",
        "importance": "3",
        "governed": "1",
        "effective_from": "effective_from + 1",
        "valid_until": "NULL",
        "properties": """'{"whose":"the other"}'""",
    },
    "memory": {
        "content": "'said elsewhere'",
        "edge_type": "2",
        "deleted": "0",
        "domain": "'elsewhere'",
        "valid_until": "NULL",
    },
    "access": {"count": "99", "last_time": "last_time + 7"},
    "change": {"digest": "'elsewhere'", "principal": "'somebody'"},
    "request": {"digest": "'elsewhere'"},
    "nonce": {},
    "genesis": {"digest": "'elsewhere'"},
}

# There everything supersedes everything too, with consent.
_SUPERSEDING = {
    "space": str(OTHER),
    "id": "'haunt ' || m.id || ' ' || n.id",
    "source_id": "m.id",
    "target_id": "n.id",
    "governed": "1",
}


def haunt(path: Path) -> None:
    """Give every row of the file's spaces a twin with the same ids in one more space."""
    with closing(sqlite3.connect(path)) as db, db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        kept = dict(triggers.fetchall())
        for name in kept:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("INSERT INTO space VALUES (?, 'haunted', 7, 7)", (OTHER,))
        for table, otherwise in _OTHERWISE.items():
            said = _columns(db, table, {"space": str(OTHER)} | otherwise)
            db.execute(f"INSERT INTO {table} SELECT {said} FROM {table}")
        said = _columns(db, "edge", _SUPERSEDING, "e.")
        db.execute(
            f"INSERT OR IGNORE INTO edge SELECT {said} FROM edge e, memory m, memory n"
            " WHERE e.rowid = (SELECT min(rowid) FROM edge WHERE relation = 'SUPERSEDES')"
            " AND m.id <> n.id"
        )
        db.execute("INSERT INTO open_grant VALUES (?, 'open')", (OTHER,))
        for sql in kept.values():
            db.execute(sql)


def _columns(
    db: sqlite3.Connection, table: str, otherwise: Mapping[str, str], prefix: str = ""
) -> str:
    """Return what to select for a row of a table, each column in its order."""
    names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    return ", ".join(otherwise.get(name, prefix + name) for name in names)
