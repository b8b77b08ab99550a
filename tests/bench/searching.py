"""Search at 10,000, 100,000 and (`--large`) 1,000,000 memories, beside the least it could cost."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import islice
from pathlib import Path

from concord.search.v1.search_pb2 import (
    IntegrativeSearchRequest,
    IntegrativeSearchResponse,
    SearchRequest,
    SearchResponse,
)
from concord.type.v1.type_pb2 import Memory
from concord_concepts import extract
from concord_graph.bootstrap import system_clock
from concord_reading.times import windows
from concord_search.adapters.edge.index import GRAPH_FROM
from concord_search.adapters.edge.shard import BUILT

from tests.bench import sentences
from tests.bench.bare_engine import BareEngine, copied
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import whole
from tests.bench.stand_in import StandIn
from tests.bench.table import Bar, Row
from tests.bench.timing import NONE, timed

METHOD = "/concord.search.v1.SearchService/Search"
BY_VALUES = "/concord.search.v1.SearchService/IntegrativeSearch"
CALLS = 20
ASKED = 200
DRAWN = "document vectors are those of 2,000 sentences, perturbed; query vectors are the model's"


GROWN, LARGE, RECALL = Bar(1.3), Bar(2.0), Bar(0.99, at_most=False)
TIMES_FLOOR = Bar(2.0)


async def bench(run: Run) -> AsyncIterator[Row]:
    """Of each size the latency beside its floor and the engine's recall, and how it grows."""
    smallest = 0.0
    sizes = [(run.size(10_000, 500), None), (run.size(100_000, 2_000), GROWN)]
    if run.large:
        sizes.append((1_000_000, LARGE))
    for size, growth in sizes:
        data = await filled(run, size)
        with copied(data / "index", run.folder / f"bare-{size}") as engine:
            row, by_values = await _compared(run, data, engine, size)
            yield row
            yield by_values
            yield await _recalled(engine, size)
        if growth is None:
            smallest = row.figure[0]
            continue
        yield Row(
            f"search, {size:,} memories beside {sizes[0][0]:,}",
            "ms",
            row.figure[:1],
            floor=(smallest,),
            floor_is="p50 of the smallest size",
            ratio=row.figure[0] / smallest,
            bar=growth,
        )


async def _recalled(engine: BareEngine, size: int) -> Row:
    embedder = StandIn()
    await embedder.open()
    texts = islice(sentences.questions(seed=12), ASKED)
    found = [engine.recall(await embedder.embed_query(each), system_clock()) for each in texts]
    await embedder.close()
    share = sum(found) / len(found)
    return Row(f"recall@10 of meaning, {size:,} memories", "", (share,), bar=RECALL, note=DRAWN)


async def filled(run: Run, size: int) -> Path:
    """A data directory with so many memories in the space "default"; made once a run."""
    data = run.folder / f"memories-{size}"
    if not data.exists():
        memories = (Memory(content=text) for text in islice(sentences.endless(1), size))
        async with whole(data, StandIn()) as system:
            token = await remember(system, memories, name="fill", space="default", size=500)
            await found(system, token, space="default")
            await _graph_built(data / "index", size)
    return data


async def _graph_built(index: Path, size: int) -> None:
    """Returns once few of so many points are outside the HNSW graph."""
    if size < GRAPH_FROM:
        return
    while size - _in_graph(index) >= GRAPH_FROM:  # noqa: ASYNC110 - the files tell nobody
        await asyncio.sleep(0.5)


def _in_graph(index: Path) -> int:
    (part,) = (path for path in index.iterdir() if path.is_dir())
    stamp = json.loads((part / "stamp.json").read_text("utf-8"))
    built = part / stamp["shard"] / BUILT
    # The engine counts the two vectors of a point.
    return int(built.read_text("ascii")) // 2 if built.exists() else 0


async def _compared(run: Run, data: Path, engine: BareEngine, size: int) -> tuple[Row, Row]:
    """Search and IntegrativeSearch, each beside the least that it could cost."""
    embedder = StandIn()
    asked, alone = sentences.questions(seed=8), sentences.questions(seed=9)
    empty = searched = by_values = bare = NONE

    async def ask(text: str) -> None:
        windows(text, system_clock())
        extract(text)
        engine.ask(text, await embedder.embed_query(text), system_clock())

    async with whole(data, embedder) as system:
        await timed(ask, islice(alone, CALLS))  # warm
        for turn in range(run.rounds):
            warm_up = 0 if turn else CALLS
            number = CALLS + warm_up
            texts = [SearchRequest(query=text) for text in islice(asked, number)]
            valued = [
                IntegrativeSearchRequest(query=text, context_node="agent")
                for text in islice(asked, number)
            ]
            lanes = [
                system.search.empty_lane(),
                system.search.lane(METHOD, texts, SearchResponse, space="default"),
                system.search.lane(BY_VALUES, valued, IntegrativeSearchResponse, space="default"),
            ]
            found = await run.caller.alternate(
                lanes, rounds=1, calls=CALLS, warm_up=max(warm_up, 1)
            )
            empty, searched, by_values = empty + found[0], searched + found[1], by_values + found[2]
            bare += await timed(ask, islice(alone, CALLS))
    floor = (bare.at(50) + empty.at(50), bare.at(95) + empty.at(95))
    kinds = (
        ("search", searched, TIMES_FLOOR),
        ("integrative search", by_values, TIMES_FLOOR),
    )
    first, second = (
        Row(
            f"{what}, {size:,} memories",
            "ms",
            latencies.pair,
            floor=floor,
            floor_is="reading and embedding + one bare engine query + an empty RPC; ratio of p50",
            ratio=latencies.at(50) / floor[0],
            bar=bar,
            note=DRAWN,
        )
        for what, latencies, bar in kinds
    )
    return first, second
