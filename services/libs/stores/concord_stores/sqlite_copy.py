"""Copies SQLite files as all of them were at one instant, beside their writers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from concord_stores.sqlite_file import FileBusy, FileFull, FileUnreadable, FileUnusable, failure_of

LOCK_SECONDS = 10.0
"""The seconds to wait for the writers' open transactions."""


def copy_at_one_instant(copies: Mapping[Path, Path]) -> None:
    """Copy each file to a new one, so that no copy has a write whose cause another copy lacks.

    All writers are locked out while a reader's snapshot is taken of each file, for the time of
    beginning two transactions a file; the copies are made from the snapshots, beside the writers.
    A copy has no log beside it, and no byte of removed data: it is written anew.

    Raises:
        FileUnusable: a file is missing, damaged, or no database.
        FileFailure: a file cannot be read, or the disk of the copies is full.
    """
    with ExitStack() as stack:
        sources = [stack.enter_context(read_live(source)) for source in copies]
        views = [stack.enter_context(read_live(source)) for source in copies]
        with _named():
            for each in sources:
                each.execute("BEGIN IMMEDIATE")
            for each in views:
                each.execute("BEGIN")
                each.execute("SELECT count(*) FROM sqlite_master").fetchone()  # takes the snapshot
            for each in sources:
                each.execute("ROLLBACK")
            for view, target in zip(views, copies.values(), strict=True):
                _copy(view, target)


def read_only(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Open a file that nobody writes, without making a file beside it; else as `read_live`."""
    return read_live(path, "ro&immutable=1")


def demand_sound(path: Path) -> None:
    """Demand that every page and index of a file that nobody writes is intact.

    Raises:
        FileUnusable: the text names the damage.
    """
    with read_only(path) as db, _named():
        problem = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if problem != "ok":
            raise FileUnusable(f"{path} is damaged ({problem})")


@contextmanager
def read_live(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """Open a file for reading while its program may write it. `mode`: SQLite's.

    Raises:
        FileUnusable: the file is missing, damaged, or no database.
    """
    try:
        db = sqlite3.connect(
            f"file:{quote(str(path))}?mode={mode}",
            uri=True,
            timeout=LOCK_SECONDS,
            isolation_level=None,
        )
    except sqlite3.DatabaseError as error:
        raise FileUnusable(f"cannot open {path}: {error}") from error
    with closing(db):
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as error:
            raise FileUnusable(f"{path} is damaged or no database: {error}") from error
        yield db


def _copy(view: sqlite3.Connection, target: Path) -> None:
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        view.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("VACUUM")


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        failure = failure_of(error)
        if isinstance(failure, (FileBusy, FileFull, FileUnreadable)):
            raise failure from error
        raise FileUnusable(str(error)) from error
