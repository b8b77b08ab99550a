"""A ledger file that commit e65dbee wrote opens, converted once; nothing in between does (G16)."""

import gzip
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from concord_attestation.tree import Frontier, leaf_hash
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_governance.domain.access import Space
from concord_governance.domain.proposals import Status
from concord_governance.ports.ledger import LedgerReads, LedgerWrites
from concord_stores.sqlite_file import FileUnusable
from ledger_world import ENTRY, NOW, Clock

DUMP = Path(__file__).with_name("e65dbee") / "ledger.sql.gz"
LEAVES = 74
STATUSES = {"PENDING": 4, "REJECTED": 1, "EXECUTED": 7, "FAILED": 1, "UNDONE": 2}


def written_before(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Restore the file; return what its tables hold."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(gzip.decompress(DUMP.read_bytes()).decode())
        return tables_of(db)


def tables_of(db: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every table but its settings, columns in their order."""
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: sorted(db.execute(f"SELECT * FROM {name}")) for name in names if name != "meta"}


async def test_a_ledger_of_e65dbee_is_converted(tmp_path: Path) -> None:
    """G16 A2 W7 Proposals, log, nonces and feed are as they were; the log goes on under the same
    root, and what came since, keys and spaces, has its tables."""
    path = tmp_path / "ledger.db"
    before = written_before(path)

    ledger = open_ledger(path, Clock())

    async def look(tx: LedgerReads) -> None:
        assert await tx.log_size() == LEAVES
        found = await tx.proposals([], "", 100, 100)
        assert Counter(each.status.name for each in found) == STATUSES
        assert found[0].status == Status.PENDING
        assert [(each.slot, each.revoked) for each in found[0].consents] == [("AGENT", False)]
        assert (await tx.feed_cursor()).seq == 27
        assert await tx.key_changes() == 1
        assert await tx.key_of_id("none") is None
        hashes = [leaf_hash(leaf.data) for leaf in await tx.leaves(0, LEAVES)]
        names = Frontier.edge_of(LEAVES)
        stored = await tx.nodes(names)
        whole = Frontier(0, [])
        for each in hashes:
            whole.append(each)
        assert Frontier(LEAVES, [stored[name] for name in names]).root() == whole.root()

    async def go_on(tx: LedgerWrites) -> None:
        await tx.put_space(Space("one", NOW))
        await tx.append([ENTRY])

    await ledger.read("one", look)
    await ledger.write("one", go_on)
    assert await ledger.read("one", lambda tx: tx.log_size()) == LEAVES + 1
    await ledger.close()
    again = open_ledger(path, Clock())
    assert await again.read("one", lambda tx: tx.space_named("one")) == Space("one", NOW)
    await again.close()
    with closing(sqlite3.connect(path)) as db:
        after = tables_of(db)
        with pytest.raises(sqlite3.IntegrityError):
            db.execute("DELETE FROM access_space")
    kept = set(before) - {"space", "leaf", "tree"}  # these go on
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


@pytest.mark.parametrize("schema", [6, 8, 99])
def test_a_schema_that_no_release_had_is_refused(schema: int, tmp_path: Path) -> None:
    """G16 The sentence says which schema the file has, which one is known, and what to do."""
    path = tmp_path / "ledger.db"
    written_before(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(schema),))
        db.commit()

    with pytest.raises(FileUnusable) as caught:
        open_ledger(path, Clock())

    assert f"{path} has schema {schema}, this program knows 9" in str(caught.value)
    assert "run the version of Concord that wrote it" in str(caught.value)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone() == (
            str(schema),
        )
