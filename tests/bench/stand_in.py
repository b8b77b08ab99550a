"""An embedder for large made-up corpora: only queries and some texts are embedded in earnest."""

import hashlib
from collections.abc import Sequence
from itertools import islice

import numpy as np
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.ports.embedder import EmbeddingModel, Vector, Vectors

from tests.bench import sentences

EMBEDDED = 2_000
"""Texts that are embedded; the vectors of others are theirs, perturbed."""

NOISE = 0.03
"""Standard deviation in each dimension: a perturbed vector has a cosine of some .86 to its own."""


class StandIn:
    """Gives each document the vector of another one, perturbed; the same one for the same text.

    It says that it is the real model, so that the real one can serve the index that it fills.
    """

    def __init__(self) -> None:
        self._real = MiniLm()
        self._known: Vectors | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The real model."""
        return self._real.model

    async def open(self) -> None:
        """Loads the real model, for queries."""
        await self._real.open()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Perturbed vectors of made-up sentences, seeded by the texts."""
        if self._known is None:
            self._known = await self._real.embed(list(islice(sentences.endless(seed=2), EMBEDDED)))
        rows = np.empty((len(texts), self._real.model.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
            draw = np.random.default_rng(seed)
            noise = NOISE * draw.standard_normal(len(row), dtype=np.float32)
            row[:] = self._known[draw.integers(EMBEDDED)] + noise
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    async def embed_query(self, text: str) -> Vector:
        """The real vector of a query."""
        return await self._real.embed_query(text)

    def knows(self, text: str) -> bool:
        """Whether the real model knows a word of a query."""
        return self._real.knows(text)

    async def close(self) -> None:
        """Frees the real model."""
        await self._real.close()
