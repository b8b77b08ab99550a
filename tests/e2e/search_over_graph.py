"""Search over the real graph, each a real server on a Unix socket, for tests of both together."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import grpc
from concord.graph.v1 import (
    feed_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    record_pb2_grpc,
    session_pb2_grpc,
)
from concord.search.v1 import search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_chassis.observe.log import json_lines
from concord_graph.bootstrap import build_on as build_graph
from concord_graph.config import SqliteConfig
from concord_search.bootstrap import SearchApp
from concord_search.bootstrap import build as build_search
from concord_search.config import IndexConfig, read_qdrant
from concord_search.domain.instants import Micros
from concord_search.ports.embedder import Embedder
from concord_testing.serving import Serving, new_issuer, serving

START: Micros = 1_760_000_000_000_000

SCOPES = frozenset(
    {
        *("memory:read", "memory:write", "graph:read", "graph:write"),
        *("search:read", "search:admin"),
    }
)
QUIET = json_lines("test", level="critical")


@dataclass
class TwoServers:
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

    def records(self, space: str = "default") -> "record_pb2_grpc.RecordServiceAsyncStub":
        channel = self.channel(self.graph, space, frozenset({"record:all"}))
        return record_pb2_grpc.RecordServiceStub(channel)

    def sessions(self) -> "session_pb2_grpc.SessionServiceAsyncStub":
        channel = self.channel(self.graph, "default", frozenset({"record:all"}))
        return session_pb2_grpc.SessionServiceStub(channel)

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
async def run(data: Path, embedder: Embedder, **options: object) -> AsyncIterator[TwoServers]:
    """Graph and search over a data directory, each a real server on a Unix socket."""
    issuer = new_issuer()
    graph = await build_graph(SqliteConfig(store_path=data / "graph.db"))
    await graph.start()
    try:
        async with serving(graph.registrations, issuer=issuer, ready=graph.ready) as served:
            config = IndexConfig(graph_address=served.address, index_path=data / "index")
            options = {"embedder": embedder, "log": QUIET, **options}
            if (qdrant := read_qdrant(os.environ)) is not None:
                prefix = f"e{abs(hash(data)) % 10**12}"  # the index of this directory alone
                qdrant = qdrant.model_copy(update={"prefix": prefix})
            app = build_search(config, issuer, qdrant=qdrant, **options)  # type: ignore[arg-type]
            await app.start()
            try:
                async with serving(app.registrations, issuer=issuer, ready=app.ready) as found:
                    yield TwoServers(served, found, app)
            finally:
                await app.close()
    finally:
        await graph.close()
