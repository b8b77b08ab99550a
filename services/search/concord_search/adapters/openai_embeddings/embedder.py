"""The embedder port over any endpoint that speaks OpenAI's `/v1/embeddings`.

`concord_models` sends and retries; this module makes the request and checks the reply.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The endpoint, its model, and the limits of requests.

    `timeout` bounds one attempt and `budget` all attempts for one request, in seconds. A request
    carries at most `max_texts` texts and `max_characters` characters, of one text at most
    `max_text_characters`. `revision` is the operator's name for the weights behind `model`.
    """

    base_url: str
    model: str
    dimension: int
    key: SecretStr
    revision: str = "1"
    timeout: float = 10.0
    budget: float = 30.0
    max_texts: int = 128
    max_characters: int = 100_000
    max_text_characters: int = 20_000
    first_wait: float = 0.25
    longest_wait: float = 8.0


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

    def __init__(self, endpoint: Endpoint, log: Logger) -> None:
        self._endpoint = endpoint
        policy = RetryPolicy(
            timeout=endpoint.timeout,
            budget=endpoint.budget,
            first_wait=endpoint.first_wait,
            longest_wait=endpoint.longest_wait,
        )
        self._model_endpoint = ModelEndpoint(
            "embedding endpoint", endpoint.base_url, endpoint.key, policy, log
        )

    @property
    def model(self) -> EmbeddingModel:
        end = self._endpoint
        return EmbeddingModel(end.model, end.dimension, end.revision)

    async def open(self) -> None:
        """Nothing to load; the first text is the first call of the endpoint."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        parts = [await self._request(part) for part in _requests(texts, self._endpoint)]
        if not parts:
            return np.zeros((0, self._endpoint.dimension), dtype=np.float32)
        return np.concatenate(parts)

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query, within the caller's remaining time."""
        (row,) = await self.embed([text])
        return np.asarray(row, dtype=np.float32)

    async def _request(self, texts: Sequence[str]) -> Vectors:
        async def call(client: openai.AsyncOpenAI) -> Any:
            return await client.embeddings.with_raw_response.create(
                model=self._endpoint.model, input=list(texts), encoding_format="float"
            )

        try:
            return await self._model_endpoint.ask(
                call, lambda body: _checked(body, len(texts), self._endpoint.dimension)
            )
        except EndpointRefused as error:
            raise EmbeddingRefused(str(error)) from error
        except EndpointUnavailable as error:
            if isinstance(error.__cause__, _UnusableVector):  # else one text would stop the index
                raise EmbeddingRefused(str(error)) from error
            raise EmbeddingUnavailable(str(error)) from error

    async def close(self) -> None:
        await self._model_endpoint.close()


def _requests(texts: Sequence[str], end: Endpoint) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        cut = text[: end.max_text_characters]
        if part and (len(part) >= end.max_texts or size + len(cut) > end.max_characters):
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
