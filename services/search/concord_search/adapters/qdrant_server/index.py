"""The index over a Qdrant server."""

from collections.abc import Sequence
from pathlib import Path

from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.qdrant.index import QdrantIndex
from concord_search.adapters.qdrant_server.collections import ServerShards
from concord_search.adapters.qdrant_server.connection import Connection
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.adapters.qdrant_server.shard import ServerShard
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import OnPart

READERS = 16
"""Concurrent searches, whose threads wait for the server."""

PARTITIONS = 8
"""Collections of one model; a server is made for some hundreds at most."""


class ServerIndex(QdrantIndex[ServerShard]):
    """The index in collections of a server; its own files are below `root`."""

    def __init__(
        self,
        root: Path,
        models: Sequence[EmbeddingModel],
        settings: QdrantConfig,
        *,
        partitions: int = PARTITIONS,
        **cache: int,
    ) -> None:
        self._connection = Connection(settings)
        shards = ServerShards(self._connection)
        super().__init__(
            root, models, shards, Bm25(), readers=READERS, partitions=partitions, **cache
        )

    async def open(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        await self._connection.open()
        await super().open(on_part)

    async def close(self) -> None:
        await super().close()
        await self._connection.close()
