"""Search on a Qdrant server: beside its own bare query, and how far both engines rank alike."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path

from concord.search.v1.search_pb2 import SearchRequest, SearchResponse
from concord.type.v1.type_pb2 import Memory
from concord_graph.bootstrap import system_clock
from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.qdrant import filters
from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.shard import DENSE, WORDS, Nearest
from concord_search.adapters.qdrant_server import messages
from concord_search.adapters.qdrant_server.catalogue import CATALOGUE
from concord_search.adapters.qdrant_server.collections import ServerShards
from concord_search.adapters.qdrant_server.connection import Connection
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.usecases.search import RANKED
from concord_testing import qdrant_server
from concord_testing.embedders import Shared
from qdrant_client import grpc as wire

from tests.bench import sentences
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.searching import CALLS, DRAWN, METHOD
from tests.bench.servers import Whole, whole
from tests.bench.stand_in import StandIn
from tests.bench.table import Bar, Row
from tests.bench.timing import NONE, timed

TIMES_FLOOR = Bar(1.5)
ASKED = 100
PAGE = 10
NO_COLUMNS = Columns()


class BareServer:
    """The server asked directly: one query with the same branches, filters and fusion."""

    def __init__(self, connection: Connection, collection: str, key: SpaceKey) -> None:
        self._connection = connection
        self._collection = collection
        self._key = key
        self._words = Bm25()

    async def ask(self, text: str, embedder: StandIn) -> int:
        """Asks once, as a search now would; returns how many results came."""
        vector = await embedder.embed_query(text)
        scope = Scope(system_clock(), Superseded.EXCLUDE, MemoryFilter())
        wanted = filters.of_scope(scope, self._key, NO_COLUMNS)
        branches = [Nearest(vector.tolist(), DENSE, RANKED, wanted)]
        if words := self._words.of_query(text):
            branches.append(Nearest(words, WORDS, RANKED, wanted))
        asked = [messages.query(self._collection, each) for each in branches]
        prefetch = [
            wire.PrefetchQuery(query=q.query, using=q.using, filter=q.filter, limit=q.limit)
            for q in asked
        ]
        fused = wire.QueryPoints(
            collection_name=self._collection,
            prefetch=prefetch,
            query=wire.Query(fusion=wire.Fusion.DBSF),
            limit=PAGE,
        )
        return len((await self._connection.points.Query(fused)).result)


async def bench(run: Run) -> AsyncIterator[Row]:
    """The agreement of the first ten results, and the latency beside its floor."""
    size = run.size(20_000, 500)
    with qdrant_server.serving(run.folder / "qdrant", os.environ) as url:
        qdrant = QdrantConfig(url=url, prefix="bench")
        data, embedder = run.folder / "on-server", StandIn()
        await embedder.open()
        async with whole(data, Shared(embedder), qdrant=qdrant) as system:
            await _fill(system, size)
            # first, as the searches that are timed are reads, which change the order of results
            async with whole(run.folder / "on-edge", Shared(embedder)) as edge:
                await _fill(edge, size)
                yield await _agreement(system, edge, size)
            async with _bare(qdrant, data) as bare:
                yield await _compared(run, system, bare, embedder, size)
        await embedder.close()


def _server() -> str:
    return "Qdrant's stand-in" if qdrant_server.stands_in(os.environ) else "a Qdrant server"


async def _fill(system: Whole, size: int) -> None:
    memories = (Memory(content=text) for text in islice(sentences.endless(1), size))
    token = await remember(system, memories, name="fill", space="default", size=500)
    await found(system, token, space="default")


@asynccontextmanager
async def _bare(qdrant: QdrantConfig, data: Path) -> AsyncIterator[BareServer]:
    """The collection of the only space, asked directly."""
    connection = Connection(qdrant)
    await connection.open()
    try:
        catalogue = await asyncio.to_thread(ServerShards(connection).catalogue, data / "index")
        ((_, secret),) = catalogue.tenants().values()
        listed = await connection.collections.List(wire.ListCollectionsRequest())
        names = [each.name for each in listed.collections if CATALOGUE not in each.name]
        sizes = {name: await _points(connection, name) for name in names}
        yield BareServer(connection, max(sizes, key=sizes.__getitem__), SpaceKey(secret))
    finally:
        await connection.close()


async def _points(connection: Connection, collection: str) -> int:
    counted = await connection.points.Count(
        wire.CountPoints(collection_name=collection, exact=True)
    )
    return int(counted.result.count)


async def _compared(run: Run, system: Whole, bare: BareServer, embedder: StandIn, size: int) -> Row:
    asked, alone = sentences.questions(seed=8), sentences.questions(seed=9)
    empty = searched = floor_of = NONE

    async def ask(text: str) -> None:
        await bare.ask(text, embedder)

    await timed(ask, islice(alone, CALLS))  # warm
    for turn in range(run.rounds):
        warm_up = 0 if turn else CALLS
        requests = [SearchRequest(query=text) for text in islice(asked, CALLS + warm_up)]
        search = system.search.lane(METHOD, requests, SearchResponse, space="default")
        lanes = [system.search.empty_lane(), search]
        found_empty, found_search = await run.caller.alternate(
            lanes, rounds=1, calls=CALLS, warm_up=max(warm_up, 1)
        )
        empty, searched = empty + found_empty, searched + found_search
        floor_of += await timed(ask, islice(alone, CALLS))
    stands_in = qdrant_server.stands_in(os.environ)
    floor = (floor_of.at(50) + empty.at(50), floor_of.at(95) + empty.at(95))
    return Row(
        f"search on {_server()}, {size:,} memories",
        "ms",
        searched.pair,
        floor=floor,
        floor_is="query embedding + one bare query of it + an empty RPC; ratio of p50",
        ratio=searched.at(50) / floor[0],
        bar=None if stands_in else TIMES_FLOOR,
        note=f"no server's speed, which QDRANT_URL would name; {DRAWN}" if stands_in else DRAWN,
    )


async def _agreement(one: Whole, other: Whole, size: int) -> Row:
    texts = list(islice(sentences.questions(seed=21), ASKED))
    shares = [
        len(set(mine) & set(theirs)) / max(len(theirs), 1)
        for mine, theirs in zip(await _pages(one, texts), await _pages(other, texts), strict=True)
    ]
    return Row(
        f"Edge's first ten, {_server()}, {size:,}",
        "",
        (sum(shares) / len(shares),),
        note=f"share of Edge's first {PAGE} that it finds, too, mean over {ASKED} queries",
    )


async def _pages(system: Whole, texts: Sequence[str]) -> list[list[str]]:
    stub = system.searching("default")
    pages = []
    for text in texts:
        reply = await stub.Search(SearchRequest(query=text, page_size=PAGE, peek=True))
        pages.append([result.memory.content for result in reply.results])
    return pages
