"""How fast memories can be found after a batched import, beside the embedder alone."""

import time
from collections.abc import AsyncIterator
from itertools import islice

from concord.type.v1.type_pb2 import Memory
from concord_search.adapters.minilm.embedder import MiniLm

from tests.bench import sentences
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import whole
from tests.bench.table import Bar, Row

ROUNDS = 4


async def bench(run: Run) -> AsyncIterator[Row]:
    """One row, in texts per second: the rate over all rounds, each on texts of its own."""
    size = run.size(2_000, 300)
    texts = sentences.endless(seed=3)
    alone = together = 0.0
    embedder = MiniLm()
    async with whole(run.folder / "ingest", embedder) as system:
        await embedder.embed(list(islice(texts, 64)))  # warm
        for turn in range(ROUNDS):
            chunk = list(islice(texts, size))
            began = time.perf_counter()
            await embedder.embed(chunk)
            alone += time.perf_counter() - began
            began = time.perf_counter()
            memories = (Memory(content=text) for text in chunk)
            await found(system, await remember(system, memories, name=f"round-{turn}"))
            together += time.perf_counter() - began
    total = ROUNDS * size
    yield Row(
        "import in batches of 200, until found",
        "per s",
        (total / together,),
        floor=(total / alone,),
        floor_is="the embedder alone on the same texts, all at once",
        ratio=alone / together,
        bar=Bar(0.83, at_most=False),
    )
