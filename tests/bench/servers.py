"""Graph and search behind real servers in this process, as `concord up` runs them."""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from concord.search.v1 import search_pb2_grpc
from concord_chassis.call.identity import Caller, TokenIssuer
from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.server.server import Registration, tune_collector
from concord_graph.bootstrap import GraphApp, build_on
from concord_graph.config import SqliteConfig
from concord_search import bootstrap as search_parts
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.config import IndexConfig
from concord_search.ports.embedder import Embedder
from concord_testing.serving import Serving, new_issuer, serving
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from tests.bench import empty_rpc
from tests.bench.timing import Lane

TOKEN_LIFE = 3600.0
HEALTH_INTERVAL = 1.0  # seconds, as a server's own; tests ask fifty times as often
SCOPES = frozenset(
    [
        "bench:nothing",
        "feed:all",
        "graph:read",
        "graph:write",
        "memory:read",
        "memory:write",
        "search:read",
    ]
)


def agent(space: str = "bench") -> Caller:
    """Who asks in benchmarks."""
    return Caller(space, "bench", SCOPES, "AGENT")


@dataclass(frozen=True)
class Served:
    """Services behind one server."""

    serving: Serving

    def lane(
        self,
        method: str,
        requests: Sequence[Message],
        reply: type[Message],
        *,
        space: str = "bench",
    ) -> Lane:
        """Calls of one method, each with the next of `requests`."""
        token = self.serving.issuer.mint(agent(space), TOKEN_LIFE)
        return Lane(
            self.serving.address,
            (("authorization", f"Bearer {token}"),),
            method,
            tuple(each.SerializeToString() for each in requests),
            reply,
        )

    def empty_lane(self) -> Lane:
        """Calls of the empty RPC, where it is registered."""
        return self.lane(empty_rpc.METHOD, [Empty()], Empty)


@contextmanager
def nowhere(name: str) -> Iterator[Logger]:
    """A log that costs what logging costs and keeps nothing."""
    with Path(os.devnull).open("w") as stream:
        yield json_lines(name, stream=stream)


@asynccontextmanager
async def served(
    registrations: Sequence[Registration],
    *,
    issuer: TokenIssuer | None = None,
) -> AsyncIterator[Served]:
    """A server of `registrations` that logs every call, to nowhere."""
    with nowhere("bench") as log:
        async with serving(
            registrations,
            log=log,
            issuer=issuer,
            health_interval=HEALTH_INTERVAL,
        ) as live:
            yield Served(live)


@asynccontextmanager
async def graph(store: Path) -> AsyncIterator[GraphApp]:
    """Graph on a store file, its background work running."""
    store.parent.mkdir(parents=True, exist_ok=True)
    app = await build_on(SqliteConfig(store_path=store))
    await app.start()
    tune_collector()
    try:
        yield app
    finally:
        await app.close()


@dataclass(frozen=True)
class Whole:
    """Graph and search, each behind a server of its own."""

    graph: Served
    search: Served

    def searching(self, space: str) -> "search_pb2_grpc.SearchServiceAsyncStub":
        """Searches in a space."""
        return search_pb2_grpc.SearchServiceStub(
            self.search.serving.channel(agent(space), cap=None)
        )


@asynccontextmanager
async def whole(
    folder: Path, embedder: Embedder, *, qdrant: QdrantConfig | None = None
) -> AsyncIterator[Whole]:
    """Graph and search on `folder`, laid out as in a data directory; search follows graph.

    The index is embedded, or on a `qdrant` server.
    """
    issuer = new_issuer()
    async with (
        graph(folder / "graph" / "graph.db") as graph_app,
        served(graph_app.registrations, issuer=issuer) as truth,
    ):
        settings = IndexConfig(graph_address=truth.serving.address, index_path=folder / "index")
        with nowhere("search") as log:
            app = search_parts.build(settings, issuer, qdrant=qdrant, embedder=embedder, log=log)
            await app.start()
            try:
                registrations = [*app.registrations, empty_rpc.registration()]
                async with served(registrations, issuer=issuer) as finding:
                    yield Whole(truth, finding)
            finally:
                await app.close()
