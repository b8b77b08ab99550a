"""The data directory of the last version before this one opens, and holds what it held (G16).

`e65dbee/write.sh` wrote it, with the program of that commit; its index is left out, as it is made
anew from the graph.
"""

import asyncio
import json
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from concord.graph.v1 import memory_pb2
from concord_client.client import AsyncClient
from concord_client.credentials import Target
from concord_embedded import Running, running

WRITTEN = Path(__file__).with_name("e65dbee") / "data.tar.xz"


def unpacked(folder: Path) -> Path:
    """Return the folder of the data directory, and beside it what its program exported."""
    with tarfile.open(WRITTEN) as archive:
        archive.extractall(folder, filter="data")
    (folder / "data").chmod(0o700)
    return folder / "data"


def concord(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of today's command line."""
    return subprocess.run(
        [sys.executable, "-m", "concord_client", "--data", str(data), *arguments],
        env={"CONCORD_STATE": str(data.parent / "state.json"), "HOME": str(data.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def schema(file: Path) -> str:
    """Return the version of a store's tables."""
    with closing(sqlite3.connect(file)) as db:
        return str(db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()[0])


def lines(text: str) -> list[dict[str, Any]]:
    """Return the lines of a state export, without declared relations: e65dbee left them out."""
    told = [json.loads(line) for line in text.splitlines()]
    return [line for line in told if line["kind"] != "relation"]


@pytest.mark.slow
async def test_a_data_directory_of_e65dbee_opens(tmp_path: Path) -> None:
    """G16 A2 The state is as it was, the log verifies against the store, memory goes on."""
    data = unpacked(tmp_path)
    stores = (data / "graph" / "graph.db", data / "governance" / "ledger.db")
    assert [schema(file) for file in stores] == ["19", "7"]  # nobody converted them before
    async with running(data, environ={}, grace=1.0) as system:
        state = await asyncio.to_thread(concord, data, "export")
        log = str(tmp_path / "log.jsonl")
        verified = await asyncio.to_thread(concord, data, "audit", "verify", log, "--store")
        await _goes_on(system)
    before = lines((tmp_path / "state.jsonl").read_text("utf-8"))
    after = lines(state.stdout)
    assert len(before) == len(after), state.stderr
    for old in before:
        assert any(old.items() <= new.items() for new in after), old
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "The log holds" in verified.stdout
    async with running(data, environ={}, grace=1.0) as again:
        await _goes_on(again)


@pytest.mark.slow
async def test_a_key_of_e65dbee_opens_what_its_scopes_open_today(tmp_path: Path) -> None:
    """G16 W7 After the upgrade `status` ends with 0 and `check` looks, though the permissions of
    dissonance did not exist when the key was written."""
    data = unpacked(tmp_path)
    async with running(data, environ={}, grace=1.0):
        for command in ("status", "check", "briefing"):
            done = await asyncio.to_thread(concord, data, command)
            assert done.returncode == 0, done.stdout + done.stderr


async def _goes_on(system: Running) -> None:
    """Look for what was replaced and erased, and restore what was forgotten."""
    async with AsyncClient(Target(system.url, system.keys["default"])) as client:

        async def get(memory_id: str) -> memory_pb2.GetMemoryResponse:
            return await client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id))

        office = (await get("office-1")).memory
        assert list(office.supersession.head_ids) == ["office-2"]
        assert (await get("lunch")).memory.content == "Lunch is at one."
        assert (await get("secret")).memory.HasField("erase_time")
