"""More spaces in a store file that have the very same ids as the first, and say otherwise."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

BEFORE, AFTER = -9, 99
"""The numbers of the two: a query that forgets its space meets one first or the other last."""

_ROWS = ("node", "edge", "memory", "entry")

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
    "entry": {"body": "replace(body, '(a)', '(elsewhere)')", "session_id": "session_id"},
    "spelling": {"name": "'other ' || name"},
    "participant": {},
    "relation": {"functional": "1 - functional"},
    "support": {},
    "access": {"count": "99", "last_time": "last_time + 7"},
    "change": {"digest": "'elsewhere'", "principal": "'somebody'"},
    "request": {"digest": "'elsewhere'"},
    "nonce": {},
    "erasure": {"reason": "'elsewhere'", "digest": "'elsewhere'"},
    "erase_confirmation": {"confirmer": "'elsewhere ' || confirmer"},
    "genesis": {"digest": "'elsewhere'"},
}

# The same of the ledger: there every proposal is rejected, and all that was logged is another's.
_ELSEWHERE = {
    "proposal": {"status": "4", "resolution": "'elsewhere'"},
    "leaf": {"data": "x'00'"},
    "tree": {"hash": "x'00'"},
    "request": {"digest": "'elsewhere'"},
}

_OF_NO_NUMBER = {"meta", "space", "feed_partition", "access_space", "access_key", "access_sign_in"}
"""The ledger's tables in which spaces stand by name or not at all."""

# There everything supersedes everything too, with consent.
_SUPERSEDING = {
    "id": "'haunt ' || m.id || ' ' || n.id",
    "source_id": "m.id",
    "target_id": "n.id",
    "governed": "1",
}

_SUPERSEDED = {
    "record_until": str(2**63 - 1),
    "superseded_from": "0",
    "followed_from": "0",
    "replacers": "json_array(json_array('elsewhere', 0))",
    "never_held": "1",
    "is_fixed": "1",
    "comes_next": "1",
    "former": "99",
    "older": "99",
    "exit_of": "'elsewhere'",
}


def haunt(path: Path) -> None:
    """Give every row of the file's spaces a twin with the same ids in each of two more spaces."""
    with closing(sqlite3.connect(path)) as db, db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        kept = dict(triggers.fetchall())
        for name in kept:
            db.execute(f"DROP TRIGGER {name}")
        for other in (BEFORE, AFTER):
            _haunt(db, other)
        for sql in kept.values():
            db.execute(sql)


def haunt_ledger(path: Path) -> None:
    """Give every row of a home's ledger a twin with the same ids in each of two more spaces.

    The logs of `concord:system` and of the fresh space have none: two logs do not fit in one.
    """
    with closing(sqlite3.connect(path)) as db, db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        for other in (BEFORE, AFTER):
            db.execute(
                "INSERT INTO space (id, name, last_number, log_size)"
                " SELECT ?, ?, 99, max(log_size) FROM space",
                (other, f"haunted {other}"),
            )
            for table in sorted(set(tables) - _OF_NO_NUMBER):
                otherwise = {"space": str(other)} | _ELSEWHERE.get(table, {})
                names, said = _columns(db, table, otherwise)
                haunted = (
                    f"space = (SELECT id FROM space WHERE id NOT IN ({BEFORE}, {AFTER}) AND"
                    " name != 'concord:system' ORDER BY log_size DESC LIMIT 1)"
                )
                db.execute(
                    f"INSERT INTO {table} ({names}) SELECT {said} FROM {table} WHERE {haunted}"
                )


def _haunt(db: sqlite3.Connection, other: int) -> None:
    db.execute(
        "INSERT INTO space (id, name, seq, last_time) VALUES (?, ?, 7, 7)",
        (other, f"haunted {other}"),
    )
    for table, otherwise in _OTHERWISE.items():
        names, said = _columns(db, table, {"space": str(other)} | otherwise)
        if table in _ROWS and other < 0:
            names, said = f"rowid, {names}", f"-rowid, {said}"
        haunted = f"space NOT IN ({BEFORE}, {AFTER})"
        db.execute(f"INSERT INTO {table} ({names}) SELECT {said} FROM {table} WHERE {haunted}")
    _, said = _columns(db, "edge", {"space": str(other)} | _SUPERSEDING, "e.")
    db.execute(
        f"INSERT OR IGNORE INTO edge SELECT {said} FROM edge e, memory m, memory n"
        " WHERE e.rowid = (SELECT max(rowid) FROM edge WHERE relation = 'SUPERSEDES')"
        " AND m.id <> n.id"
    )
    _, said = _columns(db, "standing", {"space": str(other), "record_from": "0"} | _SUPERSEDED)
    db.execute(
        f"INSERT INTO standing SELECT {said} FROM"
        f" (SELECT id FROM edge WHERE space = {other} UNION SELECT id FROM memory"
        f" WHERE space = {other})"
    )
    db.execute("INSERT INTO open_grant VALUES (?, 'open', 0)", (other,))


def _columns(
    db: sqlite3.Connection, table: str, otherwise: Mapping[str, str], prefix: str = ""
) -> tuple[str, str]:
    """Return the columns of a table, and what to select for each."""
    names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    return ", ".join(names), ", ".join(otherwise.get(name, prefix + name) for name in names)
