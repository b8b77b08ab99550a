"""One shard of the engine over one directory: its layout, opening, and queries."""

import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import qdrant_edge as qdrant

from concord_search.adapters.edge import mapped_files
from concord_search.adapters.qdrant import formula, payload
from concord_search.adapters.qdrant.filters import (
    Condition,
    Filter,
    HasId,
    MatchAny,
    MatchWord,
    PointId,
    Range,
)
from concord_search.adapters.qdrant.formula import Term
from concord_search.adapters.qdrant.payload import Payload
from concord_search.adapters.qdrant.shard import (
    DENSE,
    WORDS,
    Nearest,
    Points,
    Scored,
    Shard,
    Vectors,
    Weighing,
)
from concord_search.domain.errors import IndexCorrupt, IndexLocked

# The engine maps a vector file a second time, for whole scans; both mappings are resident. It reads
# this when it opens its first shard.
os.environ.setdefault("QDRANT_NO_MULTI_MMAP", "1")

NEVER = 10_000_000
"""Kilobytes of vectors from which this process would build an HNSW graph; `hnsw` builds them."""

M, EF_CONSTRUCT = 16, 100
"""Edges of a point in the HNSW graph, and candidates for them during the build."""

EXACT_BELOW = 10_000
"""Kilobytes of vectors, some 13,000 of them: if fewer pass a filter, they are searched exactly."""

BUILT = "hnsw-built"
"""The file in a shard's directory with the engine's count of indexed vectors when its graph was
built."""

SEARCH_THREADS = 2
"""Of a shard: a search asks for words and meaning at once, at most."""

DENSE_SEARCH = qdrant.SearchParams(
    hnsw_ef=256,  # for small limits, too: recall@10 was .995 at 200 candidates
    acorn=qdrant.AcornSearchParams(enable=True, max_selectivity=0.4),
)
"""Searches use the graph, and ACORN where a filter hides most points."""


class EdgeShard(Shard):
    """The engine over one directory. Its errors become `IndexCorrupt`.

    Every method blocks, the event loop too: the engine's Python binding (0.9.0) keeps the global
    lock through queries and writes, so a thread of its own helps only between them. So it reads and
    writes few points at once: all else waits meanwhile.
    """

    points_a_write = 32
    points_a_copy = 100

    def __init__(self, engine: qdrant.EdgeShard, path: Path) -> None:
        super().__init__(path.name)
        self._engine = engine
        self.path = path

    def _upsert(self, points: Points) -> None:
        written = [qdrant.Point(point, dict(vectors), values) for point, vectors, values in points]
        self._update(qdrant.UpdateOperation.upsert_points(written))

    def _set_payload(self, point: PointId, values: Payload) -> None:
        self._update(qdrant.UpdateOperation.set_payload([point], values))

    def _delete(self, points: Sequence[PointId]) -> None:
        self._update(qdrant.UpdateOperation.delete_points(list(points)))

    def _delete_all(self, wanted: Filter) -> None:
        self._update(qdrant.UpdateOperation.delete_points_by_filter(engine_filter(wanted)))

    def _update(self, operation: qdrant.UpdateOperation) -> None:
        try:
            self._engine.update(operation)
        except Exception as error:  # the engine raises nothing narrower
            raise IndexCorrupt(f"the index in {self.path} refused a write") from error

    def query(self, queries: Sequence[Nearest]) -> list[Scored]:
        return self._answers([query_request(each) for each in queries])

    def _answers(self, requests: Sequence[qdrant.QueryRequest]) -> list[Scored]:
        try:
            answers = self._engine.query_batch(qdrant.QueryBatchRequest(list(requests)))
        except Exception as error:  # the engine raises nothing narrower
            raise IndexCorrupt(f"the index in {self.path} refused a query") from error
        return [_scored(answer) for answer in answers]

    def weigh(self, query: Weighing) -> Scored:
        absent: dict[str, float] = {}
        request = qdrant.QueryRequest(
            limit=query.limit,
            prefetches=[
                qdrant.Prefetch(
                    limit=each.limit,
                    query=qdrant.Query.Nearest(each.vector, using=each.using),
                    filter=engine_filter(each.filter),
                    params=_corpus(each),
                )
                for each in query.branches
            ],
            query=qdrant.Formula(_expression(query.formula, absent), absent),
        )
        return self._answers([request])[0]

    def count(self, wanted: Filter) -> int:
        return self._engine.count(qdrant.CountRequest(filter=engine_filter(wanted)))

    def unindexed(self) -> int:
        """The number of points that are searched one by one, outside the HNSW graph."""
        built = self.path / BUILT
        then = int(built.read_text("ascii")) if built.exists() else 0
        # The engine counts a point outside the graph once, for its words; and never counts down.
        return self._engine.info().indexed_vectors_count - then

    def _pages(self, size: int, wanted: Filter | None, *, with_vectors: bool) -> Iterator[Points]:
        chosen, offset = engine_filter(wanted) if wanted else None, None
        while True:
            request = qdrant.ScrollRequest(
                offset=offset,
                limit=size,
                filter=chosen,
                with_payload=True,
                with_vector=with_vectors,
            )
            records, offset = self._engine.scroll(request)
            yield [_read(record) for record in records]
            if offset is None:
                return

    def _points(self, wanted: Collection[PointId], *, with_payload: bool) -> Points:
        found = self._engine.retrieve(list(wanted), with_payload=with_payload, with_vector=True)
        return [_read(record) for record in found]

    def flush(self) -> None:
        self._engine.flush()
        mapped_files.release(self.path)

    def close(self) -> None:
        self._engine.close()


