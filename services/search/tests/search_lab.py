"""What search's tests stand on: states, an embedder of words, an index, the real graph."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import grpc
import numpy as np
from concord.graph.v1 import feed_pb2_grpc, memory_pb2, memory_pb2_grpc
from concord.search.v1 import search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.identity import Caller
from concord_chassis.log import json_lines
from concord_concepts import extract
from concord_graph.bootstrap import build as build_graph
from concord_search.adapters.edge.index import EdgeIndex
from concord_search.bootstrap import SearchApp
from concord_search.bootstrap import build as build_search
from concord_search.config import IndexConfig
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.domain.instants import NEVER, PRESENT, AsOf, Micros
from concord_search.domain.memory import MemoryState
from concord_search.ports import (
    Batch,
    Embedder,
    EmbeddingModel,
    Found,
    Index,
    Question,
    Vector,
    Vectors,
)
from concord_testing.serving import Serving, new_issuer, serving

START: Micros = 1_760_000_000_000_000
"""When the first test state is recorded."""

NOW: Micros = START + 10_000_000_000
"""When tests ask."""

SPACE = "default"

SCOPES = frozenset(
    {
        *("memory:read", "memory:write", "graph:read", "graph:write"),
        *("search:read", "search:admin"),
    }
)
QUIET = json_lines("test", level="critical")


def part_of(root: Path) -> Path:
    """The directory of the only space."""
    (part,) = (path for path in root.iterdir() if path.is_dir())
    return part


class WordEmbedder:
    """The embedder port by words alone: each word has a fixed random direction."""

    model = EmbeddingModel("words", 384, "1")

    async def open(self) -> None:
        """Nothing to load."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.vector(text) for text in texts])

    async def embed_query(self, text: str) -> Vector:
        return self.vector(text)

    def vector(self, text: str) -> Vector:
        total = sum((_direction(word) for word in text.casefold().split()), np.zeros(384))
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)

    async def close(self) -> None:
        """Nothing to free."""


