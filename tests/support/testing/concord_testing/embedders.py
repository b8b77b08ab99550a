"""Embedders for search's tests, which need no model or share one."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import TypeVar

import numpy as np
from concord_search.ports.embedder import Embedder, EmbeddingModel, Vector, Vectors
from numpy.typing import NDArray

T = TypeVar("T")


class WordEmbedder:
    """The embedder port by words alone: each word has a fixed random direction."""

    model = EmbeddingModel("words", 384, "1")

    async def open(self) -> None:
        """Nothing to load."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        return np.stack([self.vector(text) for text in texts])

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query."""
        return self.vector(text)

    def knows(self, _text: str) -> bool:
        """Every word has its direction."""
        return True

    def vector(self, text: str) -> Vector:
        """The sum of its words' directions, of length one."""
        words = Counter(text.casefold().split())
        total = sum((times * _direction(word) for word, times in words.items()), np.zeros(384))
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)

    async def close(self) -> None:
        """Nothing to free."""


def ready(value: T) -> asyncio.Future[T]:
    """A value that is there already, such as a question's vector."""
    made: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    made.set_result(value)
    return made


@cache
def _direction(word: str) -> NDArray[np.float64]:
    seed = int.from_bytes(sha256(word.encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(384)


class Shared:
    """An embedder that outlives the app which closes it."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def model(self) -> EmbeddingModel:
        """The inner embedder's model."""
        return self._inner.model

    async def open(self) -> None:
        """Open already."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        return await self._inner.embed(texts)

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query."""
        return await self._inner.embed_query(text)

    def knows(self, text: str) -> bool:
        """Whether the inner embedder knows a word of a query."""
        return self._inner.knows(text)

    async def close(self) -> None:
        """Stays open for the next test."""