def _scored(answer: Sequence[qdrant.ScoredPoint]) -> Scored:
    return Scored(
        np.array([hit.id for hit in answer], dtype=np.int64),
        np.array([hit.score for hit in answer], dtype=np.float64),
    )


def _expression(term: Term, absent: dict[str, float]) -> qdrant.Expression:
    """A formula in the engine's types; adds to `absent` each branch's score of points it missed."""
    made = qdrant.Expression
    match term:
        case formula.Score(branch, default):
            absent[f"$score[{branch}]"] = default
            return made.Variable(f"$score[{branch}]")
        case formula.Field(name):
            return made.Variable(name)
        case formula.Is(condition):
            return made.Condition(_condition(condition))
        case formula.Sum(terms):
            return made.Sum([_expression(each, absent) for each in terms])
        case formula.Product(terms):
            return made.Mult([_expression(each, absent) for each in terms])
        case formula.Largest(terms):
            return made.Max([_expression(each, absent) for each in terms])
        case formula.Quotient(over, under):
            return made.Div(_expression(over, absent), _expression(under, absent), None)
        case formula.Exp(inner):
            return made.Exp(_expression(inner, absent))
        case formula.Ln(inner):
            return made.Ln(_expression(inner, absent))
        case float():
            return made.Constant(term)


def _read(record: qdrant.Record) -> tuple[PointId, Vectors, Payload]:
    return cast(PointId, record.id), cast(Vectors, record.vector or {}), record.payload or {}


def query_request(query: Nearest) -> qdrant.QueryRequest:
    """A query in the engine's types."""
    return qdrant.QueryRequest(
        limit=query.limit,
        query=qdrant.Query.Nearest(query.vector, using=query.using),
        filter=engine_filter(query.filter),
        score_threshold=query.least,
        params=DENSE_SEARCH if query.using == DENSE else _corpus(query),
    )


def _corpus(query: Nearest) -> qdrant.SearchParams | None:
    if query.corpus is None:
        return None
    return qdrant.SearchParams(idf=qdrant.IdfParams(corpus=engine_filter(query.corpus)))


def engine_filter(wanted: Filter) -> qdrant.Filter:
    """A filter in the engine's types."""
    return qdrant.Filter(
        must=_conditions(wanted.must),
        must_not=_conditions(wanted.must_not),
        should=_conditions(wanted.should),
    )


def _conditions(wanted: Sequence[Condition]) -> list[Any] | None:
    return [_condition(each) for each in wanted] or None


def _condition(wanted: Condition) -> Any:  # the engine's stubs know no union of conditions
    match wanted:
        case MatchAny(field, numbers):
            return qdrant.FieldCondition(field, match=qdrant.MatchAny(list(numbers)))
        case MatchWord(field, word):
            return qdrant.FieldCondition(field, match=qdrant.MatchValue(word))
        case Range(field, gt, gte, lt, lte):
            return qdrant.FieldCondition(
                field, range=qdrant.RangeFloat(gt=gt, gte=gte, lt=lt, lte=lte)
            )
        case HasId(points):
            return qdrant.HasIdCondition(set(points))
        case Filter():
            return engine_filter(wanted)


def create(path: Path, dimension: int) -> EdgeShard:
    """Makes an empty shard in place of any at the path."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    engine = qdrant.EdgeShard.create(str(path), config(dimension))
    lookup = qdrant.IntegerIndexParams(lookup=True, range=False)
    in_range = qdrant.IntegerIndexParams(lookup=False, range=True)
    fields: list[tuple[str, qdrant.IntegerIndexParams | qdrant.KeywordIndexParams]] = [
        (payload.TENANT, qdrant.KeywordIndexParams(is_tenant=True)),
        *((name, lookup) for name in payload.LOOKUPS),
        *((name, in_range) for name in (*payload.RANGES, *payload.WEIGHED)),
    ]
    for name, schema in fields:
        engine.update(qdrant.UpdateOperation.create_field_index(name, schema))
    return EdgeShard(engine, path)


def load(path: Path) -> EdgeShard:
    """Opens a shard. Raises `IndexLocked` or `IndexCorrupt`."""
    try:
        engine = qdrant.EdgeShard.load(str(path))
        mapped_files.release(path)
        return EdgeShard(engine, path)
    except Exception as error:  # the engine raises nothing narrower
        if "WouldBlock" in str(error):
            raise IndexLocked(f"{path} is in use by another process; stop that process.") from error
        raise IndexCorrupt(
            f"the index in {path} cannot be read. Delete {path.parent}: it is rebuilt from graph."
        ) from error


def config(dimension: int, *, index_from: int = NEVER) -> qdrant.EdgeConfig:
    """The engine's settings; a graph is built from `index_from` kilobytes of vectors on."""
    return qdrant.EdgeConfig(
        vectors={
            DENSE: qdrant.EdgeVectorParams(
                size=dimension,
                distance=qdrant.Distance.Cosine,
                # Halves memory and search time; cosines move by less than .001.
                datatype=qdrant.VectorStorageDatatype.Float16,
                # Mapped, not read in: as fast, and 770 bytes a point less resident.
                memory=qdrant.Memory.Cold,
            )
        },
        sparse_vectors={WORDS: qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)},
        hnsw_config=qdrant.HnswIndexConfig(
            m=M, ef_construct=EF_CONSTRUCT, full_scan_threshold=EXACT_BELOW, max_indexing_threads=1
        ),
        optimizers=qdrant.EdgeOptimizersConfig(
            indexing_threshold=index_from, default_segment_number=1
        ),
        max_search_threads=SEARCH_THREADS,
    )
