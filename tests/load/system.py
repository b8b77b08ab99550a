"""A system under load: `concord up` in a process of its own, with many spaces."""

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from concord.governance.v1 import access_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, credentials
from concord_client.credentials import Target
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


async def made(system: Up, spaces: int, memories: int, draw: random.Random) -> list[Space]:
    """Makes spaces with keys, and memories among them: each space one, the rest at random."""
    operator_key = credentials.read(system.data / credentials.FILE_NAME).keys[
        credentials.SYSTEM_SPACE
    ]
    counts = [1] * spaces
    for _ in range(memories - spaces):
        counts[draw.randrange(spaces)] += 1
    texts = sentences.endless(seed=draw.randrange(1 << 30))
    gate = asyncio.Semaphore(MAKING_AT_ONCE)
    async with AsyncClient(Target(system.url, operator_key)) as operator:

        async def one(number: int) -> Space:
            name = f"load-{number:06}"
            async with gate:
                await operator.access.CreateSpace(access_pb2.CreateSpaceRequest(space=name))
                made_key = await operator.access.CreateKey(
                    access_pb2.CreateKeyRequest(
                        space=name,
                        principal="agent",
                        kind=type_pb2.PRINCIPAL_KIND_AGENT,
                        scopes=SCOPES,
                    )
                )
                ids = tuple(f"m{index}" for index in range(counts[number]))
                batch = [
                    type_pb2.Memory(id=each, content=text)
                    for each, text in zip(ids, islice(texts, len(ids)), strict=True)
                ]
                async with AsyncClient(Target(system.url, made_key.secret)) as client:
                    for start in range(0, len(batch), 1_000):
                        some = batch[start : start + 1_000]
                        call = client.memory.BatchAddMemories(
                            requests(f"fill-{start}", some), timeout=PATIENCE
                        )
                        if (reply := await call).errors:
                            raise RuntimeError(f"refused: {reply.errors[0].message}")
            return Space(made_key.secret, ids)

        return await asyncio.gather(*(one(number) for number in range(spaces)))
