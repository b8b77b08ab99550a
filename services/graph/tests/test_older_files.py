"""Files that earlier versions wrote become those of this one."""

import sqlite3
import tarfile
from pathlib import Path

from concord_graph.adapters.sqlite.schema import SCHEMA

WRITTEN = Path(__file__).parents[3] / "tests" / "e2e" / "e65dbee" / "data.tar.xz"


def shape(db: sqlite3.Connection) -> dict[str, object]:
    """Return a file's tables by their columns, its indexes and triggers by their text."""
    made = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    found: dict[str, object] = {}
    for kind, name, sql in db.execute(made).fetchall():
        columns = db.execute(f"SELECT name, type FROM pragma_table_xinfo('{name}')").fetchall()
        found[name] = sorted(columns) if kind == "table" else " ".join(sql.split())
    return found


def test_a_converted_file_is_as_a_new_one(tmp_path: Path) -> None:
    """G16 Same columns, indexes and triggers: what protects a new file protects an older one."""
    with tarfile.open(WRITTEN) as archive:
        archive.extractall(tmp_path, filter="data")
    older = sqlite3.connect(tmp_path / "data" / "graph" / "graph.db", isolation_level=None)
    new = sqlite3.connect(":memory:", isolation_level=None)
    assert shape(older) != shape(new)
    for db in (older, new):
        SCHEMA.prepare(db)

    converted, made = shape(older), shape(new)

    older.close()
    new.close()
    assert converted == made


def test_a_file_without_the_index_of_states_gets_it() -> None:
    """G16 S1 What was written before each search sought a memory's state by an index of its own."""
    older, new = (sqlite3.connect(":memory:", isolation_level=None) for _ in range(2))
    for db in (older, new):
        SCHEMA.prepare(db)
    older.execute("DROP INDEX change_state")
    older.execute("UPDATE meta SET value = '34' WHERE key = 'schema'")

    SCHEMA.prepare(older)

    assert shape(older) == shape(new)
    older.close()
    new.close()
