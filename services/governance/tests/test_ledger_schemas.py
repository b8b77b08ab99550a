"""A ledger file of another schema than today's is refused, and stays as it is (G16)."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_stores.sqlite_file import FileUnusable
from ledger_world import Clock


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

    assert f"{path} has schema {schema}, this program knows 10" in str(caught.value)
    assert "run the version of Concord that wrote it" in str(caught.value)
    assert ("or commit 85b147cc" in str(caught.value)) == (schema < 9)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone() == (
            str(schema),
        )
