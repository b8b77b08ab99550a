"""The data directory of an earlier version opens, and holds what it held (G16).

`former_data/write.sh` wrote it, with the program of commit 85b147cc; its index is left out, as it
is made anew from the graph.
"""

import asyncio
import json
import sqlite3
import subprocess
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from concord.graph.v1 import memory_pb2
from concord_client.client import AsyncClient
from concord_client.credentials import Target
from concord_embedded import Running, running
from concord_testing.up_process import ran

WRITTEN = Path(__file__).with_name("former_data") / "data.tar.xz"


def unpacked(folder: Path) -> Path:
    """Return the folder of the data directory, and beside it what its program exported."""
    with tarfile.open(WRITTEN) as archive:
        archive.extractall(folder, filter="data")
    (folder / "data").chmod(0o700)
    return folder / "data"


def concord(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of today's command line."""
    environ = {"CONCORD_STATE": str(data.parent / "state.json"), "HOME": str(data.parent)}
    return ran("--data", str(data), *arguments, environ=environ)


def schema(file: Path) -> str:
    """Return the version of a store's tables."""
    with closing(sqlite3.connect(file)) as db:
        return str(db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()[0])


def lines(text: str) -> list[dict[str, Any]]:
    """Return the lines of a state export."""
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.slow
async def test_a_data_directory_of_before_opens(tmp_path: Path) -> None:
    """G16 A2 The state is as it was, old and new exports of the log verify, memory goes on."""
    data = unpacked(tmp_path)
    stores = (data / "graph" / "graph.db", data / "governance" / "ledger.db")
    assert [schema(file) for file in stores] == ["35", "9"]  # nobody converted them before
    log = tmp_path / "log.jsonl"
    old = await asyncio.to_thread(concord, data, "audit", "verify", str(log))
    async with running(data, environ={}, grace=1.0) as system:
        state = await asyncio.to_thread(concord, data, "export")
        exported = str(tmp_path / "exported.jsonl")
        await asyncio.to_thread(concord, data, "audit", "export", exported)
        new = await asyncio.to_thread(concord, data, "audit", "verify", exported, "--store")
        checked = await asyncio.to_thread(concord, data, "check")
        await _goes_on(system)
    assert lines(state.stdout) == lines((tmp_path / "state.jsonl").read_text("utf-8"))
    for verified in (old, new):
        assert verified.returncode == 0, verified.stdout + verified.stderr
        assert "The log holds" in verified.stdout
    assert checked.returncode == 0, checked.stdout + checked.stderr
    async with running(data, environ={}, grace=1.0) as again:
        await _goes_on(again)


async def _goes_on(system: Running) -> None:
    """Look for what was replaced and erased, and restore what was forgotten."""
    async with AsyncClient(Target(system.url, system.keys["default"])) as client:

        async def get(memory_id: str) -> memory_pb2.GetMemoryResponse:
            return await client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id))

        office = (await get("office-1")).memory
        assert list(office.supersession.head_ids) == ["office-2"]
        assert (await get("lunch")).memory.content == "Lunch is at one."
        assert (await get("secret")).memory.HasField("erase_time")
