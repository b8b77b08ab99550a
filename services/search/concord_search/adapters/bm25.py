"""The lexical vector of a text, by Qdrant Edge's package, for the server, too."""

from collections.abc import Sequence

import qdrant_edge as qdrant


class Bm25:
    """BM25's weights of a text: no stop words, English stems, k = 1.2, b = .75, length 256.

    The inverse document frequency is the engine's, over the points of one shard.
    """

    def __init__(self) -> None:
        self._model = qdrant.Bm25(qdrant.Bm25Config(language="english"))

    def of_document(self, text: str) -> qdrant.SparseVector:
        return self._model.embed_document(text)

    def of_query(self, text: str) -> qdrant.SparseVector | None:
        weights = self._model.embed_query(text)
        return weights if weights.indices else None

    def terms_of(self, weights: qdrant.SparseVector) -> Sequence[int]:
        return weights.indices
