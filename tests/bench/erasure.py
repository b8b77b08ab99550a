"""How long an erasure takes until its receipt is complete: every file holds nothing of it (M4)."""

import asyncio
import time
from collections.abc import AsyncIterator
from itertools import islice

import grpc
from concord.graph.v1.memory_pb2 import EraseMemoryRequest, GetEraseReceiptRequest, GetMemoryRequest
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.type.v1.type_pb2 import Memory

from tests.bench import sentences
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import agent, whole
from tests.bench.stand_in import StandIn
from tests.bench.table import Bar, Row
from tests.bench.timing import Latencies

TIMES = 5
POLL = 0.01


async def bench(run: Run) -> AsyncIterator[Row]:
    """A row for each size of the space."""
    for size in (run.size(2_000, 500), run.size(20_000, 2_000)):
        texts = islice(sentences.endless(seed=9), size)
        memories = (Memory(id=f"m{at}", content=text) for at, text in enumerate(texts))
        async with whole(run.folder / f"erasure-{size}", StandIn()) as system:
            await found(system, await remember(system, memories, name="filled"))
            channel = system.graph.serving.channel(agent(), cap=None)
            seconds = [await _erased(channel, f"m{number}") for number in range(TIMES)]
        figure = Latencies(tuple(each * 1000 for each in seconds))
        yield Row(
            f"erased, until the receipt is complete, {size:,} memories",
            "ms",
            figure.pair,
            bar=Bar(1000.0),
            note="the index makes the space's files anew, beside its searches",
        )


async def _erased(channel: grpc.aio.Channel, memory_id: str) -> float:
    stub = MemoryServiceStub(channel)
    memory = (await stub.GetMemory(GetMemoryRequest(id=memory_id, peek=True))).memory
    began = time.perf_counter()
    request = EraseMemoryRequest(request_id=memory_id, id=memory_id, etag=memory.etag)
    await stub.EraseMemory(request)
    asked = GetEraseReceiptRequest(memory_id=memory_id)
    receipt = (await stub.GetEraseReceipt(asked)).receipt
    while not receipt.HasField("complete_time"):
        await asyncio.sleep(POLL)
        receipt = (await stub.GetEraseReceipt(asked)).receipt
    return time.perf_counter() - began
