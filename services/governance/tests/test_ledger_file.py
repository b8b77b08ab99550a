"""The embedded ledger's file: triggers, locks and damage. Neo4j has none of ours."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from concord_chassis.sqlite_file import FileUnusable
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_governance.domain.exceptions import LedgerBusy
from concord_governance.ports import Ledger
from ledger_world import ENTRY, Clock, put


@pytest.mark.parametrize("statement", ["UPDATE leaf SET data = x'00'", "DELETE FROM leaf"])
async def test_the_log_is_append_only(statement: str, ledger: Ledger, tmp_path: Path) -> None:
    """A2 V2 The store itself refuses to change or remove an entry."""
    await put(ledger, "p", 1)

    with (
        closing(sqlite3.connect(tmp_path / "ledger.db")) as db,
        pytest.raises(sqlite3.IntegrityError),
    ):
        db.execute(statement)


async def test_a_locked_file_is_told(tmp_path: Path) -> None:
    """A1 A ledger that another process holds is busy, and nothing is written."""
    opened = open_ledger(tmp_path / "ledger.db", Clock(), busy_seconds=0.05)
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(LedgerBusy):
            await opened.write("one", lambda tx: tx.append([ENTRY]))
        other.execute("ROLLBACK")
    await opened.close()


def test_a_damaged_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    """A2 What is not a ledger is not opened; the sentence names the file."""
    path = tmp_path / "ledger.db"
    path.write_bytes(b"this is no database at all" * 400)

    with pytest.raises(FileUnusable) as caught:
        open_ledger(path, Clock())

    assert str(path) in str(caught.value)
