"""A second space in a store file that has the very same ids as the first, and says otherwise."""

import sqlite3
from contextlib import closing
from pathlib import Path

OTHER = 99

# What the other space says of the items that it shares ids with, by table and column.
_OTHERWISE = {
    "node": {"label": "'Ghost'", "properties": """'{"whose":"the other"}'""", "vector_id": "'v'"},
    "edge": {
        "weight": "0.01",
        "edge_type": "2",
        "importance": "3",
        "governed": "1",
        "valid_until": "NULL",
        "properties": """'{"whose":"the other"}'""",
    },
    "memory": {
        "content": "'said elsewhere'",
        "edge_type": "2",
        "deleted": "1 - deleted",
        "domain": "'elsewhere'",
        "valid_until": "NULL",
    },
    "access": {"count": "99", "last_time": "last_time + 7"},
    "change": {"digest": "'elsewhere'", "principal": "'somebody'"},
    "request": {"digest": "'elsewhere'"},
    "nonce": {},
    "genesis": {"digest": "'elsewhere'"},
}

# In the other space everything supersedes everything, and a grant stands open.
_MORE = (
    """INSERT INTO edge (space, id, revision, seq, record_from, record_until, deleted, principal,
      salt, create_time, source_id, source_kind, relation, target_id, target_kind, weight,
      properties, edge_type, importance, effective_from, origin, governed, replaces, hides)
    SELECT :other, 'haunt ' || m.id || ' ' || n.id, 1, m.seq, m.record_from,
      9223372036854775807, 0, 'somebody', x'00', m.create_time, m.id, 3, 'SUPERSEDES', n.id, 3, 1.0,
      '{}', 1, 0, 0, 1, 0, 1, 1
    FROM memory m JOIN memory n ON m.id <> n.id
    WHERE m.space <> :other AND n.space <> :other
      AND m.record_until = 9223372036854775807 AND n.record_until = 9223372036854775807
      AND NOT EXISTS (SELECT 1 FROM edge e WHERE e.space = :other AND e.source_id = m.id
                      AND e.target_id = n.id)""",
    "INSERT INTO open_grant (space, digest) VALUES (:other, 'open')",
)


def haunt(path: Path) -> None:
    """Give every row of the file's spaces a twin with the same ids in one more space."""
    with closing(sqlite3.connect(path)) as db, db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        kept = dict(triggers.fetchall())
        for name in kept:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("INSERT INTO space VALUES (?, 'haunted', 7, 7)", (OTHER,))
        for table, otherwise in _OTHERWISE.items():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            said = [{"space": str(OTHER)}.get(name, otherwise.get(name, name)) for name in columns]
            db.execute(f"INSERT INTO {table} SELECT {', '.join(said)} FROM {table}")
        for sql in _MORE:
            db.execute(sql, {"other": OTHER} if ":other" in sql else {})
        for sql in kept.values():
            db.execute(sql)
