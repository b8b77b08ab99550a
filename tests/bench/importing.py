"""How much slower an import is while the HNSW graph of what it writes is built beside it."""

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
from concord.type.v1 import type_pb2
from concord_search.adapters.edge.index import GRAPH_FROM, EdgeIndex
from concord_search.domain.instants import NEVER
from concord_search.domain.memory import MemoryState
from concord_search.ports.embedder import EmbeddingModel, Vectors
from concord_search.ports.index import Batch

from tests.bench import sentences
from tests.bench.run import Run
from tests.bench.table import Bar, Row

MODEL = EmbeddingModel("drawn", 384, "1")
SPACE, EPOCH, SLICE = "bench", "epoch", 500
ROUNDS = 3


async def bench(run: Run) -> AsyncIterator[Row]:
    """One row: the index alone, whose writes an embedder would hide behind its own work."""
    size, graph_from = run.size(2 * GRAPH_FROM, 2_000), run.size(GRAPH_FROM, 1_000)
    beside = alone = 0.0
    for turn in range(ROUNDS):
        alone += await _seconds(run.folder / f"alone-{turn}", size, size * 2)
        beside += await _seconds(run.folder / f"beside-{turn}", size, graph_from)
    yield Row(
        f"import of {size:,} memories into the index",
        "s",
        (beside / ROUNDS,),
        floor=(alone / ROUNDS,),
        floor_is="the same without a graph; no texts are embedded in either",
        ratio=beside / alone,
        bar=Bar(1.05),
    )


async def _seconds(folder: Path, size: int, graph_from: int) -> float:
    index = EdgeIndex(folder, MODEL, graph_from=graph_from)
    await index.open()
    await index.begin(SPACE, EPOCH)
    batches = list(_batches(size))
    began = time.perf_counter()
    for batch in batches:
        await index.apply(SPACE, batch)
    seconds = time.perf_counter() - began
    await index.close()
    return seconds


def _batches(size: int) -> Iterator[Batch]:
    texts = sentences.endless(seed=4)
    for start in range(0, size, SLICE):
        numbers = range(start + 1, start + SLICE + 1)
        states = [_state(number, text) for number, text in zip(numbers, texts, strict=False)]
        drawn = list(zip(states, _vectors(start), strict=True))
        yield Batch(numbers[-1], numbers[-1], states=drawn, model=MODEL)


def _vectors(seed: int) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((SLICE, MODEL.dimension), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def _state(number: int, text: str) -> MemoryState:
    return MemoryState(
        id=f"00000000-0000-7000-8000-{number:012x}",
        seq=number,
        content=text,
        kind=type_pb2.MEMORY_KIND_FACT,
        edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE,
        importance=type_pb2.IMPORTANCE_MEDIUM,
        concepts=(),
        domain="",
        category="",
        tags=(),
        session_id="",
        origins=(),
        record_from=number,
        created=number,
        valid_from=number,
        stated_until=NEVER,
        superseded_from=NEVER,
        predecessors=0,
        heads=(),
        access_count=0,
        last_access=number,
        forgotten=False,
    )
