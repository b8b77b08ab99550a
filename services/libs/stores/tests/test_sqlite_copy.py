"""Copies of several files at one instant, beside their writers (W7)."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from concord_stores.sqlite_copy import copy_at_one_instant, demand_sound, read_only
from concord_stores.sqlite_file import FileUnusable, open_file
from concord_stores.sqlite_schema import Schema

SCHEMA = Schema(1, "CREATE TABLE meta (key, value);\nCREATE TABLE row (text);", {})
COPIES = 4


@contextmanager
def at_work(first: Path, second: Path) -> Iterator[None]:
    """Write to the first file and then to the second, again and again."""
    stop, wrote = threading.Event(), threading.Event()

    def work() -> None:
        with closing(sqlite3.connect(first)) as one, closing(sqlite3.connect(second)) as two:
            while not stop.is_set():
                for db in (one, two):
                    with db:
                        db.execute("INSERT INTO row VALUES ('x')")
                wrote.set()

    thread = threading.Thread(target=work)
    thread.start()
    wrote.wait(10)
    try:
        yield
    finally:
        stop.set()
        thread.join()


def rows(path: Path) -> int:
    """Return how many rows a copy has."""
    with read_only(path) as db:
        return int(db.execute("SELECT count(*) FROM row").fetchone()[0])


def test_copies_are_of_one_instant(tmp_path: Path) -> None:
    """W7 What is written to one file and then to another is copied with the first of the two, and
    at most one ahead: whichever of the files is copied first."""
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    for each in (first, second):
        open_file(each, SCHEMA, name="test").close()
    counts = []
    with at_work(first, second):
        for place in range(COPIES):
            copies = tmp_path / f"{place} first", tmp_path / f"{place} second"
            pairs = [(first, copies[0]), (second, copies[1])]
            copy_at_one_instant(dict(pairs if place % 2 else pairs[::-1]))
            counts.append((rows(copies[0]), rows(copies[1])))

    assert counts == sorted(counts)
    assert all(one - two in (0, 1) for one, two in counts), counts


def test_writers_of_all_files_are_kept_out_until_each_is_held(tmp_path: Path) -> None:
    """W7 While a write to one file is waited for, nobody writes to the other: else the copies would
    be of two instants."""
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    for each in (first, second):
        open_file(each, SCHEMA, name="test").close()
    copies = {each: each.with_suffix(".copy") for each in (first, second)}
    copying = threading.Thread(target=copy_at_one_instant, args=(copies,))
    with closing(sqlite3.connect(second, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO row VALUES ('x')")
        copying.start()
        end = time.monotonic() + 5
        while not (held := is_held(first)) and time.monotonic() < end:
            time.sleep(0.01)
        writer.execute("COMMIT")
    copying.join()

    assert held
    assert (rows(copies[first]), rows(copies[second])) == (0, 1)
    assert not is_held(first)


def is_held(path: Path) -> bool:
    """Return whether writers are kept out of a file."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as db:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
    return False


def test_a_copy_holds_nothing_that_was_removed(tmp_path: Path) -> None:
    """M4 Removed data is in the file's log and free pages, and in no byte of a copy."""
    source, copy = tmp_path / "source.db", tmp_path / "copy.db"
    open_file(source, SCHEMA, name="test").close()
    with closing(sqlite3.connect(source, isolation_level=None)) as db:
        for _ in range(100):
            db.execute("INSERT INTO row VALUES ('the secret word')")
        db.execute("DELETE FROM row")
        beside = source.read_bytes() + (tmp_path / "source.db-wal").read_bytes()
        assert b"the secret word" in beside
        copy_at_one_instant({source: copy})

    assert b"the secret word" not in copy.read_bytes()
    assert [each.name for each in tmp_path.glob("copy*")] == ["copy.db"]
    demand_sound(copy)


def test_what_cannot_be_copied_is_named(tmp_path: Path) -> None:
    """W7 A file that is not there is not made, and one that is no database is refused."""
    (tmp_path / "text").write_text("no database " * 100)
    for name in ("nothing", "text"):
        with pytest.raises(FileUnusable, match=name):
            copy_at_one_instant({tmp_path / name: tmp_path / "copy"})
    assert not (tmp_path / "nothing").exists()
