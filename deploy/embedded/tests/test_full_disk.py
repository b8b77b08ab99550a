"""A disk that fills up: nothing dies, stored memories can be read, and refusals say why."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, Refused, connect_async
from concord_embedded.errors import StartError
from concord_embedded.system import Running, running
from concord_testing.command_line import CommandLine

DISK = 192 << 20
SECONDS = 60.0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system for the test alone."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


@contextmanager
def left(disk: Path, kibibytes: int) -> Iterator[None]:
    """Leave only so much room on the disk while the block runs."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - (kibibytes << 10))
    try:
        yield
    finally:
        filler.unlink()


def client_of(system: Running) -> AsyncClient:
    """A client of the default space."""
    return connect_async(system.url, system.keys["default"], timeout=SECONDS)


async def add(client: AsyncClient, memory_id: str, content: str) -> None:
    """Remember a text."""
    memory = type_pb2.Memory(id=memory_id, content=content)
    await client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))


async def search(client: AsyncClient, text: str) -> search_pb2.SearchResponse:
    """Look for a text."""
    return await client.search.Search(search_pb2.SearchRequest(query=text))


async def is_found(client: AsyncClient, text: str) -> bool:
    """Whether a search for a text finds anything."""
    return bool((await search(client, text)).results)


async def is_following(client: AsyncClient) -> bool:
    """Whether the index says that it follows."""
    return (await client.index.GetIndexStatus(search_pb2.GetIndexStatusRequest())).following


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Returns once the condition holds; fails if it does not hold for long."""
    async with asyncio.timeout(SECONDS):
        while not await holds():  # noqa: ASYNC110 - it asks the services
            await asyncio.sleep(0.05)


async def fill(client: AsyncClient) -> Refused:
    """Remember until there is no room; return why."""
    for number in range(200):
        try:
            await add(client, f"filling-{number}", f"{number} " * 3_000)
        except Refused as refused:
            return refused
    raise AssertionError("there was room for everything")


async def has(client: AsyncClient, memory_id: str) -> bool:
    """Whether graph reads a memory."""
    found = await client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id))
    return found.status == type_pb2.LOOKUP_STATUS_FOUND


async def test_a_full_disk_stops_writes_and_nothing_else(disk: Path) -> None:
    """S10 W6 While it runs and over a start: graph is read, a write says that there is no room,
    the index says that it does not follow, a search that it may lack something; and all of it
    mends itself once there is room."""
    async with running(disk / "data") as system, client_of(system) as client:
        await add(client, "fox", "A red fox.")
        await eventually(lambda: is_following(client))
        await eventually(lambda: is_found(client, "fox"))
        with left(disk, 160):
            assert (await fill(client)).reason == "ERROR_REASON_DISK_FULL"
            await eventually(lambda: _not(is_following(client)))
            assert (await search(client, "fox")).index_incomplete
            assert await has(client, "fox")
    with left(disk, 160):
        async with running(disk / "data") as system, client_of(system) as client:
            assert f"{disk}/data/index" in system.disk_full
            assert "needs 64 MiB" in system.disk_full
            assert await has(client, "fox")
            assert not await is_following(client)
            with pytest.raises(Refused, match="no room") as refused:
                await search(client, "fox")
            assert refused.value.code is grpc.StatusCode.UNAVAILABLE
            full = await fill(client)
            assert full.code is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert full.retry_after
            (disk / "filler").write_bytes(b"")
            await eventually(lambda: is_following(client))
            assert (await search(client, "fox")).results[0].memory.id == "fox"
            await add(client, "whale", "A blue whale.")


async def test_an_index_that_cannot_begin_says_so(disk: Path) -> None:
    """S10 W6 A new system without room for an index says so, and does not count as up to date."""
    with left(disk, 16 << 10):
        async with running(disk / "data") as system, client_of(system) as client:
            assert f"{disk}/data/index" in system.disk_full
            assert "needs 64 MiB" in system.disk_full
            await add(client, "fox", "A red fox.")
            concord = CommandLine({"CONCORD_DATA": str(disk / "data")})
            told = await asyncio.to_thread(concord.done, "status")
            (disk / "filler").write_bytes(b"")
            await eventually(lambda: is_following(client))
            await eventually(lambda: is_found(client, "fox"))

    assert "date, 0 memories, 1 not indexed yet" in told


async def test_a_start_without_any_room_says_where_and_how_much(disk: Path) -> None:
    """S10 W6 It names path and MiB, for an existing directory and for a new one."""
    async with running(disk / "data"):
        pass
    with left(disk, 16):
        for folder in (disk / "data", disk / "new"):
            with pytest.raises(StartError, match=rf"{folder}.* needs 1 MiB") as refused:
                async with running(folder):
                    pass
            assert "make room" in str(refused.value)


async def _not(asked: Awaitable[bool]) -> bool:
    return not await asked
