"""The index over Qdrant Edge: its shards are directories beside the other files of their parts.

If many points are searched one by one, their HNSW graph is built beside searches and writes: over a
copy of the files, by a process of its own. The part then takes the copy as after a scrub.
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
from concord_search.adapters.edge import disk_space, memory_maps, shard
from concord_search.adapters.edge.shard import EdgeShard
from concord_search.adapters.qdrant.index import QdrantIndex
from concord_search.adapters.qdrant.shard import Shards
from concord_search.adapters.qdrant.space import SpaceIndex
from concord_search.domain.errors import IndexCorrupt
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import Batch, OnPart

READERS = 2
BUILD_GRAPH = "build a graph"
"""The name of the task that builds the graph of a space's part."""
SHARD = "shard"

GRAPH_FROM = 20_000
"""Points that are searched one by one before a graph is built over them."""

LOOK_EVERY = 1_000
"""Changes of a part between two checks of the number of points outside its graph."""

REST = 4.0
"""Rest after a build of a graph, as a multiple of its time, to leave processors to an import."""


class EdgeIndex(QdrantIndex[EdgeShard]):
    """The index in this process's own files.

    ROOT/HASH/shard-X/        the engine's files; the stamp says which, others are left-overs
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
    ) -> None:
        shards = EdgeShards(root, free_bytes)
        super().__init__(root, (model, *others), shards, Bm25(), readers=READERS)
        self._edges = shards
        self._graph_from = graph_from
        self._log = json_lines("search") if log is None else log
        self._background = Background(self._log) if background is None else background
        self._unseen: Counter[str] = Counter()
        self._building: dict[str, asyncio.Task[None]] = {}

    async def open(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        """Opens every part, as `QdrantIndex` does; then starts to build missing graphs."""
        await super().open(on_part)
        for space in await self.states():
            self._consider(space)

    async def apply(self, space: str, batch: Batch) -> None:
        """Applies changes, as `QdrantIndex` does; may start the build of a graph."""
        await super().apply(space, batch)
        self._unseen[space] += len(batch.states) + len(batch.endings) + len(batch.touches)
        if self._unseen[space] >= LOOK_EVERY:
            self._consider(space)

    async def scrub(self, space: str) -> Sequence[str]:
        """Makes a space's files anew, as `QdrantIndex` does; builds its graph anew afterwards."""
        await self._stop(space)
        try:
            return await super().scrub(space)
        finally:
            self._consider(space)

    async def begin(self, space: str, epoch: str, model: EmbeddingModel | None = None) -> None:
        part = self._parts.by_space.get(space)
        if part is None or part.state().epoch != epoch:
            await self._stop(space)
        await super().begin(space, epoch, model)

    async def remove(self, space: str) -> None:
        await self._stop(space)
        await super().remove(space)

    async def close(self) -> None:
        for space in list(self._building):
            await self._stop(space)
        await super().close()

    # The graph

    def _consider(self, space: str) -> None:
        self._unseen[space] = 0
        building = self._building.get(space)
        if building is None or building.done():
            build = partial(self._build, space)
            self._building[space] = self._background.start(BUILD_GRAPH, build, space=space)

    async def _stop(self, space: str) -> None:
        if building := self._building.pop(space, None):
            building.cancel()
            await asyncio.wait([building])

    async def _build(self, space: str) -> None:
        """Builds the graph of a part while many points are outside it; rests after each time."""
        try:
            while await self._lacks_graph(space):
                began = asyncio.get_running_loop().time()
                async with self._remaking[space]:
                    await self._replace(space)
                await asyncio.sleep(REST * (asyncio.get_running_loop().time() - began))
        except (IndexCorrupt, OSError) as error:  # searches stay exact
            self._warn(reason=str(error))

    async def _lacks_graph(self, space: str) -> bool:
        part = self._parts.by_space.get(space)
        if part is None:
            return False
        return await self._writer.run(part.shard.unindexed) >= self._graph_from

    async def _replace(self, space: str) -> None:
        part = self._parts[space]
        copy = part.shard.path.with_name(f"{SHARD}-{secrets.token_hex(4)}")
        is_taken = False
        try:
            if not await self._writer.run(self._copy_files, part, copy):
                return
            if await self._built(copy, part.model.dimension):
                fresh = await self._copier.run(shard.load, copy)
                is_taken = True
                take = partial(self._take, space, part, fresh, has_traces=True)
                await self._writer.run(take)
        finally:
            if not is_taken:
                await self._writer.run(self._leave, part, copy)

    def _copy_files(self, part: SpaceIndex[EdgeShard], copy: Path) -> bool:
        """Copies a part's files while nothing is written; False if the disk lacks the room."""
        files = [each for each in part.shard.path.rglob("*") if each.is_file()]
        size = sum(each.stat().st_blocks * 512 for each in files)
        if self._edges.free() < 3 * size + disk_space.SPARE:
            return False
        part.begin_copy()
        part.shard.flush()
        shutil.copytree(part.shard.path, copy)
        return True

    def _leave(self, part: SpaceIndex[EdgeShard], copy: Path) -> None:
        part.shard.noted = None
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
    """The shards of all parts: nothing of one is outside its directory."""

    engine = "edge"

    def __init__(self, root: Path, free_bytes: Callable[[Path], int]) -> None:
        self._root = root
        self._free_bytes = free_bytes

    def require_room(self) -> None:
        disk_space.require(self.free(), self._root)

    def free(self) -> int:
        """The free bytes of the disk."""
        return self._free_bytes(self._root)

    def create(self, part: Path, dimension: int) -> EdgeShard:
        memory_maps.require()
        first = part / SHARD
        path = part / f"{SHARD}-{secrets.token_hex(4)}" if first.exists() else first
        return shard.create(path, dimension)

    def load(self, part: Path, name: str) -> EdgeShard:
        memory_maps.require()
        for stray in part.glob(f"{SHARD}*"):
            if stray.name != name:  # a process was killed while it made the files anew
                # Ignoring errors: its graph's builder may outlive it for a moment and still write.
                shutil.rmtree(stray, ignore_errors=True)
        return shard.load(part / name)

    def remove(self, shard: EdgeShard) -> None:
        shutil.rmtree(shard.path, ignore_errors=True)
