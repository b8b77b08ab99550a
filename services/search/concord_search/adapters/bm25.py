"""The lexical vector of a text, by Qdrant Edge's package, for the server, too."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import qdrant_edge as qdrant

from concord_search.adapters.spelling import spelled


class Bm25:
    """BM25's weights of a text: no stop words, English stems, k = 1.2, b = .75, length 256.

    Scripts without English words are split into n-grams first: see `spelling`. The inverse document
    frequency is the engine's, over the points of one shard.
    """

    def __init__(self) -> None:
        model = qdrant.Bm25(qdrant.Bm25Config(language="english"))
        self._model = model
        self._is_stop_word = lru_cache(maxsize=1 << 10)(
            lambda word: not model.embed_query(word).indices
        )

    def of_document(self, text: str) -> qdrant.SparseVector:
        return self._model.embed_document(spelled(text, self._is_stop_word, every=True))

    def of_query(self, text: str) -> qdrant.SparseVector | None:
        weights = self._model.embed_query(spelled(text, self._is_stop_word, every=False))
        return weights if weights.indices else None

    def joined(
        self, weights: qdrant.SparseVector | None, more: Mapping[int, float]
    ) -> qdrant.SparseVector:
        made = dict(more)
        if weights is not None:
            made |= dict(zip(weights.indices, weights.values, strict=True))
        return qdrant.SparseVector([*made], [*made.values()])

    def terms_of(self, weights: qdrant.SparseVector) -> Sequence[int]:
        return weights.indices
