"""An embedder for large made-up corpora: only queries are embedded in earnest."""

import hashlib
from collections.abc import Sequence

import numpy as np
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.ports import EmbeddingModel, Vector, Vectors


class StandIn:
    """Gives each document a random unit vector, the same one for the same text.

    It says that it is the real model, so that the real one can serve the index that it fills.
    """

    def __init__(self) -> None:
        self._real = MiniLm()

    @property
    def model(self) -> EmbeddingModel:
        """The real model."""
        return self._real.model

    async def open(self) -> None:
        """Loads the real model, for queries."""
        await self._real.open()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Random unit vectors, seeded by the texts."""
        seeds = [int.from_bytes(hashlib.blake2b(t.encode(), digest_size=8).digest()) for t in texts]
        width = self._real.model.dimension
        drawn = [np.random.default_rng(seed).standard_normal(width) for seed in seeds]
        rows = np.array(drawn, dtype=np.float32).reshape(len(texts), width)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    async def embed_query(self, text: str) -> Vector:
        """The real vector of a query."""
        return await self._real.embed_query(text)

    async def close(self) -> None:
        """Frees the real model."""
        await self._real.close()
