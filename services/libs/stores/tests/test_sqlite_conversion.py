"""A file of an earlier release gets today's columns by its conversion, the rest from the tables."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from concord_stores.sqlite_schema import Schema, UnknownSchema

OLD = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE fact (id INTEGER PRIMARY KEY, said TEXT, tally INTEGER);
CREATE INDEX fact_said ON fact (said);
CREATE INDEX fact_id_said ON fact (id, said);
CREATE INDEX fact_tally ON fact (said, id);
CREATE TRIGGER fact_kept BEFORE UPDATE ON fact
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""
NEW = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
-- What somebody said; never twice.
CREATE TABLE fact (
  id INTEGER PRIMARY KEY,
  said TEXT, -- in their words
  origin INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX fact_said ON fact (said);
CREATE INDEX fact_id_said ON fact (id, said);
CREATE TABLE lease (
  holder TEXT
);
-- Nothing changes but its origin.
CREATE TRIGGER fact_kept BEFORE UPDATE OF said ON fact
WHEN NEW.said <> OLD.said
BEGIN SELECT RAISE(ABORT, 'append-only'); SELECT 1; END;
"""
CONVERSION = """
ALTER TABLE fact ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fact DROP COLUMN tally;
UPDATE fact SET origin = 3;
"""


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """A file of version 1 with one row."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        Schema(1, OLD, {}).prepare(connection)
        connection.execute("INSERT INTO fact VALUES (1, 'tea', 9)")
        yield connection


def made(db: sqlite3.Connection) -> dict[str, str]:
    """Return the text of every index, trigger and table by its name."""
    found = db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return dict(found.fetchall())


def test_a_conversion_ends_at_the_tables_of_today(db: sqlite3.Connection) -> None:
    """G16 Rows stay; the conversion is not stopped by the old triggers, the new ones protect."""
    ran: list[str] = []
    db.set_trace_callback(ran.append)
    Schema(2, NEW, {1: CONVERSION}).prepare(db)
    db.set_trace_callback(None)

    assert any("INDEX fact_said" in each for each in ran)
    assert not any("fact_id_said" in each for each in ran)  # the same: not made anew
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
        Schema(2, NEW, {}).prepare(new)
        tables = {"meta", "fact"}
        assert {k: v for k, v in made(db).items() if k not in tables} == {
            k: v for k, v in made(new).items() if k not in tables
        }
    assert db.execute("SELECT id, said, origin FROM fact").fetchall() == [(1, "tea", 3)]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("UPDATE fact SET said = 'coffee'")
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        db.execute("INSERT INTO fact (said) VALUES ('tea')")


def test_a_conversion_that_fails_changes_nothing(db: sqlite3.Connection) -> None:
    """G16 All of it or none: the triggers that it took away are there again."""
    before = made(db)

    with pytest.raises(sqlite3.OperationalError):
        Schema(2, NEW, {1: CONVERSION + "UPDATE nothing SET a = 1;\n"}).prepare(db)

    assert made(db) == before
    assert db.execute("SELECT * FROM fact").fetchall() == [(1, "tea", 9)]


def test_what_has_no_conversion_is_refused(db: sqlite3.Connection) -> None:
    """G16 A file of a version that was never released, or a newer one, stays as it is."""
    for schema in (Schema(3, NEW, {2: ""}), Schema(0, NEW, {})):
        with pytest.raises(UnknownSchema, match="1"):
            schema.prepare(db)