def _direction(word: str) -> np.ndarray:
    seed = int.from_bytes(sha256(word.encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(384)


class Shared:
    """An embedder that outlives the app which closes it."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def model(self) -> EmbeddingModel:
        return self._inner.model

    async def open(self) -> None:
        """Open already."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._inner.embed(texts)

    async def embed_query(self, text: str) -> Vector:
        return await self._inner.embed_query(text)

    async def close(self) -> None:
        """Stays open for the next test."""


MakeState = Callable[..., MemoryState]
"""Makes a state, see `plain_state`."""


def plain_state(item_id: str, seq: int, content: str = "", **said: object) -> MemoryState:
    """A state of an ordinary memory but for what is said."""
    at = START + seq * 1_000_000
    text = content or f"memory {item_id} at {seq}"
    plain = MemoryState(
        id=item_id,
        seq=seq,
        content=text,
        kind=type_pb2.MEMORY_KIND_FACT,
        edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE,
        importance=type_pb2.IMPORTANCE_MEDIUM,
        concepts=extract(text),
        domain="",
        category="",
        tags=(),
        session_id="",
        origins=(),
        record_from=at,
        created=at,
        valid_from=at,
        stated_until=NEVER,
        superseded_from=NEVER,
        predecessors=0,
        heads=(item_id,),
        access_count=0,
        last_access=at,
        forgotten=False,
    )
    return replace(plain, **said)  # type: ignore[arg-type] # the tests name real fields


OpenIndex = Callable[..., Index]
"""Makes an index of a directory and a model; not opened yet."""

INDEXES: dict[str, OpenIndex] = {"edge": EdgeIndex}
"""What runs the index contract (`index_contract`), by the adapter's name."""


class Lab:
    """An index under test: writes as the follower would, asks with time and lineage alone."""

    def __init__(self, index: Index, embedder: WordEmbedder) -> None:
        self.index = index
        self.embedder = embedder

    @property
    def edge(self) -> EdgeIndex:
        """The index with what only Edge's has."""
        assert isinstance(self.index, EdgeIndex)
        return self.index

    async def write(self, *states: MemoryState, space: str = SPACE) -> None:
        vectors = await self.embedder.embed([state.content for state in states])
        pairs = list(zip(states, vectors, strict=True))
        await self.index.apply(space, Batch(states[-1].seq, states[-1].record_from, states=pairs))

    async def ask(
        self,
        text: str,
        *,
        space: str = SPACE,
        superseded: Superseded = Superseded.EXCLUDE,
        now: Micros = NOW,
        wanted: MemoryFilter | None = None,
        as_of: AsOf = PRESENT,
        **asked: object,
    ) -> Found:
        vector = await self.embedder.embed_query(text)
        scope = Scope(now, superseded, wanted or MemoryFilter(), as_of)
        question = Question(vector, text, scope, **asked)  # type: ignore[arg-type] # named fields
        return await self.index.ask(space, question)

    def ids(self, found: Found, space: str = SPACE) -> list[str]:
        return [self.index.id_of(space, item) for item in found.candidates.items]


OpenLab = Callable[..., Awaitable[Lab]]
"""Opens a lab over a directory."""


SECONDS = 60.0
"""How long tests wait for what normally comes at once: a busy machine may take its time."""


async def until(true: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Polls until something is so. Raises `TimeoutError`."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)


@dataclass
class Running:
    """Graph and search, running, and how to speak to them."""

    graph: Serving
    search: Serving
    app: SearchApp

    def channel(self, served: Serving, space: str, scopes: frozenset[str]) -> grpc.aio.Channel:
        return served.channel(Caller(space, "tester", scopes, "HUMAN"))

    def memories(self, space: str = "default") -> "memory_pb2_grpc.MemoryServiceAsyncStub":
        return memory_pb2_grpc.MemoryServiceStub(self.channel(self.graph, space, SCOPES))

    def feed(self) -> "feed_pb2_grpc.ChangeFeedServiceAsyncStub":
        channel = self.graph.channel(Caller("", "tester", frozenset({"feed:all"}), "SYSTEM"))
        return feed_pb2_grpc.ChangeFeedServiceStub(channel)

    def searching(self, space: str = "default") -> "search_pb2_grpc.SearchServiceAsyncStub":
        return search_pb2_grpc.SearchServiceStub(self.channel(self.search, space, SCOPES))

    def index(self, space: str = "default") -> "search_pb2_grpc.IndexServiceAsyncStub":
        return search_pb2_grpc.IndexServiceStub(self.channel(self.search, space, SCOPES))

    async def add(self, *memories: type_pb2.Memory, space: str = "default") -> str:
        """Adds memories; returns the token of the last write."""
        token = ""
        stub = self.memories(space)
        for memory in memories:
            digest = sha256(memory.SerializeToString(deterministic=True)).hexdigest()
            request = memory_pb2.AddMemoryRequest(request_id=digest, memory=memory)
            token = (await stub.AddMemory(request)).token
        return token


@asynccontextmanager
async def run(data: Path, embedder: Embedder, **options: object) -> AsyncIterator[Running]:
    """Graph and search over a data directory, each a real server on a Unix socket."""
    issuer = new_issuer()
    graph = build_graph(data / "graph.db")
    await graph.start()
    try:
        async with serving(
            graph.registrations, translate=graph.translate, issuer=issuer, ready=graph.ready
        ) as served:
            config = IndexConfig(graph_address=served.address, index_path=data / "index")
            app = build_search(config, issuer, embedder=embedder, log=QUIET, **options)  # type: ignore[arg-type]
            await app.start()
            try:
                async with serving(
                    app.registrations, translate=app.translate, issuer=issuer, ready=app.ready
                ) as found:
                    yield Running(served, found, app)
            finally:
                await app.close()
    finally:
        await graph.close()
