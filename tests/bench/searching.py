"""Search at 10,000 and 100,000 memories, beside the least that a hybrid search could cost."""

import time
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path

from concord.search.v1.search_pb2 import SearchRequest, SearchResponse
from concord.type.v1.type_pb2 import Memory
from concord_graph.bootstrap import system_clock

from tests.bench import sentences
from tests.bench.bare_engine import BareEngine, copied
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import whole
from tests.bench.stand_in import StandIn
from tests.bench.table import Bar, Row
from tests.bench.timing import NONE, Latencies

METHOD = "/concord.search.v1.SearchService/Search"
CALLS = 20


async def bench(run: Run) -> AsyncIterator[Row]:
    """Two rows."""
    for size, bar in ((run.size(10_000, 500), None), (run.size(100_000, 2_000), Bar(1.5))):
        data = await filled(run, size)
        with copied(data / "index", run.folder / f"bare-{size}") as engine:
            yield await _compared(run, data, engine, size, bar)


async def filled(run: Run, size: int) -> Path:
    """A data directory with so many memories in the space "default"; made once a run."""
    data = run.folder / f"memories-{size}"
    if not data.exists():
        memories = (Memory(content=text) for text in islice(sentences.endless(1), size))
        async with whole(data, StandIn()) as system:
            token = await remember(system, memories, name="fill", space="default", size=500)
            await found(system, token, space="default")
    return data


async def _compared(run: Run, data: Path, engine: BareEngine, size: int, bar: Bar | None) -> Row:
    embedder = StandIn()
    asked, alone = sentences.questions(seed=8), sentences.questions(seed=9)
    empty = searched = bare = NONE
    async with whole(data, embedder) as system:
        await _bare(embedder, engine, islice(alone, CALLS))  # warm
        for turn in range(run.rounds):
            warm_up = 0 if turn else CALLS
            requests = [SearchRequest(query=text) for text in islice(asked, CALLS + warm_up)]
            search = system.search.lane(METHOD, requests, SearchResponse, space="default")
            lanes = [system.search.empty_lane(), search]
            found_empty, found_search = await run.caller.alternate(
                lanes, rounds=1, calls=CALLS, warm_up=max(warm_up, 1)
            )
            empty, searched = empty + found_empty, searched + found_search
            bare += await _bare(embedder, engine, islice(alone, CALLS))
    floor = (bare.at(50) + empty.at(50), bare.at(95) + empty.at(95))
    return Row(
        f"search, {size:,} memories",
        "ms",
        searched.pair,
        floor=floor,
        floor_is="query embedding + one bare engine query + an empty RPC; ratio of p50",
        ratio=searched.at(50) / floor[0],
        bar=bar,
        note="document vectors are random (seeded by text), query vectors are the model's",
    )


async def _bare(embedder: StandIn, engine: BareEngine, texts: Iterator[str]) -> Latencies:
    """Embeds and asks, without servers; milliseconds for both together."""
    latencies = []
    for text in texts:
        began = time.perf_counter()
        engine.ask(text, await embedder.embed_query(text), system_clock())
        latencies.append((time.perf_counter() - began) * 1000)
    return Latencies(tuple(latencies))
