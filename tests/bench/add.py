"""Remembering one text: AddMemory beside a bare insert that is synced to disk all the same."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from concord.graph.v1.memory_pb2 import AddMemoryRequest, AddMemoryResponse
from concord.type.v1.type_pb2 import Memory

from tests.bench import sentences
from tests.bench.run import Run
from tests.bench.servers import graph, served
from tests.bench.table import Row
from tests.bench.timing import NONE, timed

METHOD = "/concord.graph.v1.MemoryService/AddMemory"
CALLS = 25
WARM_UP = 5


async def bench(run: Run) -> AsyncIterator[Row]:
    """One row."""
    texts = sentences.endless(seed=2)
    added, inserted = NONE, NONE
    with closing(_database(run.folder / "bare.db")) as database:

        async def insert(text: str) -> None:
            database.execute("INSERT INTO text (content) VALUES (?)", (text,))

        async with (
            graph(run.folder / "add" / "graph.db") as app,
            served(app.registrations) as live,
        ):
            for turn in range(run.rounds):
                inserted += await timed(insert, list(islice(texts, CALLS)))
                requests = [
                    AddMemoryRequest(request_id=f"{turn}-{at}", memory=Memory(content=text))
                    for at, text in enumerate(islice(texts, CALLS + WARM_UP))
                ]
                lane = live.lane(METHOD, requests, AddMemoryResponse)
                (latencies,) = await run.caller.alternate(
                    [lane], rounds=1, calls=CALLS, warm_up=WARM_UP
                )
                added += latencies
    yield Row(
        "add: AddMemory",
        "ms",
        added.pair,
        floor=inserted.pair,
        floor_is="bare SQLite insert of the same text, WAL, synced (synchronous=FULL)",
        ratio=added.at(50) / inserted.at(50),
    )


def _database(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = wal")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE text (id INTEGER PRIMARY KEY, content TEXT NOT NULL)")
    return database
