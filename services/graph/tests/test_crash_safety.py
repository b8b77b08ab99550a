"""Killed in the middle of writing: what was acknowledged is there, each with its outbox row."""

import asyncio
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from graph_world import world

WRITER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from concord.type.v1 import type_pb2
from graph_world import world

async def main():
    async with world(Path(sys.argv[1])) as live:
        home = live.calls()
        for number in range(100_000):
            if number % 3 == 0:
                ids = [(await home.add(f"fact {number}", id=f"m{number}")).id]
            elif number % 3 == 1:
                batch = [type_pb2.Memory(id=f"m{number}.{n}", content="x") for n in range(20)]
                ids = [r.memory_id for r in (await home.batch(batch)).results]
            else:
                ids = [(await home.put_edge(f"a{number}", "R", f"b{number}")).id]
            print(" ".join(ids), flush=True)

asyncio.run(main())
"""


def killed_after(path: Path, acknowledged: int) -> list[str]:
    """Write until this many writes were acknowledged, kill -9; return the acknowledged ids."""
    command = [sys.executable, "-c", WRITER, str(path), str(Path(__file__).parent)]
    ids: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(acknowledged):
            ids += process.stdout.readline().split()
        process.send_signal(signal.SIGKILL)
        for line in process.stdout:  # what was told before the kill came
            if line.endswith("\n"):
                ids += line.split()
    assert process.returncode == -signal.SIGKILL
    return ids


@pytest.mark.slow
@pytest.mark.parametrize("acknowledged", [1, 40])
def test_what_was_acknowledged_survives_kill_9(tmp_path: Path, acknowledged: int) -> None:
    """Must hold: nothing lost, torn or unrecorded; and the store goes on."""
    path = tmp_path / "graph.db"
    ids = killed_after(path, acknowledged)
    asyncio.run(_goes_on(path))
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        changes = db.execute("SELECT seq, item_id, revision FROM change ORDER BY seq").fetchall()
        rows = {
            (row[0], row[1])
            for table in ("node", "edge", "memory")
            for row in db.execute(f"SELECT id, revision FROM {table}")
        }
        receipts = [row[0] for row in db.execute("SELECT refs FROM request")]
        head = db.execute("SELECT seq FROM space").fetchone()[0]

    told = {(item_id, revision) for _, item_id, revision in changes}
    assert len(ids) >= acknowledged
    assert set(ids) <= {item_id for item_id, _ in told}
    assert told == rows
    assert [seq for seq, _, _ in changes] == list(range(1, head + 1))
    written = re.findall(r'"id":"([^"]*)"', "".join(receipts))
    assert set(ids) <= set(written)
    batches = [item_id for item_id, _ in told if item_id.count(".") == 1]
    assert len(batches) % 20 == 0


async def _goes_on(path: Path) -> None:
    async with world(path) as live:
        await live.calls().put_node("after")
