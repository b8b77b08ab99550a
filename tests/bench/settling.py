"""How long a store of the version before takes to be brought up to date: how its items stand (G16).

A part of the relations hold one value at a time, and the values come in any order. On SQLite.
"""

import random
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.graph.v1.relation_pb2 import DeclareRelationRequest
from concord.graph.v1.relation_pb2_grpc import RelationServiceStub
from concord.type.v1.type_pb2 import Fact, Memory
from concord_graph.bootstrap import opened, system_clock
from concord_graph.config import SqliteConfig

from tests.bench.filling import batched, requests
from tests.bench.run import Run
from tests.bench.servers import agent, served
from tests.bench.table import Bar, Row
from tests.bench.values_in_time import on_neo4j, stamp, store

BATCH = 25
"""Memories of a batch, two facts each at most: no batch states more facts than 50."""
RELATIONS, FUNCTIONAL = ("LIVES_IN", "WORKS_AT", "LIKES", "OWNS"), 2
A_SUBJECT = 12
"""Memories about one subject, on average."""
MOST_MS = 0.6
"""A memory: 100,000 in a minute."""


async def bench(run: Run) -> AsyncIterator[Row]:
    """One row: a store of memories with one or two facts each, opened."""
    if on_neo4j():
        print("SKIPPED: settling makes a store of the version before in SQLite alone", flush=True)
        return
    size, folder = run.size(10_000, 200), run.folder / "settling"
    async with store(folder) as app, served(app.registrations) as live:
        channel = live.serving.channel(agent(), cap=None)
        for name in RELATIONS[:FUNCTIONAL]:
            await RelationServiceStub(channel).DeclareRelation(
                DeclareRelationRequest(request_id=name, name=name, functional=True)
            )
        for number, batch in enumerate(batched(list(_memories(size)), BATCH)):
            reply = await MemoryServiceStub(channel).BatchAddMemories(requests(f"{number}", batch))
            if reply.errors:
                raise RuntimeError(f"refused: {reply.errors[0].reason}: {reply.errors[0].message}")
    _unsettle(folder / "graph.db")
    began = time.perf_counter()
    converted = await opened(SqliteConfig(store_path=folder / "graph.db"), system_clock)
    seconds = time.perf_counter() - began
    await converted.close()
    yield Row(
        f"{size:,} memories with facts, settled anew",
        "ms",
        (seconds / size * 1_000,),
        bar=Bar(MOST_MS),
        note="a memory, at the start of a store of the version before",
    )


def _memories(size: int) -> Iterator[Memory]:
    draw = random.Random(7)
    for place in range(size):
        subject = f"Person {draw.randrange(size // A_SUBJECT)}"
        facts = [
            Fact(
                subject=subject,
                relation=RELATIONS[(place + number) % len(RELATIONS)],
                object=f"Thing {draw.randrange(2_000)}",
            )
            for number in range(1 + place % 2)
        ]
        begins = stamp((1_500_000_000 + draw.randrange(size) * 1_000) * 1_000_000)
        yield Memory(content=f"Note {place} about {subject}", facts=facts, valid_from=begins)


def _unsettle(path: Path) -> None:
    """Leave a store as one that does not know how its items stand."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM standing")
        db.execute("UPDATE space SET unsettled = 1")
