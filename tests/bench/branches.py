"""The two branches of a hybrid search by themselves: words alone and vectors alone."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import qdrant_edge as qdrant
from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.edge import shard
from concord_search.adapters.edge.shard import query_request
from concord_search.adapters.qdrant.filters import Filter
from concord_search.adapters.qdrant.shard import DENSE, WORDS, Nearest, Points
from concord_search.ports.embedder import Embedder

from tests.bench.conversations import Collection, Question, Turn

LIMIT = 10


class Branches:
    """A shard for each conversation. Close it with `with`."""

    def __init__(
        self, embedder: Embedder, shards: dict[str, qdrant.EdgeShard], keys: dict[int, str]
    ) -> None:
        self._embedder, self._shards, self._keys = embedder, shards, keys
        self._model = Bm25()

    @classmethod
    async def over(cls, embedder: Embedder, collection: Collection, folder: Path) -> "Branches":
        """The turns of a collection, each conversation in a shard of its own below `folder`."""
        points = {turn.key: point for point, turn in enumerate(collection.turns)}
        made = cls(embedder, {}, {point: key for key, point in points.items()})
        for number, (name, turns) in enumerate(collection.conversations.items()):
            path = folder / str(number)
            made_shard = shard.create(path, embedder.model.dimension)
            made_shard.upsert(await made._points(turns, points))
            made_shard.close()
            made._shards[name] = qdrant.EdgeShard.load(str(path))
        return made

    async def _points(self, turns: Sequence[Turn], points: dict[str, int]) -> Points:
        vectors = await self._embedder.embed([turn.text for turn in turns])
        return [
            (
                points[turn.key],
                {DENSE: vector.tolist(), WORDS: self._model.of_document(turn.text)},
                {},
            )
            for turn, vector in zip(turns, vectors, strict=True)
        ]

    async def words(self, question: Question) -> list[str]:
        """BM25 alone, within the question's conversation."""
        return self._asked(question, self._model.of_query(question.text), WORDS)

    async def dense(self, question: Question) -> list[str]:
        """Cosine alone, within the question's conversation."""
        vector = await self._embedder.embed_query(question.text)
        return self._asked(question, vector.tolist(), DENSE)

    def _asked(
        self, question: Question, vector: list[float] | qdrant.SparseVector | None, branch: str
    ) -> list[str]:
        if vector is None:
            return []
        query = query_request(Nearest(vector, branch, LIMIT, Filter()))
        found = self._shards[question.conversation].query(query)
        return [self._keys[hit.id] for hit in found if isinstance(hit.id, int)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in self._shards.values():
            each.close()
