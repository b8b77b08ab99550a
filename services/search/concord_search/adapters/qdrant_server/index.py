"""The index over a Qdrant server."""

from collections.abc import Sequence
from pathlib import Path

from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.qdrant.index import QdrantIndex
from concord_search.adapters.qdrant.partition import Part
from concord_search.adapters.qdrant.shared import SharedParts
from concord_search.adapters.qdrant.space import SpaceIndex
from concord_search.adapters.qdrant_server import local_files
from concord_search.adapters.qdrant_server.collections import ServerShards
from concord_search.adapters.qdrant_server.connection import Connection
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.adapters.qdrant_server.shard import ServerShard
from concord_search.domain.errors import IndexUnavailable
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import IndexState, OnPart

READERS = 16
"""Concurrent searches, whose threads wait for the server."""

PARTITIONS = 8
"""Collections of one model; a server is made for some hundreds at most."""


class ServerIndex(QdrantIndex[ServerShard]):
    """The index in collections of a server; what this process keeps of it is below `root`.

    Other processes read the same collections. One alone may write them at a time: this one, unless
    it is told to stand by. While it does, a space's watermark is read anew by `state`, and a read
    finds all up to that.
    """

    kind_of_parts = SharedParts
    _parts: SharedParts[ServerShard]

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
        self.name, self.holder = settings.prefix, local_files.holder(root)
        shards = ServerShards(self._connection)
        super().__init__(
            root, models, shards, Bm25(), readers=READERS, partitions=partitions, **cache
        )

    def hold(self, until: float) -> None:
        """May write until that time of `time.monotonic`."""
        self._connection.writes_until = until

    async def lead(self) -> None:
        """Reads all that other processes wrote, to write from then on."""
        self._doubtful.clear()
        await self._writer.run(self._parts.columns.clear)
        await self._read_all()

    async def stand_by(self) -> None:
        """Writes nothing any more."""
        self.hold(0.0)
        await self._writer.run(self._parts.stand_by)

    async def renew(self) -> None:
        """Takes in the spaces that another process made since."""
        await self._writer.run(self._parts.renew)

    async def state(self, space: str) -> IndexState | None:
        if not self.leads:
            await self._look(space)
        return await super().state(space)

    async def _look(self, name: str) -> None:
        part = self._parts.by_name.get(name)
        if part is None:
            await self.renew()
            return
        try:
            mark = await self._readers.run(part.stored)
        except IndexUnavailable:  # with its whole shard, unless the server is away
            mark = None
        if mark is None:
            await self._writer.run(self._parts.look_again, part)
        elif not self.leads and mark.writes > part.mark.writes:
            part.mark = mark

    def _loaded(self, part: Part[ServerShard]) -> SpaceIndex[ServerShard]:
        found = super()._loaded(part)
        if not self.leads:
            found.catch_up()
        return found

    async def open(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        await self._connection.open()
        await super().open(on_part)

    async def close(self) -> None:
        await super().close()
        await self._connection.close()
