"""The embedding models of this server, each opened when it is first needed (spec S10).

The vectors of one space's index are of one model. Spaces may have different models, since each is
reindexed by itself.
"""

import asyncio
from collections.abc import Sequence

from concord_search.domain.errors import ModelUnknown
from concord_search.ports.embedder import Embedder, EmbeddingModel


class Embedders:
    """The embedders of this server; the first is the one for new indexes."""

    def __init__(self, first: Embedder, *others: Embedder) -> None:
        self._embedders = {each.model: each for each in (first, *others)}
        self._opened: set[EmbeddingModel] = set()
        self._lock = asyncio.Lock()

    @property
    def models(self) -> Sequence[EmbeddingModel]:
        """The models that this server can embed with, first the one for new indexes."""
        return tuple(self._embedders)

    def named(self, model_id: str) -> EmbeddingModel:
        """The model with this id. Raises `ModelUnknown`."""
        for model in self._embedders:
            if model.model_id == model_id:
                return model
        known = ", ".join(model.model_id for model in self._embedders)
        raise ModelUnknown(f"this server embeds with {known}")

    async def of(self, model: EmbeddingModel) -> Embedder:
        """The opened embedder of a model. Raises `ModelUnknown`, `ModelMismatch`."""
        embedder = self._embedders.get(model)
        if embedder is None:
            raise ModelUnknown(f"this server does not embed with {model.model_id}")
        if model not in self._opened:
            async with self._lock:
                if model not in self._opened:
                    await embedder.open()
                    self._opened.add(model)
        return embedder

    async def close(self) -> None:
        """Frees every model."""
        for embedder in self._embedders.values():
            await embedder.close()
