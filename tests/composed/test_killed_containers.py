"""Containers of the composed system, killed one by one while it is used."""

import asyncio
import json
import os
import shlex
import subprocess
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.error import HTTPError, URLError

import grpc
import pytest
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, Refused, credentials
from concord_client.credentials import Credentials, Target

pytestmark = pytest.mark.compose

T = TypeVar("T")

CONTAINERS = ("graph", "neo4j", "qdrant", "search", "dissonance", "governance", "gateway")
BACK_WITHIN = 120.0
"""Seconds; Neo4j takes the longest."""
LATER = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.ABORTED}


@pytest.fixture
def system() -> Credentials:
    """The composed system's addresses and keys."""
    return credentials.read(Path(os.environ["CONCORD_SYSTEM"]) / credentials.FILE_NAME)


@pytest.fixture
async def concord(system: Credentials) -> AsyncIterator[AsyncClient]:
    """A client of the space "default"."""
    async with AsyncClient(Target(system.url, system.keys["default"])) as client:
        yield client


async def compose(*arguments: str) -> None:
    """Runs Compose on the composed system."""
    command = [*shlex.split(os.environ["COMPOSE_COMMAND"]), *arguments]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)


async def health(system: Credentials) -> dict[str, bool]:
    """Which services serve, as the gateway sees it; empty while it does not answer."""
    return await asyncio.to_thread(_health, f"{system.http_url}/healthz")


def _health(address: str) -> dict[str, bool]:
    try:
        with urllib.request.urlopen(address, timeout=5) as reply:
            found = reply.read()
    except HTTPError as error:
        found = error.read()
    except (URLError, OSError):
        return {}
    services: dict[str, bool] = json.loads(found)["services"]
    return services


async def until_serving(system: Credentials) -> None:
    """Returns once every service serves. Raises `TimeoutError`."""
    async with asyncio.timeout(BACK_WITHIN):
        while not (found := await health(system)) or not all(found.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def answered(call: Callable[[], Awaitable[T]]) -> T:
    """The reply to a call that is made again while the system says "later"."""
    async with asyncio.timeout(BACK_WITHIN):
        while True:
            try:
                return await call()
            except Refused as refused:
                if refused.code not in LATER:
                    raise
            await asyncio.sleep(0.2)


async def add(client: AsyncClient, name: str) -> memory_pb2.AddMemoryResponse:
    """Adds a memory, always under the same request id."""
    memory = type_pb2.Memory(id=name, content=f"The lamp of room {name} is green.")
    request = memory_pb2.AddMemoryRequest(request_id=name, memory=memory)
    return await answered(lambda: client.memory.AddMemory(request))


@pytest.mark.parametrize("container", CONTAINERS)
async def test_a_killed_container_loses_nothing_and_comes_back(
    container: str, system: Credentials, concord: AsyncClient
) -> None:
    """Must hold: what was acknowledged stays, what was under way is done once, health tells the
    truth, and all serve again without a hand on any other container."""
    before = await add(concord, f"{container}-before")
    writing = asyncio.create_task(add(concord, f"{container}-meanwhile"))
    await compose("kill", "--signal", "KILL", container)
    async with asyncio.timeout(BACK_WITHIN):
        while (seen := await health(system)) and all(seen.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)

    await compose("start", container)
    await until_serving(system)

    meanwhile = await asyncio.wait_for(writing, BACK_WITHIN)
    after = await add(concord, f"{container}-after")
    fresh = type_pb2.Consistency(at_least_as_fresh=after.token)
    query = search_pb2.SearchRequest(query=f"room {container}-after", consistency=fresh)
    found = await answered(lambda: concord.search.Search(query))
    for made in (before, meanwhile, after):
        asked = memory_pb2.GetMemoryRequest(id=made.memory.id)
        kept = await answered(partial(concord.memory.GetMemory, asked))
        assert kept.memory.content == made.memory.content
        assert kept.memory.etag == made.memory.etag
    assert f"{container}-after" in [each.memory.id for each in found.results]
