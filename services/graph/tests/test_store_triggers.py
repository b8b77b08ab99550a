"""The store's own protection: what the use cases promise, kept again by the file itself."""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from claim_world import let_anybody
from concord.type.v1 import type_pb2
from governed_actions import with_constitutive
from graph_world import (
    CONSTITUTIVE,
    PROTECTED,
    SUPERSEDES,
    Clock,
    fact,
    reason,
    refused,
    world,
)

COLUMNS = {
    table: f"SELECT name FROM pragma_table_info('{table}') WHERE name <> 'record_until'"
    for table in ("node", "edge", "memory")
}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with constitutive items: an edge between nodes, a memory, governed lineage."""
    file = tmp_path_factory.mktemp("furnished") / "graph.db"
    asyncio.run(_furnish(file))
    return file


async def _furnish(file: Path) -> None:
    async with world(file) as live:
        await with_constitutive(live)


@pytest.fixture
def path(tmp_path: Path, furnished: Path) -> Path:
    """A copy of that store."""
    return Path(shutil.copy(furnished, tmp_path / "graph.db"))


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection as anybody's program would open it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA recursive_triggers = ON")
        yield connection


ENDS = "id IN (SELECT id FROM held)"

ATTEMPTS = {
    "delete the edge": "DELETE FROM edge WHERE edge_type = 2",
    "delete the memory": "DELETE FROM memory WHERE edge_type = 2",
    "delete its end": f"DELETE FROM node WHERE {ENDS}",
    "delete all history": "DELETE FROM edge",
    "delete the record": "DELETE FROM change",
    "rewrite the record": "UPDATE change SET principal = 'nobody'",
    "close the edge": "UPDATE edge SET record_until = 1 WHERE edge_type = 2",
    "close the memory": "UPDATE memory SET record_until = 1 WHERE edge_type = 2",
    "close its end": f"UPDATE node SET record_until = 1 WHERE {ENDS}",
    "close governed lineage": "UPDATE edge SET record_until = 1 WHERE governed = 1",
    "replace the edge": "INSERT OR REPLACE INTO edge SELECT * FROM edge WHERE edge_type = 2",
    "replace the memory": "INSERT OR REPLACE INTO memory SELECT * FROM memory WHERE edge_type = 2",
    "replace the genesis": "INSERT OR REPLACE INTO genesis SELECT space, x'00', '' FROM genesis",
    "delete the genesis": "DELETE FROM genesis",
    "rewrite the genesis": "UPDATE genesis SET envelope = x'00'",
    "forget a nonce": "DELETE FROM nonce",
    "rename a nonce": "UPDATE nonce SET nonce = nonce || 'x'",
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_raw_sql_neither_removes_nor_rewrites(db: sqlite3.Connection, attempt: str) -> None:
    """G4 V5 The file refuses, whoever asks."""
    with pytest.raises(sqlite3.IntegrityError, match=r"constitutive|append-only"):
        db.execute(ATTEMPTS[attempt])


@pytest.mark.parametrize("table", COLUMNS)
def test_no_column_of_a_revision_is_rewritten(db: sqlite3.Connection, table: str) -> None:
    """G4 M4 All but the end of its record interval, which a successor sets."""
    columns = [row[0] for row in db.execute(COLUMNS[table])]

    assert len(columns) > 10
    for column in columns:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            db.execute(f"UPDATE {table} SET {column} = {column}")


@pytest.mark.parametrize("revision", [2, 7])
@pytest.mark.parametrize(
    ("table", "which"),
    [
        ("edge", "edge_type = 2"),
        ("memory", "edge_type = 2"),
        ("edge", "governed = 1"),
        ("node", ENDS),
    ],
)
def test_no_tombstone_is_put_over_it(
    db: sqlite3.Connection, table: str, which: str, revision: int
) -> None:
    """G4 Whatever number it gives itself, and wherever its record interval lies."""
    names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    values = {"revision": str(revision), "deleted": "1", "record_until": "record_until - 1"}
    columns = ", ".join(values.get(name, name) for name in names)

    with pytest.raises(sqlite3.IntegrityError, match="constitutive"):
        db.execute(f"INSERT INTO {table} SELECT {columns} FROM {table} WHERE {which}")


def test_nothing_constitutive_is_put_in(db: sqlite3.Connection) -> None:
    """G5 Neither promoted nor new."""
    names = [row[1] for row in db.execute("PRAGMA table_info(memory)")]
    values = {"id": "'usurper'", "edge_type": "2", "external_id": "NULL"}
    columns = ", ".join(values.get(name, name) for name in names)

    with pytest.raises(sqlite3.IntegrityError, match="constitutive"):
        db.execute(f"INSERT INTO memory SELECT {columns} FROM memory WHERE id = 'note'")


PROTECTING = [
    "edge_protected_insert",
    "memory_protected_insert",
    "node_protected_insert",
    "edge_protected_close",
    "memory_protected_close",
    "node_protected_close",
]


@pytest.fixture
def unruled(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store, with use cases that protect nothing."""
    let_anybody(monkeypatch)
    return path


