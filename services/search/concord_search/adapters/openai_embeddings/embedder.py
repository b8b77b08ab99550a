"""The embedder port over any endpoint that speaks OpenAI's `/v1/embeddings`.

`concord_models` sends and retries; this module makes the request and checks the reply.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import openai
from concord_chassis.observe.log import Logger
from concord_models.endpoint import (
    BadReply,
    EndpointRefused,
    EndpointUnavailable,
    ModelEndpoint,
    RetryPolicy,
)
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from concord_search.domain.errors import EmbeddingRefused, EmbeddingUnavailable
from concord_search.ports.embedder import EmbeddingModel, Vector, Vectors

MAX_CHARACTERS = 100_000
"""Characters in one request."""

MAX_TEXT_CHARACTERS = 20_000
"""Characters of one text that are sent; the rest of a longer text is not read."""


class _Embedding(BaseModel):
    model_config = ConfigDict(frozen=True)

    index: int
    embedding: list[float]


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)

    data: list[_Embedding]


class _UnusableVector(BadReply):
    """A vector that cannot be normalised; if it lasts, it is due to one of the texts."""


class OpenAiEmbeddings:
    """The embedder port over an endpoint."""

    def __init__(
        self,
        url: str,
        key: SecretStr,
        model: EmbeddingModel,
        policy: RetryPolicy,
        log: Logger,
        *,
        max_texts: int = 128,
    ) -> None:
        """`model` is as the operator named it; a request carries at most `max_texts` texts."""
        self.model = model
        self._max_texts = max_texts
        self._endpoint = ModelEndpoint("embedding endpoint", url, key, policy, log)

    async def open(self) -> None:
        """Nothing to load; the first text is the first call of the endpoint."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        parts = [await self._request(part) for part in _requests(texts, self._max_texts)]
        if not parts:
            return np.zeros((0, self.model.dimension), dtype=np.float32)
        return np.concatenate(parts)

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query, within the caller's remaining time."""
        (row,) = await self.embed([text])
        return np.asarray(row, dtype=np.float32)

    def knows(self, text: str) -> bool:  # noqa: ARG002 - its words are the endpoint's secret
        """Whatever the text is: an endpoint does not say what its model knows."""
        return True

    async def _request(self, texts: Sequence[str]) -> Vectors:
        async def call(client: openai.AsyncOpenAI) -> Any:
            return await client.embeddings.with_raw_response.create(
                model=self.model.model_id, input=list(texts), encoding_format="float"
            )

        try:
            return await self._endpoint.ask(
                call, lambda body: _checked(body, len(texts), self.model.dimension)
            )
        except EndpointRefused as error:
            raise EmbeddingRefused(str(error)) from error
        except EndpointUnavailable as error:
            if isinstance(error.__cause__, _UnusableVector):  # else one text would stop the index
                raise EmbeddingRefused(str(error)) from error
            raise EmbeddingUnavailable(str(error)) from error

    async def close(self) -> None:
        await self._endpoint.close()


def _requests(texts: Sequence[str], max_texts: int) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        cut = text[:MAX_TEXT_CHARACTERS]
        if part and (len(part) >= max_texts or size + len(cut) > MAX_CHARACTERS):
            yield part
            part, size = [], 0
        part.append(cut)
        size += len(cut)
    if part:
        yield part


def _checked(content: bytes, count: int, dimension: int) -> Vectors:
    """The reply's vectors in the order asked, each of length one. Raises `BadReply`."""
    try:
        items = _Reply.model_validate_json(content).data
    except ValidationError:
        # The library's own message would show the reply.
        raise BadReply("its reply is not the JSON of embeddings") from None
    if sorted(item.index for item in items) != list(range(count)):
        raise BadReply(f"its reply does not hold exactly one embedding for each of {count} texts")
    ordered = sorted(items, key=lambda item: item.index)
    lengths = {len(item.embedding) for item in ordered}
    if lengths != {dimension}:
        raise EmbeddingUnavailable(
            f"The embedding endpoint sends {sorted(lengths)} dimensions, not {dimension}."
        )
    rows = np.array([item.embedding for item in ordered], dtype=np.float64)
    with np.errstate(all="ignore"):  # overflows are checked below
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        vectors = np.asarray(rows / norms, dtype=np.float32)
    if not (np.isfinite(norms).all() and np.isfinite(vectors).all()):
        raise _UnusableVector("its reply holds a vector that is not finite or has no length")
    return vectors
