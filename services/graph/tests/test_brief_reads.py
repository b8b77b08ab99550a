"""What is short is read on the event loop's thread; everything else in a reader's."""

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from concord_graph.adapters.sqlite.store import SqliteStore, open_store
from concord_graph.ports import Reads
from graph_world import Clock

Where = Callable[[Reads], Awaitable[threading.Thread]]


async def where(_tx: Reads) -> threading.Thread:
    """Return the thread that does the work."""
    return threading.current_thread()


@pytest.mark.parametrize("brief", [True, False])
async def test_where_a_read_runs(tmp_path: Path, brief: bool) -> None:
    """Must hold (W5): only brief work keeps the event loop."""
    store = open_store(tmp_path / "graph.db", Clock())

    found = await store.read("a", where, brief=brief)

    assert (found is threading.current_thread()) == brief
    await store.close()


async def test_while_reads_are_being_stored(tmp_path: Path) -> None:
    """Must hold (G6): a brief read does not keep the loop waiting for the store of counted reads,
    and a reader's thread answers it."""
    store = open_store(tmp_path / "graph.db", Clock())
    assert isinstance(store, SqliteStore)
    waits = threading.Timer(0.2, store._visible.release)
    store._visible.acquire()
    waits.start()

    found = await store.read("a", where, brief=True)

    assert found is not threading.current_thread()
    await store.close()


async def test_brief_work_that_is_long_after_all(tmp_path: Path) -> None:
    """Must hold (W5): it starts again in a reader's thread, and answers."""
    store = open_store(tmp_path / "graph.db", Clock())
    threads: list[threading.Thread] = []

    async def work(tx: Reads) -> int:
        threads.append(threading.current_thread())
        found: int = tx._db.execute(  # type: ignore[attr-defined] # SQLite's own
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)"
            " SELECT count(*) FROM n"
        ).fetchone()[0]
        return found

    assert await store.read("a", work, brief=True) == 1_000_000
    assert [each is threading.current_thread() for each in threads] == [True, False]
    await store.close()
