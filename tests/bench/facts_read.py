"""Reading memories that state facts, now and as of a moment ago, beside other spaces.

On SQLite, or on Neo4j when GRAPH_STORE=neo4j.
"""

import random
import time
from collections.abc import AsyncIterator, Mapping
from itertools import islice

from concord.graph.v1 import memory_pb2
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.graph.v1.relation_pb2 import DeclareRelationRequest
from concord.graph.v1.relation_pb2_grpc import RelationServiceStub
from concord.type.v1.type_pb2 import AsOf, Fact, Memory
from google.protobuf.message import Message

from tests.bench import sentences
from tests.bench.filling import requests
from tests.bench.run import Run
from tests.bench.servers import Served, agent, served
from tests.bench.table import Bar, Row
from tests.bench.timing import Lane, Latencies
from tests.bench.used_before import use
from tests.bench.values_in_time import stamp, store

SMALL, LARGE, OTHER = "small", "large", "other"
BATCH = 25
"""Memories of a batch, of at most two facts each: no batch states more than 50 facts."""
RELATIONS = ("LIVES_IN", "WORKS_AT", "LIKES", "OWNS")
_MEMORY = "/concord.graph.v1.MemoryService/"


async def bench(run: Run) -> AsyncIterator[Row]:
    """For each read: now beside as of a moment ago, and in a small space as others grow."""
    few, many = 30, run.size(2_400, 200)
    async with store(run.folder / "facts") as app:
        await use(app)
        async with served(app.registrations) as live:
            await _fill(live, SMALL, few)
            before = await _measured(run, live, SMALL, few)
            for space in (LARGE, OTHER):
                await _fill(live, space, many)
            after = await _measured(run, live, SMALL, few)
            grown = await _measured(run, live, LARGE, many)
    for what in ("ListMemories", "GetMemory"):
        now, then = grown[what, "now"], grown[what, "as of"]
        yield _row(f"{what} now, {many:,} memories with facts", now, then, "as of a moment ago")
        alone, beside = before[what, "now"], after[what, "now"]
        yield _row(f"{what} now, {few} beside {2 * many:,}", beside, alone, "before they came")


def _row(what: str, figure: Latencies, floor: Latencies, floor_is: str) -> Row:
    return Row(
        what,
        "ms",
        figure.pair,
        floor=floor.pair,
        floor_is=f"the same {floor_is}; ratio of p50",
        ratio=figure.at(50) / floor.at(50),
        bar=Bar(2.0),
    )


async def _fill(live: Served, space: str, count: int) -> None:
    """Remembers `count` texts with a fact or two each; of some relations one value at a time."""
    channel = live.serving.channel(agent(space), cap=None)
    for name in RELATIONS[:2]:
        await RelationServiceStub(channel).DeclareRelation(
            DeclareRelationRequest(request_id=f"declare-{name}", name=name, functional=True)
        )
    stub, draw = MemoryServiceStub(channel), random.Random(7)
    memories = [_memory(draw, at, text, count) for at, text in _texts(count)]
    for start in range(0, count, BATCH):
        some = memories[start : start + BATCH]
        reply = await stub.BatchAddMemories(requests(f"fill-{start}", some))
        if reply.errors:
            raise RuntimeError(f"refused: {reply.errors[0].reason}: {reply.errors[0].message}")


def _texts(count: int) -> list[tuple[int, str]]:
    return list(enumerate(islice(sentences.endless(seed=7), count)))


def _memory(draw: random.Random, at: int, text: str, count: int) -> Memory:
    subject = f"Person {draw.randrange(count // 12 + 1)}"
    facts = [
        Fact(subject=subject, relation=RELATIONS[(at + more) % 4], object=f"Thing {at + more}")
        for more in range(1 + at % 2)
    ]
    valid_from = stamp((1_500_000_000 + at * 1_000) * 1_000_000)
    return Memory(id=f"m{at}", content=text, facts=facts, valid_from=valid_from)


async def _measured(
    run: Run, live: Served, space: str, count: int
) -> Mapping[tuple[str, str], Latencies]:
    moment = stamp(time.time_ns() // 1_000 - 1_000)
    asked = {"now": None, "as of": AsOf(valid_time=moment, record_time=moment)}
    draw = random.Random(8)
    ids = [f"m{draw.randrange(count)}" for _ in range(100)]
    lanes: dict[tuple[str, str], Lane] = {}
    for when, as_of in asked.items():
        page: list[Message] = [memory_pb2.ListMemoriesRequest(page_size=20, as_of=as_of)]
        one: list[Message] = [
            memory_pb2.GetMemoryRequest(id=each, as_of=as_of, peek=True) for each in ids
        ]
        lanes["ListMemories", when] = live.lane(
            f"{_MEMORY}ListMemories", page, memory_pb2.ListMemoriesResponse, space=space
        )
        lanes["GetMemory", when] = live.lane(
            f"{_MEMORY}GetMemory", one, memory_pb2.GetMemoryResponse, space=space
        )
    found = await run.caller.alternate(
        list(lanes.values()), rounds=run.rounds, calls=10, warm_up=20
    )
    return dict(zip(lanes, found, strict=True))
