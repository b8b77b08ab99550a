"""Working out how items stand, in spaces that were written before the store kept it (G16 T2).

It must say what the writes said, but for two things. A write that changes an item twice may keep
one span as two that say the same. And what was known before the last erasure of a value is worked
out from the erased record, which no longer says what that value ended.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from concord_chassis.observe.log import Logger, json_lines
from concord_graph.adapters.sqlite.store import open_store
from concord_graph.adapters.sqlite.writes import SqliteWrites
from concord_graph.bootstrap import opened
from concord_graph.config import SqliteConfig
from concord_graph.usecases.write import settled_anew
from graph_world import Clock, world
from random_history import enrolled, write_in_row

SPACES = ("home", "other")
SETTLER = """
import asyncio, sys, time
from pathlib import Path
from concord_graph.adapters.sqlite.store import open_store
from concord_graph.usecases.write import settled_anew

def tell(space, done, changes, left=[int(sys.argv[2]) + 3]):
    print(space, done, flush=True)
    left[0] -= 1
    if not left[0]:
        time.sleep(60)  # it is killed before its end

settled_anew._A_PAGE = 1
asyncio.run(settled_anew.settle_store(open_store(Path(sys.argv[1]), lambda: 0), tell))
"""

Spans = list[tuple[tuple[object, ...], int, int]]
Progress = list[tuple[str, int, int]]


class _Stopped(Exception):
    """Ends a conversion before its end."""


async def write(path: Path, seed: int, *, erasing: bool) -> None:
    """Write at random in two spaces."""
    draw = random.Random(seed)
    async with world(path) as live:
        for name in SPACES:
            space = await enrolled(live, name)
            for _ in range(60):
                await write_in_row(space, draw, erasing=erasing)


def standings(path: Path) -> Spans:
    """Return how each item stands, from and until when, as known since a value was erased last."""
    spans: Spans = []
    with closing(sqlite3.connect(path)) as db:
        erased = dict(db.execute("SELECT space, max(erase_time) FROM edge GROUP BY space"))
        rows = db.execute("SELECT * FROM standing ORDER BY space, id, record_from").fetchall()
    for space, item_id, record_from, until, *columns in rows:
        since, says = max(record_from, erased[space]), (space, item_id, *columns)
        if until <= since:
            continue
        if spans and spans[-1][0] == says and spans[-1][2] == since:
            _, since, _ = spans.pop()
        spans.append((says, since, until))
    return spans


def unsettle(path: Path) -> Spans:
    """Leave a store as one that does not know how items stand; return what it knew."""
    known = standings(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM standing")
        db.execute("UPDATE space SET unsettled = 1 WHERE seq > 0")
    assert known
    return known


async def settle(path: Path, tell: Callable[[str, int, int], None] | None = None) -> Progress:
    """Convert a store; return what it told of its progress to who gave no `tell`."""
    told = Progress()
    store = open_store(path, Clock())
    try:
        await settled_anew.settle_store(store, tell or (lambda *each: told.append(each)))
    finally:
        await store.close()
    return told


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was written to at random, to be copied."""
    path = tmp_path_factory.mktemp("written") / "graph.db"
    asyncio.run(write(path, 1, erasing=False))
    return path


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.soak) for n in range(4, 120))]
)
async def test_it_says_what_the_writes_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """G16 T2 At all times of the record, however long the pages are."""
    path = tmp_path / "graph.db"
    await write(path, seed, erasing=seed % 2 == 1)
    known = unsettle(path)
    monkeypatch.setattr(settled_anew, "_A_PAGE", (1, 7, 1_000)[seed % 3])

    await settle(path)

    assert standings(path) == known


@pytest.mark.parametrize(("stopped", "done"), [("between two pages", 3), ("in a page", 2)])
async def test_it_goes_on_after_the_last_page_that_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Path, stopped: str, done: int
) -> None:
    """G16 A page is kept together with the number of the change at which the next one begins."""
    path, first = tmp_path / "graph.db", Progress()
    shutil.copy(written, path)
    known = unsettle(path)
    shutil.copy(path, tmp_path / "whole.db")
    monkeypatch.setattr(settled_anew, "_A_PAGE", 15)
    keep = SqliteWrites.keep_unsettled

    def tell(*told: Any) -> None:
        if stopped == "between two pages" and len(first) == 3:
            raise _Stopped
        first.append(told)

    async def fail(tx: SqliteWrites, number: int) -> None:
        await keep(tx, number)
        if stopped == "in a page" and len(first) == 3:
            raise _Stopped

    with monkeypatch.context() as patch:
        patch.setattr(SqliteWrites, "keep_unsettled", fail)
        with pytest.raises(_Stopped):
            await settle(path, tell)
    halfway = standings(path)
    second = await settle(path)

    assert second == (await settle(tmp_path / "whole.db"))[done:]
    assert 0 < len(halfway) < len(known)
    assert standings(path) == known
    assert await settle(path) == []


async def test_who_is_overtaken_goes_on_until_all_is_settled(
    tmp_path: Path, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G16 Of two processes at once, each serves a space that is settled whole."""
    path = tmp_path / "graph.db"
    shutil.copy(written, path)
    known = unsettle(path)
    monkeypatch.setattr(settled_anew, "_A_PAGE", 15)
    settle_page = settled_anew._settle

    def stop(_: str, done: int, __: int) -> None:
        if done:
            raise _Stopped

    async def overtaken(*of_page: Any) -> None:
        monkeypatch.setattr(settled_anew, "_settle", settle_page)
        with pytest.raises(_Stopped):  # the other one settles a page, and is stopped
            await settle(path, stop)
        await settle_page(*of_page)

    monkeypatch.setattr(settled_anew, "_settle", overtaken)
    await settle(path)

    assert standings(path) == known
    assert await settle(path) == []


@pytest.mark.slow
@pytest.mark.parametrize("pages", [1, 35])
def test_it_goes_on_after_kill_9(tmp_path: Path, written: Path, pages: int) -> None:
    """G16 Killed at any moment, a store opens again, and says what the writes said."""
    path, log = tmp_path / "graph.db", io.StringIO()
    shutil.copy(written, path)
    known = unsettle(path)
    command = [sys.executable, "-c", SETTLER, str(path), str(pages)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [process.stdout.readline().split() for _ in range(pages)]
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    asyncio.run(open_and_close(path, json_lines("graph", stream=log)))

    went_on = json.loads(log.getvalue().splitlines()[0])
    assert [went_on["space"], went_on["done"]] >= [told[-1][0], int(told[-1][1])]
    assert standings(path) == known


async def open_and_close(path: Path, log: Logger) -> None:
    """Open a store as graph does at its start."""
    store = await opened(SqliteConfig(store_path=path), Clock(), log=log)
    await store.close()
