"""Short reads on the event loop's own thread, and what must not be done there."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from concord_stores.sqlite_file import NotAtOnce, SqliteFile, open_file
from concord_stores.sqlite_schema import Schema

TABLES = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);"
LONG = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
    " SELECT count(*) FROM n"
)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SqliteFile]:
    """An opened file."""
    opened = open_file(tmp_path / "a.db", Schema(1, TABLES, {}), name="test")
    yield opened
    opened.close()


def count(file: SqliteFile, rows: int) -> int:
    """Count so many rows at once."""
    with file.reading_at_once() as db:
        found: int = db.execute(LONG, (rows,)).fetchone()[0]
    return found


def test_a_short_read(file: SqliteFile) -> None:
    """Must hold (W5): few rows are read at once, as often as they are asked for."""
    assert [count(file, 100) for _ in range(2_000)] == [100] * 2_000


def test_a_long_read(file: SqliteFile) -> None:
    """Must hold (W5): the event loop waits for no long statement; the next short one is read."""
    with pytest.raises(NotAtOnce):
        count(file, 10_000_000)
    assert count(file, 100) == 100


def test_an_interrupted_statement_is_prepared_once_more(file: SqliteFile) -> None:
    """Must hold: an interrupted statement does not stay slow: Python would prepare it anew at
    each use of its connection, so the connection is dropped."""
    with file.transaction() as before:
        pass
    with pytest.raises(NotAtOnce):
        count(file, 10_000_000)
    with file.transaction() as after:
        assert after is not before


def test_a_locked_file(file: SqliteFile, tmp_path: Path) -> None:
    """Must hold: the event loop waits for nobody's lock, nor for its first connection."""
    file.close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("INSERT INTO meta VALUES ('a', 'b')")
        other.commit()
        began = time.monotonic()
        with pytest.raises(NotAtOnce):
            count(SqliteFile(tmp_path / "a.db", name="b", readers=1, busy_seconds=20.0), 1)
        assert time.monotonic() - began < 10.0


def test_a_closed_file(file: SqliteFile) -> None:
    """Must hold: a late read does not open a closed file again."""
    file.close()
    with pytest.raises(NotAtOnce):
        count(file, 1)
