"""The embedded ledger's file: triggers and locks. Neo4j has none of ours."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from concord_chassis.call.failure import translate
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_governance.domain.errors import LedgerBusy, LedgerFull
from concord_governance.ports.ledger import Ledger
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


def modes_in(folder: Path) -> dict[str, int]:
    """Return the permission bits of a folder's files, by name."""
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()}


async def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """W6 Mode 0600, whatever the umask, with what SQLite puts beside it; one that an earlier
    version made is closed to others at its next start."""
    path = tmp_path / "ledger.db"
    before = os.umask(0)
    try:
        for number in (1, 2):
            ledger = open_ledger(path, Clock())
            await put(ledger, f"p{number}", number)
            assert modes_in(tmp_path) == dict.fromkeys(
                ["ledger.db", "ledger.db-shm", "ledger.db-wal"], 0o600
            )
            await ledger.close()
            path.chmod(0o644)
    finally:
        os.umask(before)


async def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """S10 A ledger whose disk has no room says so, is read, and takes the write when there is."""
    ledger = open_ledger(tmp_path / "ledger.db", Clock())

    async def bounded(pages: int) -> None:
        """Let SQLite find no room beyond so many pages, as on a disk that has none."""
        await ledger._file.write(lambda db: db.execute(f"PRAGMA max_page_count = {pages}"))

    await put(ledger, "p", 1)
    await bounded(1)  # it never takes what is there
    with pytest.raises(LedgerFull) as full:  # noqa: PT012 - which one is too much, SQLite decides
        for number in range(2, 200):
            await put(ledger, f"p{number}", number)
    failure = translate(full.value)

    assert failure is not None
    assert (failure.code.name, failure.reason) == ("RESOURCE_EXHAUSTED", "ERROR_REASON_DISK_FULL")
    assert await ledger.read("one", lambda tx: tx.proposal("p"))
    await bounded(100_000)
    await put(ledger, "again", 1_000)
    await ledger.close()


async def test_a_locked_file_is_told(tmp_path: Path) -> None:
    """A1 A ledger that another process holds is busy, and nothing is written."""
    opened = open_ledger(tmp_path / "ledger.db", Clock(), busy_seconds=0.05)
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(LedgerBusy):
            await opened.write("one", lambda tx: tx.append([ENTRY]))
        other.execute("ROLLBACK")
    await opened.close()
