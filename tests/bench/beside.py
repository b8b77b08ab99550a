"""How long a write of one space waits while others' imports of facts are under way.

GRAPH_STORE=neo4j runs it on Neo4j.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection

import grpc
import uvloop
from concord.graph.v1.memory_pb2 import AddMemoryRequest, AddMemoryResponse
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.type.v1 import type_pb2
from concord_client.importers.upload import BATCH_FACTS
from concord_graph.bootstrap import build_on

from tests.bench import sentences, sized_graph
from tests.bench.filling import batched, requests
from tests.bench.run import Run
from tests.bench.servers import TOKEN_LIFE, Served, agent, served
from tests.bench.table import Bar, Row
from tests.bench.timing import NONE, Lane, Latencies

STREAMS = 3
MEMORIES, FACTS = 300, 10
"""Of an import: this many memories, with so many facts each, cut into batches as importers do."""
TIMES_ALONE, LEAST_MS = 5.0, 150.0
"""A write beside the imports may take so many times what it takes alone, or so long."""


async def bench(run: Run) -> AsyncIterator[Row]:
    """One row: a single write's p95 beside the imports, against the same alone."""
    with sized_graph.settings(run.folder) as chosen:
        app = await build_on(chosen)
        await app.start()
        try:
            async with served(app.registrations) as live:
                yield await _row(run, live)
        finally:
            await app.close()


async def _row(run: Run, live: Served) -> Row:
    alone, beside, calls = NONE, NONE, run.size(40, 10)
    rates: list[float] = []
    numbers = count()
    for turn in range(run.size(5, 1)):
        alone += await _timed(run, live, numbers, calls)
        async with _imports(live, turn, rates):
            beside += await _timed(run, live, numbers, calls)
    return Row(
        f"a write beside {STREAMS} imports of facts",
        "ms",
        beside.pair,
        floor=alone.pair,
        floor_is=f"the same alone; ratio of p95, to {LEAST_MS / TIMES_ALONE:.0f} ms if it is less",
        ratio=beside.at(95) / max(alone.at(95), LEAST_MS / TIMES_ALONE),
        bar=Bar(TIMES_ALONE),
        note=f"p95 {beside.at(95) / alone.at(95):.1f} times as long as alone; the imports wrote"
        f" {sum(rates) / len(rates):,.0f} facts a second meanwhile",
    )


async def _timed(run: Run, live: Served, numbers: Iterator[int], calls: int) -> Latencies:
    lanes = [_singles(live, numbers)]
    return (await run.caller.alternate(lanes, rounds=1, calls=calls, warm_up=5))[0]


def _singles(live: Served, numbers: Iterator[int]) -> Lane:
    """Writes of a space of their own: 100, each another."""
    asked = [
        AddMemoryRequest(
            request_id=f"single-{number}", memory=type_pb2.Memory(content=f"Single write {number}.")
        )
        for number in islice(numbers, 100)
    ]
    return live.lane("/concord.graph.v1.MemoryService/AddMemory", asked, AddMemoryResponse)


@asynccontextmanager
async def _imports(live: Served, turn: int, rates: list[float]) -> AsyncIterator[None]:
    """Imports from another process, each into a space of its own, during the block.

    Adds to `rates` how many facts a second they wrote.
    """
    tokens = [
        live.serving.issuer.mint(agent(f"import-{number}"), TOKEN_LIFE) for number in range(STREAMS)
    ]
    spawned = get_context("spawn")
    here, there = spawned.Pipe()
    process = spawned.Process(target=_import, args=(live.serving.address, tokens, turn, there))
    process.start()
    try:
        await asyncio.to_thread(here.recv)  # they have begun
        yield
        here.send(None)
        rates.append(await asyncio.to_thread(here.recv))
    finally:
        process.kill()
        process.join()


def _import(address: str, tokens: Sequence[str], turn: int, control: Connection) -> None:
    control.send(uvloop.run(_rate(address, tokens, turn, control)))


async def _rate(address: str, tokens: Sequence[str], turn: int, control: Connection) -> float:
    """Import until told to stop; return how many facts were written a second."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = MemoryServiceStub(channel)
        written = 0

        async def stream(place: int, token: str) -> None:
            nonlocal written
            metadata = (("authorization", f"Bearer {token}"),)
            for number in count():
                memories = _memories(1 + place + STREAMS * (number + 1000 * turn))
                for part, batch in enumerate(batched(memories, BATCH_FACTS // FACTS)):
                    if control.poll():
                        return
                    parts = requests(f"{turn}-{number}-{part}", batch)
                    reply = await stub.BatchAddMemories(parts, metadata=metadata, timeout=600)
                    if reply.errors:
                        raise ValueError(reply.errors[0].message)
                    written += len(batch) * FACTS

        control.send(None)
        began = time.perf_counter()
        await asyncio.gather(*(stream(place, token) for place, token in enumerate(tokens)))
        return written / (time.perf_counter() - began)


def _memories(seed: int) -> list[type_pb2.Memory]:
    texts = islice(sentences.endless(seed=seed), MEMORIES)
    return [
        type_pb2.Memory(
            content=text, facts=[_fact(seed * MEMORIES + place, of) for of in range(FACTS)]
        )
        for place, text in enumerate(texts)
    ]


def _fact(number: int, of: int) -> type_pb2.Fact:
    """A fact that begins at one of some thousand nodes and ends at a node of its own."""
    return type_pb2.Fact(
        subject=f"Person {number % 3_000}", relation=f"NOTED_{of}", object=f"Thing {number} {of}"
    )
