"""The index over Qdrant Edge: its shards are directories beside the other files of their parts."""

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.edge import disk_space, shard
from concord_search.adapters.edge.shard import EdgeShard
from concord_search.adapters.qdrant.index import QdrantIndex
from concord_search.ports import EmbeddingModel

READERS = 2
SHARD = "shard"


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
    ) -> None:
        shards = EdgeShards(root, free_bytes)
        super().__init__(root, (model, *others), shards, Bm25(), readers=READERS)


class EdgeShards:
    """The shards of all parts; see `qdrant.shard.Shards`."""

    def __init__(self, root: Path, free_bytes: Callable[[Path], int]) -> None:
        self._root = root
        self._free_bytes = free_bytes

    def require_room(self) -> None:
        """Raises `IndexDiskFull` where a write would find no room."""
        disk_space.require(self._free_bytes(self._root), self._root)

    def create(self, part: Path, dimension: int) -> EdgeShard:
        """Makes an empty shard."""
        first = part / SHARD
        path = part / f"{SHARD}-{secrets.token_hex(4)}" if first.exists() else first
        return shard.create(path, dimension)

    def make_current(self, part: Path, shard: EdgeShard) -> str:  # noqa: ARG002 - the port's
        """Returns its name: the stamp makes it current."""
        return shard.path.name

    def load(self, part: Path, name: str) -> EdgeShard:
        """Opens a shard, and removes others. Raises `IndexLocked` or `IndexCorrupt`."""
        for stray in part.glob(f"{SHARD}*"):
            if stray.name != name:  # a process was killed while it made the files anew
                shutil.rmtree(stray)
        return shard.load(part / name)

    def remove(self, shard: EdgeShard) -> None:
        """Removes a shard's files."""
        shutil.rmtree(shard.path, ignore_errors=True)

    def discard(self, part: Path) -> None:
        """Nothing of a part is outside its directory."""