async def test_a_batch_goes_on_after_what_the_second_line_refuses(unruled: Path) -> None:
    """G4 M6 Each item is judged as if the refused one had not come."""
    async with world(unruled, clock=Clock()) as live:
        home = live.calls()
        await home.add("free", id="free")
        usurper = type_pb2.Memory(id="free", content="I am", edge_type=CONSTITUTIVE)
        reply = await home.batch(
            [usurper, type_pb2.Memory(id="free", content="changed")], update_existing=True
        )

        assert [(error.index, error.reason) for error in reply.errors] == [(0, PROTECTED)]
        assert (await home.get("free")).content == "free"


@pytest.mark.parametrize("dropped", [None, *PROTECTING])
async def test_the_second_line_holds_when_the_first_is_off(
    unruled: Path, dropped: str | None
) -> None:
    """G4 With the rule switched off every write is refused all the same; without a trigger not."""
    if dropped:
        partners = {name for name in PROTECTING if name.split("_")[0] == dropped.split("_")[0]}
        with closing(sqlite3.connect(unruled)) as db:
            for name in partners:
                db.execute(f"DROP TRIGGER {name}")
            db.commit()
    async with world(unruled, clock=Clock()) as live:
        home = live.calls()
        edge = await home.get_triple("Me", "VALUES", "Honesty")
        core = await home.get("core")
        node = await home.get_node("Honesty")
        core.content = "changed"
        node.name = "Deceit"
        attempts = {
            "memory": home.update(core, "content"),
            "node": home.update_node(node, "name"),
            "edge": home.delete_edge(edge),
        }
        for table, attempt in attempts.items():
            if dropped and dropped.startswith(table):
                await attempt
            else:
                failure = await refused(attempt)
                assert failure.reason == PROTECTED
        if dropped is None or not dropped.startswith("edge"):
            hiding = home.relate(SUPERSEDES, "note", edge.id)
            assert await reason(hiding) in {PROTECTED, "ERROR_REASON_FIELD_INVALID"}
            assert await reason(home.add("Amends: [[memory:core]]")) == PROTECTED


async def test_what_is_stated_is_append_only(tmp_path: Path) -> None:
    """M1 T3 The file keeps who stated what, and what was declared, whoever asks."""
    file = tmp_path / "stated.db"
    async with world(file) as live:
        await live.calls().declare("KNOWS")
        await live.calls().add("note", facts=[fact("a", "KNOWS", "b")])
    with closing(sqlite3.connect(file)) as connection:
        for sql in (
            "DELETE FROM support",
            "UPDATE support SET edge_id = 'x'",
            "DELETE FROM relation",
            "UPDATE relation SET functional = 0",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(sql)
