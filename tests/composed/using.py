"""What tests of the composed system do with it: kill its containers, and wait until all serve."""

import asyncio
import json
import os
import shlex
import subprocess
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from urllib.error import HTTPError, URLError

import grpc
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, Refused, credentials
from concord_client.credentials import Credentials

T = TypeVar("T")

CONTAINERS = ("graph", "neo4j", "qdrant", "search", "dissonance", "governance", "gateway")
BACK_WITHIN = 300.0
"""Seconds; Neo4j takes the longest: it plans each query anew after its start, which on a busy
machine takes longer than the callers' deadlines."""
asked_again: Counter[str] = Counter()
"""How often `answered` had to ask again, by the reason of the refusal."""
LATER = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.ABORTED}


def folder() -> Path:
    """Where the composed system's `credentials.json` is."""
    return Path(os.environ["CONCORD_SYSTEM"])


def system() -> Credentials:
    """The composed system's addresses and keys."""
    return credentials.read(folder() / credentials.FILE_NAME)


async def compose(*arguments: str, environ: Mapping[str, str] | None = None) -> None:
    """Runs Compose on the composed system; `environ` is added to what it is told."""
    command = [*shlex.split(os.environ["COMPOSE_COMMAND"]), *arguments]
    told = {**os.environ, **(environ or {})}
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, env=told
    )
    assert done.returncode == 0, done.stderr[-2000:]


@asynccontextmanager
async def overlaid(*files: Path, environ: Mapping[str, str] | None = None) -> AsyncIterator[None]:
    """The composed system under overlays, healthy; as it was before after the block."""
    overlays = [part for file in files for part in ("-f", str(file))]
    up = ("up", "-d", "--no-build", "--wait", "--wait-timeout", "300")
    try:
        await compose(*overlays, *up, environ=environ)
        yield
    finally:
        await compose(*up, "--remove-orphans")
        await until_serving(system())


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
                asked_again[f"{refused.code.name} {refused.reason}"] += 1
            await asyncio.sleep(0.2)


async def add(client: AsyncClient, name: str) -> memory_pb2.AddMemoryResponse:
    """Adds a memory, always under the same request id."""
    memory = type_pb2.Memory(id=name, content=f"The lamp of room {name} is green.")
    request = memory_pb2.AddMemoryRequest(request_id=name, memory=memory)
    return await answered(lambda: client.memory.AddMemory(request))
