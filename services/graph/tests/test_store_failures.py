"""A store that cannot serve says what to do; one that fails later is not taken for a good one."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit

import pytest
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call import deadline
from concord_chassis.call.failure import Failure
from concord_chassis.server import background
from concord_graph.adapters.sqlite.reads import SqliteReads
from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.adapters.sqlite.store import open_store
from concord_graph.domain.errors import StoreUnusable
from concord_graph.ports import Reads
from concord_graph.usecases.read import touches
from concord_testing.polling import until
from graph_world import START, Calls, Clock, World, refused, world


def unusable(path: Path, *, busy_seconds: float = 0.05) -> str:
    """Return what opening says."""
    with pytest.raises(StoreUnusable) as caught:
        open_store(path, Clock(), busy_seconds=busy_seconds)
    return str(caught.value)


async def filled(path: Path) -> None:
    """Make a store with a few items, all of them in the main file."""
    async with world(path) as live:
        for number in range(50):
            await live.calls().put_edge(f"a{number}", "R", f"b{number}")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_what_is_no_database(tmp_path: Path) -> None:
    """Must hold: a sentence that says what to do."""
    path = tmp_path / "graph.db"
    path.write_text("hello, this is a letter and no database at all\n" * 50)

    assert "is damaged: move it away and restore a copy" in unusable(path)


async def test_a_damaged_file(tmp_path: Path) -> None:
    """Must hold: found at start, before anything is served from it."""
    path = tmp_path / "graph.db"
    await filled(path)
    data = bytearray(path.read_bytes())
    data[8192 : len(data) - 4096] = b"\xa5" * (len(data) - 12288)
    path.write_bytes(data)

    assert "is damaged: move it away and restore a copy" in unusable(path)


def test_another_programs_database(tmp_path: Path) -> None:
    """Must hold: it is left as it is."""
    path = tmp_path / "graph.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE songs (title TEXT)")

    assert "is another program's database: choose another directory" in unusable(path)
    with closing(sqlite3.connect(path)) as db:
        assert [row[0] for row in db.execute("SELECT name FROM sqlite_master")] == ["songs"]


async def test_a_newer_schema(tmp_path: Path) -> None:
    """G16 Must hold: which one it has, which one this program knows."""
    path = tmp_path / "graph.db"
    await filled(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
        db.commit()

    text = unusable(path)
    assert f"has schema 99, this program knows {SCHEMA.version}" in text
    assert "run the version of Concord that wrote it" in text


def test_a_missing_directory(tmp_path: Path) -> None:
    """Must hold: it is not made by guessing."""
    text = unusable(tmp_path / "nowhere" / "graph.db")

    assert "cannot open" in text
    assert "check that it exists, is yours and is not in use" in text


async def test_a_locked_file(tmp_path: Path) -> None:
    """Must hold: another process holds it; the wait is bounded."""
    path = tmp_path / "graph.db"
    await filled(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")

        assert "is not in use" in unusable(path)
    await open_store(path, Clock()).close()


def test_a_path_that_is_a_directory(tmp_path: Path) -> None:
    """Must hold: a sentence, no traceback."""
    assert "cannot open" in unusable(tmp_path)


async def test_a_held_write_lock_is_overload_and_passes(tmp_path: Path) -> None:
    """RESOURCE_EXHAUSTED with a time to retry after; nothing half-written; then it goes on."""
    path = tmp_path / "graph.db"
    async with world(path, busy_seconds=0.05) as live:
        home = live.calls()
        await home.put_node("before")
        with closing(sqlite3.connect(path, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            failure = await refused(home.put_node("during"))
        after = await home.put_node("after")

        assert (failure.reason, failure.retry_after) == ("ERROR_REASON_OVERLOADED", 1.0)
        assert after.id
        assert len(await home.changes()) == 2
        assert await live.app.ready()


async def test_damage_found_while_serving_ends_serving(live: World, home: Calls) -> None:
    """DATA_LOSS, told in little; health no longer says that it serves."""
    for number in range(200):
        await home.put_node(f"n{number}", label="x" * 100)
    with closing(sqlite3.connect(live.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = db.execute("PRAGMA page_size").fetchone()[0]
    assert await live.app.ready()
    pages = live.path.stat().st_size // size
    with live.path.open("r+b") as file:
        file.seek(size)
        file.write(b"\xa5" * size * (pages - 1))
    failure = await refused(home.graph.ListNodes(graph_pb2.ListNodesRequest(page_size=200)))

    assert failure.reason == "ERROR_REASON_STORE_CORRUPT"
    assert str(live.path) not in failure.message
    assert not await live.app.ready()


async def test_a_full_disk_is_told_and_passes(live: World, home: Calls) -> None:
    """UNAVAILABLE, saying where to look; what is there is read, and later the same request goes."""
    node = await home.put_node("before")
    request = graph_pb2.UpsertNodeRequest(request_id="again", node=type_pb2.Node(name="x" * 500))
    soft, hard = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (live.path.with_name(f"{live.path.name}-wal").stat().st_size, hard))
    try:
        failure = await refused(home.graph.UpsertNode(request))
        found = await home.graph.GetNode(graph_pb2.GetNodeRequest(name="before"))
    finally:
        setrlimit(RLIMIT_FSIZE, (soft, hard))

    assert failure.code.name == "UNAVAILABLE"
    assert failure.reason == "ERROR_REASON_UNAVAILABLE"
    assert "see whether there is room left" in failure.message
    assert found.node.id == node.id
    assert (await home.graph.UpsertNode(request)).created


@pytest.mark.parametrize("part", ["scrub", "touch"])
async def test_work_beside_the_calls_that_died_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """G6 M4 B1 Who counts reads or scrubs no more is named, and goes on by itself."""

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(touches, "FLUSH_SECONDS", 0.01)
    monkeypatch.setattr(background, "WELL_AFTER", 0.2)
    async with world(tmp_path / "graph.db") as live, asyncio.timeout(30):
        tasks = live.app.background
        memory = await live.calls().add("read and erased")
        with monkeypatch.context() as patched:
            patched.setattr(live.app._store, part, broken)
            await live.calls().get(memory.id, peek=False)
            await live.calls().erase(memory)
            await until(lambda: tasks.is_stuck)
            named = tasks.failing
        await until(lambda: not tasks.failing)

    assert set(named) == {{"scrub": "scrub erased words", "touch": "store reads"}[part]}
    assert all(each.startswith("RuntimeError") for each in named.values())


async def test_a_statement_ends_with_the_time_of_its_call(tmp_path: Path) -> None:
    """G10 Nobody waits any more: the store's thread stops in the middle, and is free again."""
    store = open_store(tmp_path / "graph.db", Clock(), readers=1)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    async def never_ends(tx: Reads) -> None:
        assert isinstance(tx, SqliteReads)
        tx._one(endless, ())

    try:
        deadline.enter(0.1)
        with pytest.raises(Failure) as late:
            await store.read("home", never_ends)
        deadline.enter(None)

        assert late.value.reason == "ERROR_REASON_DEADLINE_EXCEEDED"
        assert await store.ready()
    finally:
        await store.close()


async def test_only_counting_reads_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    """G6 What is written after reads were counted is as durable as before."""
    store = open_store(tmp_path / "graph.db", Clock())

    def level() -> int:
        with store._file.transaction() as db:
            return int(db.execute("PRAGMA synchronous").fetchone()[0])

    levels: list[int] = []
    await store.touch({("home", "m"): (1, START)}, {}, lambda: levels.append(level()))
    levels.append(await store._file.writing(level))

    assert levels == [1, 2]
    await store.close()
