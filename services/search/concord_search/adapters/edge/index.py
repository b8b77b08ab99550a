"""The index over Qdrant Edge: its shards are directories beside the other files of partitions.

If a space has many points that are searched one by one, an HNSW graph is built beside searches and
writes: over a copy of the files, by a process of its own. The space's partition then takes the copy
as after a scrub.
"""

import asyncio
import secrets
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.server.background import Background

from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.durable_file import read_json
from concord_search.adapters.edge import disk_space, shard
from concord_search.adapters.edge.shard import EdgeShard
from concord_search.adapters.qdrant.catalogue import Catalogue
from concord_search.adapters.qdrant.index import QdrantIndex
from concord_search.adapters.qdrant.partition import Partition
from concord_search.adapters.qdrant.shard import Shards
from concord_search.domain.errors import IndexCorrupt, IndexUnusable
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import Batch, OnPart

READERS = 2
BUILD_GRAPH = "build a graph"
"""The name of the task that builds the graph of a partition."""
SHARD = "shard"

GRAPH_FROM = 20_000
"""Points that are searched one by one before a graph is built over them."""

LOOK_EVERY = 1_000
"""Changes of a partition between two checks of the number of points outside its graph."""

PARTITIONS = 8
"""Each takes 29 MB of disk and 2 threads from its first space on; of its mapped files only what is
used stays in memory. What was erased is gone once one is made anew: with many spaces, fewer
partitions would make that slow."""

REST = 4.0
"""Rest after a build of a graph, as a multiple of its time, to leave processors to an import."""


