"""Search beside graph, in the test's own process, with a small embedder of its own."""

import asyncio
import hashlib
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import numpy as np
from concord.search.v1 import search_pb2
from concord_search.bootstrap import SearchApp, build
from concord_search.config import IndexConfig
from concord_search.ports.embedder import EmbeddingModel, Vector, Vectors
from concord_testing.serving import Serving, serving
from contract_dissonance import with_dissonance
from contract_governance import governed_live
from contract_live import Live, frozen_clock, graph_app, graph_live, heads, member

DIMENSION = 64
_NAMES = ("Search", "Index", "MemoryHealth", "Feedback", "Suggestion")
SERVICES = tuple(f"concord.search.v1.{name}Service" for name in _NAMES)


class WordVectors:
    """The embedder port by counting words: texts that share words are near."""

    @property
    def model(self) -> EmbeddingModel:
        """The model."""
        return EmbeddingModel("word-counts", DIMENSION, "1")

    async def open(self) -> None:
        """Needs nothing."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        return np.array([_vector(text) for text in texts], dtype=np.float32).reshape(-1, DIMENSION)

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        return _vector(text)

    def knows(self, _text: str) -> bool:
        """Counts every word."""
        return True

    async def close(self) -> None:
        """Holds nothing."""


def _vector(text: str) -> Vector:
    # A little of the whole text, so that no two texts are equally near to a third.
    spice = np.frombuffer(hashlib.sha512(text.encode()).digest(), dtype=np.uint8)
    counts = spice.astype(np.float32) / 2_550
    for word in text.lower().split():
        counts[hashlib.sha256(word.encode()).digest()[0] % DIMENSION] += 1
    vector: Vector = counts / np.linalg.norm(counts)
    return vector


@asynccontextmanager
async def whole_live(store: Path, enrolment: Mapping[str, str]) -> AsyncIterator[Live]:
    """Serve a store file with every service."""
    async with (
        governed_live(store, enrolment) as governed,
        with_search(governed) as searching,
        with_dissonance(searching) as all_,
    ):
        yield all_


def written_live(
    method: str, store: Path, enrolment: Mapping[str, str]
) -> AbstractAsyncContextManager[Live]:
    """Serve a store file with what a write needs: graph alone for one of graph's own, for one of
    dissonance's or search's every service."""
    if method.startswith("concord.graph."):
        return graph_live(graph_app(store, enrolment=enrolment))
    asking = method.startswith(("concord.dissonance.", "concord.search."))
    run = whole_live if asking else governed_live
    return run(store, enrolment)


@asynccontextmanager
async def with_search(live: Live) -> AsyncIterator[Live]:
    """Run search over a deployment's graph until the block ends; it has followed to the end."""
    graph = live.servings["concord.graph.v1.ChangeFeedService"]
    with tempfile.TemporaryDirectory(prefix="concord-index-") as folder:
        config = IndexConfig(graph_address=graph.address, index_path=Path(folder) / "index")
        app = build(config, graph.issuer, clock=frozen_clock, embedder=WordVectors())
        async with _serving(app, live, graph) as both:
            yield both


@asynccontextmanager
async def _serving(app: SearchApp, live: Live, graph: Serving) -> AsyncIterator[Live]:
    await app.start()
    try:
        async with serving(app.registrations, ready=app.ready, issuer=graph.issuer) as search:
            both = Live({**live.servings, **dict.fromkeys(SERVICES, search)})
            for _ in range(2):  # the second time for the erasures that search has confirmed
                for space, seq in (await heads(live)).items():
                    await followed(both, space, seq)
            yield both
    finally:
        await app.close()


async def followed(live: Live, space: str, seq: int) -> None:
    """Wait until the index of a space has followed so far, and has confirmed every erasure."""
    until = time.monotonic() + 60
    while True:
        request = search_pb2.GetIndexStatusRequest()
        status = await live.tell(member(space), "GetIndexStatus", request)
        if status.following and status.applied_seq >= seq and not status.unconfirmed_erasures:
            return
        assert time.monotonic() < until, f"the index does not follow: {status}"
        await asyncio.sleep(0.01)
