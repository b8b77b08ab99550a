"""The engine without Concord: one query with the same branches, filters and fusion, ten results."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as qdrant
from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.edge.shard import DENSE_SEARCH, engine_filter
from concord_search.adapters.qdrant import filters
from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.shard import DENSE, WORDS
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.domain.instants import Micros
from concord_search.ports.embedder import Vector
from concord_search.usecases.search import RANKED
from concord_testing.index_files import key_at, partition_at

LIMIT = 10
NO_WORDS = qdrant.SparseVector([], [])
NO_COLUMNS = Columns()


class BareEngine:
    """A copy of one space's shard, asked directly."""

    def __init__(self, shard: qdrant.EdgeShard, key: SpaceKey) -> None:
        self._shard = shard
        self._key = key
        self._words = Bm25()

    def recall(self, vector: Vector, now: Micros) -> float:
        """The share of the ten nearest, found one by one, that a search finds too."""
        scope = Scope(now, Superseded.EXCLUDE, MemoryFilter())
        wanted = engine_filter(filters.of_scope(scope, self._key, NO_COLUMNS))
        exact, found = (
            {
                hit.id
                for hit in self._shard.query(
                    qdrant.QueryRequest(
                        limit=RANKED,
                        query=qdrant.Query.Nearest(vector.tolist(), using=DENSE),
                        filter=wanted,
                        params=params,
                    )
                )[:LIMIT]
            }
            for params in (qdrant.SearchParams(exact=True), DENSE_SEARCH)
        )
        return len(exact & found) / len(exact)

    def ask(self, text: str, vector: Vector, now: Micros) -> int:
        """Asks once, as a search at `now` (µs) would; returns how many results came."""
        scope = Scope(now, Superseded.EXCLUDE, MemoryFilter())
        wanted = engine_filter(filters.of_scope(scope, self._key, NO_COLUMNS))
        branches = [
            qdrant.Prefetch(
                limit=RANKED,
                query=qdrant.Query.Nearest(value, using=name),
                filter=wanted,
                params=DENSE_SEARCH if name == DENSE else None,
            )
            for name, value in (
                (DENSE, vector.tolist()),
                (WORDS, self._words.of_query(text) or NO_WORDS),
            )
        ]
        fused: Any = qdrant.Fusion.Dbsf()  # its stub does not say that this is a Fusion
        found = self._shard.query(
            qdrant.QueryRequest(limit=LIMIT, prefetches=branches, query=fused)
        )
        return len(found)


@contextmanager
def copied(index: Path, folder: Path) -> Iterator[BareEngine]:
    """The engine over a copy of the only space of a closed index, made in `folder`."""
    shutil.copytree(partition_at(index), folder)
    stamp = json.loads((folder / "stamp.json").read_text("utf-8"))
    shard = qdrant.EdgeShard.load(str(folder / stamp["shard"]))
    try:
        yield BareEngine(shard, key_at(index))
    finally:
        shard.close()
