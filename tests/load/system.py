"""A system under load: `concord up` in a process of its own, with many spaces."""

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import grpc
from concord.governance.v1 import access_pb2
from concord.governance.v1.access_pb2_grpc import AccessServiceStub
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.type.v1 import type_pb2
from concord_client import credentials
from concord_testing.up_process import clean_environ

from tests.bench import sentences
from tests.bench.filling import requests

MAKING_AT_ONCE = 16
PATIENCE = 600.0
SCOPES = (access_pb2.KEY_SCOPE_READ, access_pb2.KEY_SCOPE_WRITE)


@dataclass
class Up:
    """A running `concord up`, watched."""

    process: subprocess.Popen[str]
    url: str
    data: Path
    most_megabytes: float = 0.0
    threads: int = 0
    descriptors: int = 0

    def seconds(self) -> float:
        """The processor time that it has taken so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def look(self) -> None:
        """Notes what the process takes now."""
        folder = Path(f"/proc/{self.process.pid}")
        status = dict(
            line.split(":", 1) for line in (folder / "status").read_text("ascii").splitlines()
        )
        self.most_megabytes = max(self.most_megabytes, int(status["VmRSS"].split()[0]) / 1024)
        self.threads = int(status["Threads"])
        self.descriptors = len(list((folder / "fd").iterdir()))


@contextmanager
def up(data: Path) -> Iterator[Up]:
    """`concord up`, ready; stopped after the block."""
    command = [sys.executable, "-m", "concord_client", "up", "--data", str(data), "--port", "0"]
    with subprocess.Popen(
        [*command, "--json"], stdout=subprocess.PIPE, text=True, env=clean_environ()
    ) as process:
        try:
            assert process.stdout is not None
            yield Up(process, json.loads(process.stdout.readline())["url"], data)
        finally:
            process.terminate()
            process.wait(60)


@asynccontextmanager
async def watched(system: Up) -> AsyncIterator[None]:
    """Looks at the process twice a second while the block runs."""

    async def look() -> None:
        while True:
            system.look()
            await asyncio.sleep(0.5)

    task = asyncio.create_task(look())
    try:
        yield
    finally:
        task.cancel()


@dataclass(frozen=True)
class Space:
    """A space with a key that reads and writes, and the ids of its first memories."""

    key: str
    ids: Sequence[str] = field(default_factory=tuple)


def counts_at_random(spaces: int, memories: int, draw: random.Random) -> list[int]:
    """How many memories each space gets: one, and the rest at random."""
    counts = [1] * spaces
    for _ in range(memories - spaces):
        counts[draw.randrange(spaces)] += 1
    return counts


async def made(system: Up, counts: Sequence[int], draw: random.Random) -> list[Space]:
    """Makes spaces with keys, and so many memories in each, over one connection."""
    operator_key = credentials.read(system.data / credentials.FILE_NAME).keys[
        credentials.SYSTEM_SPACE
    ]
    texts = sentences.endless(seed=draw.randrange(1 << 30))
    gate = asyncio.Semaphore(MAKING_AT_ONCE)
    async with grpc.aio.insecure_channel(system.url) as channel:
        access, memory = AccessServiceStub(channel), MemoryServiceStub(channel)

        async def one(number: int) -> Space:
            name = f"load-{number:06}"
            async with gate:
                asked = access_pb2.CreateSpaceRequest(request_id=name, space=name)
                await access.CreateSpace(asked, metadata=bearer(operator_key), timeout=PATIENCE)
                key = access_pb2.CreateKeyRequest(
                    request_id=f"{name}-key",
                    space=name,
                    principal="agent",
                    kind=type_pb2.PRINCIPAL_KIND_AGENT,
                    scopes=SCOPES,
                )
                keyed = await access.CreateKey(key, metadata=bearer(operator_key), timeout=PATIENCE)
                ids = tuple(f"m{index}" for index in range(counts[number]))
                batch = [
                    type_pb2.Memory(id=each, content=text)
                    for each, text in zip(ids, islice(texts, len(ids)), strict=True)
                ]
                for start in range(0, len(batch), 1_000):
                    some = batch[start : start + 1_000]
                    call = memory.BatchAddMemories(
                        requests(f"fill-{start}", some),
                        metadata=bearer(keyed.secret),
                        timeout=PATIENCE,
                    )
                    if (reply := await call).errors:
                        raise RuntimeError(f"refused: {reply.errors[0].message}")
            return Space(keyed.secret, ids)

        return await asyncio.gather(*(one(number) for number in range(len(counts))))


def bearer(key: str) -> tuple[tuple[str, str]]:
    """The metadata of a call with a key."""
    return (("authorization", f"Bearer {key}"),)
