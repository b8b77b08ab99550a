"""The embedder port over any endpoint that speaks OpenAI's `/v1/embeddings`.

The client library's own retries are off: tenacity owns them, within one budget. Whatever the
endpoint answers is checked before it is believed. The key is sent and never logged or shown.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import httpx2
import numpy as np
import openai
import tenacity
from concord_chassis import deadline
from concord_chassis.log import Logger
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from concord_search.domain.errors import EmbeddingRefused, EmbeddingUnavailable
from concord_search.ports import EmbeddingModel, Vector, Vectors


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask, for what, and how patiently.

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


class _BadReply(Exception):
    """The endpoint answered 200 with something else than the embeddings asked for."""


class OpenAiEmbeddings:
    """The embedder port over an endpoint."""

    def __init__(self, endpoint: Endpoint, log: Logger) -> None:
        self._endpoint = endpoint
        self._log = log
        self._client = openai.AsyncOpenAI(
            api_key=endpoint.key.get_secret_value(),
            base_url=endpoint.base_url,
            organization="",
            project="",
            timeout=endpoint.timeout,
            max_retries=0,
            # Neither proxies nor credentials from the environment: settings are passed in.
            http_client=httpx2.AsyncClient(trust_env=False, timeout=endpoint.timeout),
        )

    @property
    def model(self) -> EmbeddingModel:
        """The model as the operator named it."""
        end = self._endpoint
        return EmbeddingModel(end.model, end.dimension, end.revision)

    async def open(self) -> None:
        """Nothing to load; the endpoint is asked with the first text."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, shape (n, dimension)."""
        parts = [await self._request(part) for part in _requests(texts, self._endpoint)]
        if not parts:
            return np.zeros((0, self._endpoint.dimension), dtype=np.float32)
        return np.concatenate(parts)

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query, within what is left of the caller's time."""
        (row,) = await self.embed([text])
        return np.asarray(row, dtype=np.float32)

    async def _request(self, texts: Sequence[str]) -> Vectors:
        """Asks until it is answered, the budget is spent, or asking again cannot help."""
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_is_transient),
            wait=self._wait,
            stop=tenacity.stop_never,
            reraise=True,
        )
        budget = deadline.outgoing(self._endpoint.budget)
        last: list[Exception] = []
        try:
            async with asyncio.timeout(budget):
                return await retrying(self._attempt, texts, last)
        except TimeoutError as error:
            cause = last[-1] if last else error
            raise EmbeddingUnavailable(
                f"The embedding endpoint did not answer within {budget:.1f} s: {_told(cause)}."
            ) from cause
        except openai.APIStatusError as error:
            raise _final(error) from error

    async def _attempt(self, texts: Sequence[str], last: list[Exception]) -> Vectors:
        try:
            raw = await self._client.embeddings.with_raw_response.create(
                model=self._endpoint.model, input=list(texts), encoding_format="float"
            )
            return _checked(raw.content, len(texts), self._endpoint.dimension)
        except (openai.OpenAIError, _BadReply) as error:
            last.append(error)
            self._log.warning("embedding attempt failed", reason=_told(error), texts=len(texts))
            raise

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds before the next attempt: as the endpoint says, else doubling with jitter."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, openai.APIStatusError):
            asked = _seconds(error.response.headers.get("retry-after"))
            if asked is not None:
                return asked
        grow = tenacity.wait_random_exponential(
            multiplier=self._endpoint.first_wait, max=self._endpoint.longest_wait
        )
        return grow(state)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()


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
    """The reply's vectors in the order asked, each of length one. Raises `_BadReply`."""
    try:
        items = _Reply.model_validate_json(content).data
    except ValidationError:
        # The library's own message would show what came back.
        raise _BadReply("its reply is not the JSON of embeddings") from None
    if sorted(item.index for item in items) != list(range(count)):
        raise _BadReply(f"its reply does not hold exactly one embedding for each of {count} texts")
    ordered = sorted(items, key=lambda item: item.index)
    lengths = {len(item.embedding) for item in ordered}
    if lengths != {dimension}:
        raise EmbeddingUnavailable(
            f"The embedding endpoint sends {sorted(lengths)} dimensions, not {dimension}."
        )
    rows = np.array([item.embedding for item in ordered], dtype=np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(rows).all() or not (norms > 0).all():
        raise _BadReply("its reply holds a vector that is not finite or has no length")
    return np.asarray(rows / norms, dtype=np.float32)


_REFUSALS_OF_THE_TEXT = frozenset({400, 413, 422})
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429})


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _TRANSIENT_STATUS or error.status_code >= 500
    return isinstance(error, (openai.APIError, _BadReply))


def _final(error: openai.APIStatusError) -> EmbeddingRefused | EmbeddingUnavailable:
    if error.status_code in _REFUSALS_OF_THE_TEXT:
        return EmbeddingRefused(f"The embedding endpoint refuses the text: {_told(error)}.")
    return EmbeddingUnavailable(
        f"The embedding endpoint refuses the call: {_told(error)}. Check its URL, model and key."
    )


def _told(error: BaseException) -> str:
    """What may be said of an error: never a body, which may echo the text or the key."""
    if isinstance(error, openai.APIStatusError):
        return f"HTTP {error.status_code}"
    if isinstance(error, _BadReply):
        return str(error)
    return {
        openai.APITimeoutError: "no answer in time",
        openai.APIConnectionError: "no connection",
        TimeoutError: "no answer in time",
    }.get(type(error), type(error).__name__)


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header is not None else None
    except ValueError:
        return None