class EdgeIndex(QdrantIndex[EdgeShard]):
    """The index in this process's own files.

    ROOT/X/shard-Y/        the engine's files; the stamp says which, others are left-overs
    """

    def __init__(
        self,
        root: Path,
        model: EmbeddingModel,
        *others: EmbeddingModel,
        free_bytes: Callable[[Path], int] = disk_space.free_bytes,
        graph_from: int = GRAPH_FROM,
        background: Background | None = None,
        log: Logger | None = None,
        partitions: int = PARTITIONS,
        **cache: int,
    ) -> None:
        shards = EdgeShards(root, free_bytes)
        models = (model, *others)
        super().__init__(
            root, models, shards, Bm25(), readers=READERS, partitions=partitions, **cache
        )
        self._edges = shards
        self._graph_from = graph_from
        self._log = json_lines("search") if log is None else log
        self._background = Background(self._log) if background is None else background
        self._unseen: Counter[Path] = Counter()
        self._building: dict[Path, asyncio.Task[None]] = {}

    async def open(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        """Opens every partition, as `QdrantIndex` does; then starts to build missing graphs."""
        await super().open(on_part)
        for partition in self._parts.partitions.copy().values():
            self._consider(partition)

    async def apply(self, space: str, batch: Batch) -> None:
        """Applies changes, as `QdrantIndex` does; may start the build of a graph."""
        await super().apply(space, batch)
        partition = self._parts[space].partition
        changes = len(batch.states) + len(batch.endings) + len(batch.touches)
        self._unseen[partition.path] += changes
        if self._unseen[partition.path] >= LOOK_EVERY:
            self._consider(partition)

    async def _remade(self, partition: Partition[EdgeShard]) -> None:
        """Makes the files anew, as `QdrantIndex` does; builds the graph anew afterwards."""
        await super()._remade(partition)
        self._consider(partition)

    async def scrub(self, space: str) -> Sequence[str]:
        """Makes files anew, as `QdrantIndex` does: that does not wait for a graph."""
        await self._stop(self._parts[space].partition)
        return await super().scrub(space)

    async def close(self) -> None:
        for partition in self._parts.partitions.copy().values():
            await self._stop(partition)
        await super().close()

    # The graph

    def _consider(self, partition: Partition[EdgeShard]) -> None:
        self._unseen[partition.path] = 0
        building = self._building.get(partition.path)
        if (building is None or building.done()) and self._is_large(partition):
            build = partial(self._build, partition)
            self._building[partition.path] = self._background.start(BUILD_GRAPH, build)

    def _is_large(self, partition: Partition[EdgeShard]) -> bool:
        """Whether a space has enough points for a graph; the engine searches fewer one by one."""
        parts = partition.parts.copy().values()
        return max((part.mark.memories for part in parts), default=0) >= self._graph_from

    async def _stop(self, partition: Partition[EdgeShard]) -> None:
        if building := self._building.pop(partition.path, None):
            building.cancel()
            await asyncio.wait([building])

    async def _build(self, partition: Partition[EdgeShard]) -> None:
        """Builds a partition's graph while many points are outside it; rests after each time."""
        try:
            while await self._lacks_graph(partition):
                began = asyncio.get_running_loop().time()
                async with self._remaking[partition.path]:
                    await self._replace(partition)
                await asyncio.sleep(REST * (asyncio.get_running_loop().time() - began))
        except (IndexCorrupt, OSError) as error:  # searches stay exact
            self._warn(reason=str(error))

    async def _lacks_graph(self, partition: Partition[EdgeShard]) -> bool:
        if partition not in self._parts.partitions.copy().values():
            return False
        return await self._writer.run(partition.shard.unindexed) >= self._graph_from

    async def _replace(self, partition: Partition[EdgeShard]) -> None:
        copy = partition.shard.path.with_name(f"{SHARD}-{secrets.token_hex(4)}")
        is_taken = False
        try:
            if not await self._writer.run(self._copy_files, partition, copy):
                return
            if await self._built(copy, partition.model.dimension):
                fresh = await self._copier.run(shard.load, copy)
                is_taken = True
                # with the files' bytes of removed points, if any
                await self._writer.run(self._take, partition, fresh, partition.clean)
        finally:
            if not is_taken:
                await self._writer.run(self._leave, partition, copy)

    def _copy_files(self, partition: Partition[EdgeShard], copy: Path) -> bool:
        """Copies a shard's files while nothing is written; False if the disk lacks the room."""
        files = [each for each in partition.shard.path.rglob("*") if each.is_file()]
        size = sum(each.stat().st_blocks * 512 for each in files)
        if self._edges.free() < 3 * size + disk_space.SPARE:
            return False
        self._parts.begin_copy(partition)
        partition.shard.flush()
        shutil.copytree(partition.shard.path, copy)
        return True

    def _leave(self, partition: Partition[EdgeShard], copy: Path) -> None:
        self._parts.leave_copy(partition)
        shutil.rmtree(copy, ignore_errors=True)

    async def _built(self, copy: Path, dimension: int) -> bool:
        program = ("-m", "concord_search.adapters.edge.hnsw", str(copy), str(dimension))
        process = await asyncio.create_subprocess_exec(
            sys.executable, *program, stdin=asyncio.subprocess.DEVNULL
        )
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if code:
            self._warn(status=code)
        return code == 0

    def _warn(self, **why: object) -> None:
        self._log.warning("no graph built: searches stay exact", **why)


class EdgeShards(Shards[EdgeShard]):
    """The shards of all partitions: nothing of one is outside its directory."""

    engine = "edge"

    def __init__(self, root: Path, free_bytes: Callable[[Path], int]) -> None:
        self._root = root
        self._free_bytes = free_bytes

    def catalogue(self, root: Path) -> Catalogue:
        server: dict[str, str] = read_json(root / "server.json", dict, {})
        if server:
            raise IndexUnusable(
                f"{root} belongs to the collections {server['prefix']}-* of the Qdrant server at "
                f"{server['url']}. To leave that server, remove them there, as they may hold what "
                f"is erased later, and delete {root}: it is rebuilt from graph."
            )
        return super().catalogue(root)

    def require_room(self) -> None:
        disk_space.require(self.free(), self._root)

    def free(self) -> int:
        """The free bytes of the disk."""
        return self._free_bytes(self._root)

    def create(self, partition: Path, dimension: int) -> EdgeShard:
        first = partition / SHARD
        path = partition / f"{SHARD}-{secrets.token_hex(4)}" if first.exists() else first
        return shard.create(path, dimension)

    def load(self, partition: Path, name: str) -> EdgeShard:
        for stray in partition.glob(f"{SHARD}*"):
            if stray.name != name:  # a process was killed while it made the files anew
                # Ignoring errors: its graph's builder may outlive it for a moment and still write.
                shutil.rmtree(stray, ignore_errors=True)
        return shard.load(partition / name)

    def remove(self, shard: EdgeShard) -> None:
        shutil.rmtree(shard.path, ignore_errors=True)
