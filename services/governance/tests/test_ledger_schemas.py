"""A ledger file of another schema than today's is refused, and stays as it is (G16)."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_governance.domain.access import SignIn
from concord_stores.sqlite_file import FileUnusable
from ledger_world import NOW, Clock


@pytest.mark.parametrize("schema", [7, 8, 99])
async def test_a_schema_that_has_no_conversion_is_refused(schema: int, tmp_path: Path) -> None:
    """G16 The sentence says which schema the file has, which one is known, and what to do."""
    path = tmp_path / "ledger.db"
    await open_ledger(path, Clock()).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(schema),))
        db.commit()

    with pytest.raises(FileUnusable) as caught:
        open_ledger(path, Clock())

    assert f"{path} has schema {schema}, this program knows 11" in str(caught.value)
    assert "run the version of Concord that wrote it" in str(caught.value)
    assert ("or commit 85b147cc" in str(caught.value)) == (schema < 9)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone() == (
            str(schema),
        )


async def test_a_file_of_before_gets_the_table_of_sign_ins(tmp_path: Path) -> None:
    """G16 A ledger of schema 9 is converted when it is opened, its rows as they were."""
    path = tmp_path / "ledger.db"
    await open_ledger(path, Clock()).close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE access_sign_in")
        db.execute("INSERT INTO space (name) VALUES ('one')")
        db.execute("UPDATE meta SET value = '9' WHERE key = 'schema'")

    ledger = open_ledger(path, Clock())
    made = SignIn("a" * 64, "b" * 12, False, NOW, NOW)
    await ledger.write("one", lambda tx: tx.put_sign_in(made))

    assert await ledger.spaces() == ["one"]
    assert await ledger.read("one", lambda tx: tx.sign_in(made.digest)) == made
    await ledger.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone() == ("11",)
