"""What `concord up` takes: seconds until it is ready, and memory, empty and at 100,000 memories."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from concord.search.v1.search_pb2 import SearchRequest
from concord.type.v1.type_pb2 import Consistency, Memory
from concord_client import credentials
from concord_client.client import Client
from concord_client.credentials import Target
from concord_testing.up_process import clean_environ

from tests.bench import sentences
from tests.bench.filling import requests
from tests.bench.run import Run
from tests.bench.searching import filled
from tests.bench.table import Bar, Row

STARTS = 3
SEARCHES, LONG_TEXTS = 300, 200
PATIENCE = 300.0
MEGABYTE = 1 << 20
START_BAR, MEMORY_BAR = Bar(3.0), Bar(850.0)


@dataclass(frozen=True)
class Up:
    """A running `concord up`."""

    process: subprocess.Popen[str]
    url: str
    seconds: float
    """From its start until it was ready."""

    def megabytes(self) -> float:
        """Its resident memory."""
        pages = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        line = next(each for each in pages.splitlines() if each.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024 / MEGABYTE


async def bench(run: Run) -> AsyncIterator[Row]:
    """Start and memory, each on an empty directory and on a large one."""
    size = run.size(100_000, 2_000)
    large = await filled(run, size)
    for data, name in ((run.folder / "empty", "empty"), (large, f"{size:,} memories")):
        with _up(data):
            pass  # the first start makes keys; those after it are warm
        seconds = sorted(_seconds(data) for _ in range(STARTS))
        with _up(data) as system:
            at_start = system.megabytes()
            await asyncio.to_thread(_use, data, system.url)
            used = system.megabytes()
        yield Row(f"start to ready, warm, {name}", "s", (seconds[STARTS // 2],), bar=START_BAR)
        yield Row(f"resident after start, {name}", "MB", (at_start,))
        done = f"after {SEARCHES} searches and {LONG_TEXTS} texts as long as the model reads"
        yield Row(f"resident in use, {name}", "MB", (used,), bar=MEMORY_BAR, note=done)


def _seconds(data: Path) -> float:
    with _up(data) as system:
        return system.seconds


def _use(data: Path, url: str) -> None:
    """Searches, and remembers texts that are as long as the model reads, until they are found."""
    key = credentials.read(data / credentials.FILE_NAME).keys["default"]
    texts = sentences.endless(seed=11)
    memories = [Memory(content=" ".join(islice(texts, 20))) for _ in range(LONG_TEXTS)]
    with Client(Target(url, key)) as client:
        for text in islice(sentences.questions(seed=10), SEARCHES):
            client.search.Search(SearchRequest(query=text))
        added = client.memory.BatchAddMemories(requests("long", memories), timeout=PATIENCE)
        seen = Consistency(at_least_as_fresh=added.token)
        client.search.Search(SearchRequest(query="it", consistency=seen), timeout=PATIENCE)


@contextmanager
def _up(data: Path) -> Iterator[Up]:
    began = time.perf_counter()
    command = [sys.executable, "-m", "concord_client", "up", "--data", str(data), "--port", "0"]
    with subprocess.Popen(
        [*command, "--json"], stdout=subprocess.PIPE, text=True, env=clean_environ()
    ) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            yield Up(process, told["url"], time.perf_counter() - began)
        finally:
            process.terminate()
            process.wait(30)
