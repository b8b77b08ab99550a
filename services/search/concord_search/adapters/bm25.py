"""The lexical side of a text. Qdrant Edge's package makes it for the server, too."""

from collections.abc import Sequence

import qdrant_edge as qdrant


class Bm25:
    """BM25's side of a text: stop words out, English stems, k = 1.2, b = .75, length 256.

    The inverse document frequency is the engine's, over the points of one shard.
    """

    def __init__(self) -> None:
        self._model = qdrant.Bm25(qdrant.Bm25Config(language="english"))

    def of_document(self, text: str) -> qdrant.SparseVector:
        """The weights of a text that is found."""
        return self._model.embed_document(text)

    def of_query(self, text: str) -> qdrant.SparseVector | None:
        """The weights of a text that asks; None when it holds only stop words."""
        weights = self._model.embed_query(text)
        return weights if weights.indices else None

    def terms_of(self, weights: qdrant.SparseVector) -> Sequence[int]:
        """The numbers of the words that have weights."""
        return weights.indices
