"""Texts as vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One embedding, shape (dimension,), of length one; or all zeros: the model cannot read the text.

Such a text has no meaning to the model, and so no cosine with any other.
"""

Vectors = NDArray[np.float32]
"""Embeddings, shape (n, dimension), each row as a `Vector`."""


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which model made a vector. Vectors of different models are never mixed."""

    model_id: str
    dimension: int
    revision: str

    @property
    def in_words(self) -> str:
        """The model in words for people."""
        return f"{self.model_id} ({self.dimension} dimensions, revision {self.revision[:12]})"


class Embedder(Protocol):
    """Turns texts into vectors of one model.

    Equal texts give nearly equal vectors, whatever they are embedded together with. A text longer
    than the model reads is read as far as it goes. One mostly in signs or scripts that the model
    does not know is not read: its vector is zero, lest all such texts be alike.
    """

    @property
    def model(self) -> EmbeddingModel:
        """The model, the same for the embedder's whole life."""
        ...

    async def open(self) -> None:
        """Loads what it needs, before the first text. Raises `ModelMismatch`."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in their order.

        Raises `EmbeddingUnavailable` when trying again later may help, `EmbeddingRefused` when it
        will not.
        """
        ...

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query; does not wait behind texts that are being embedded."""
        ...

    def knows(self, text: str) -> bool:
        """Whether it knows a word of a query; else only strings that look alike are near to it.

        Words that say nothing about a subject do not count. The embedder is open.
        """
        ...

    async def close(self) -> None:
        """Ends what runs and frees the model."""
        ...
