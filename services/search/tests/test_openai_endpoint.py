"""An endpoint that misbehaves: what is tried again, what is refused, and what is never told."""

import asyncio
import io
import json
import time
from collections.abc import AsyncIterator, Callable

import pytest
from concord_chassis.observe.log import json_lines
from concord_models.endpoint import RetryPolicy
from concord_search.adapters.openai_embeddings import embedder
from concord_search.adapters.openai_embeddings.embedder import OpenAiEmbeddings
from concord_search.domain.errors import EmbeddingRefused, EmbeddingUnavailable
from concord_search.ports.embedder import EmbeddingModel
from concord_testing.polling import SECONDS, until
from embeddings_endpoint import (
    EmbeddingsEndpoint,
    Misdeed,
    changed,
    http,
    serving_embeddings,
    status,
)
from pydantic import SecretStr

KEY = "sk-very-secret"
SECRET_TEXT = "my diary"

Make = Callable[..., OpenAiEmbeddings]


@pytest.fixture
async def endpoint() -> AsyncIterator[EmbeddingsEndpoint]:
    """The server."""
    async with serving_embeddings() as served:
        yield served


@pytest.fixture
async def told() -> io.StringIO:
    """What was logged."""
    return io.StringIO()


@pytest.fixture
async def make(endpoint: EmbeddingsEndpoint, told: io.StringIO) -> AsyncIterator[Make]:
    """Makes embedders that ask the server, impatiently."""
    opened = []

    def make_one(
        *,
        url: str = endpoint.url,
        dimension: int = 384,
        timeout: float = 20.0,
        budget: float = 40.0,
        max_texts: int = 128,
    ) -> OpenAiEmbeddings:
        model = EmbeddingModel("words", dimension, "1")
        policy = RetryPolicy(timeout, budget, first_wait=0.01, longest_wait=0.02)
        log = json_lines("test", stream=told)
        opened.append(
            OpenAiEmbeddings(url, SecretStr(KEY), model, policy, log, max_texts=max_texts)
        )
        return opened[-1]

    yield make_one
    for each in opened:
        await each.close()


def truncated(_: object) -> bytes:
    """Ends in the middle."""
    return http(200, b'{"data": [{"index": 0, "embed')


def not_json(_: object) -> bytes:
    """What a proxy in between may say."""
    return http(200, b"<html>proxy</html>")


TRANSIENT: dict[str, Misdeed] = {
    "429": status(429),
    "429 with Retry-After": status(429, "Retry-After: 0.01"),
    "500": status(500),
    "503": status(503),
    "408": status(408),
    "closed connection": lambda _: None,
    "truncated JSON": truncated,
    "not JSON": not_json,
    "one too few": changed(lambda data: data[:-1]),
    "one too many": changed(lambda data: [*data, data[0]]),
    "index twice": changed(lambda data: [{**each, "index": 0} for each in data]),
    "not a number": changed(
        lambda data: [{**each, "embedding": [float("nan")] * 384} for each in data]
    ),
    "too long for a norm": changed(
        lambda data: [{**each, "embedding": [1e200] * 384} for each in data]
    ),
    "all zeros": changed(lambda data: [{**each, "embedding": [0.0] * 384} for each in data]),
    "words for numbers": changed(lambda data: [{**each, "embedding": "x"} for each in data]),
}


@pytest.mark.parametrize("misdeed", TRANSIENT.values(), ids=TRANSIENT.keys())
async def test_a_passing_fault_is_tried_again(
    endpoint: EmbeddingsEndpoint, make: Make, misdeed: Misdeed
) -> None:
    """S10: retried by tenacity until it is right."""
    endpoint.misdeeds = [misdeed, misdeed]

    rows = await make().embed([SECRET_TEXT, "other"])

    assert rows.shape == (2, 384)
    assert len(endpoint.asked) == 3


async def test_a_long_vector_keeps_its_direction(endpoint: EmbeddingsEndpoint, make: Make) -> None:
    """S1 3e38 in each place overflowed the norm, and a vector of zeros was stored."""
    endpoint.misdeeds = [
        changed(lambda data: [{**each, "embedding": [3e38] * 384} for each in data])
    ]

    (row,) = await make().embed(["x"])

    assert row.tolist() == pytest.approx([384**-0.5] * 384)
    assert len(endpoint.asked) == 1


async def test_shuffled_rows_are_put_in_order(endpoint: EmbeddingsEndpoint, make: Make) -> None:
    """S10: the reply's index counts, not its place."""
    made = make()
    straight = await made.embed(["red fox", "blue whale", "owl"])
    endpoint.misdeeds = [changed(lambda data: data[::-1])]

    shuffled = await made.embed(["red fox", "blue whale", "owl"])

    assert shuffled.tolist() == straight.tolist()


async def test_retry_after_is_waited_for(endpoint: EmbeddingsEndpoint, make: Make) -> None:
    """S10: 429 with Retry-After is asked again after that time and not before."""
    endpoint.misdeeds = [status(429, "Retry-After: 0.3")]
    began = time.monotonic()

    await make().embed(["x"])

    assert time.monotonic() - began >= 0.3


async def test_a_slow_answer_is_not_waited_for(endpoint: EmbeddingsEndpoint, make: Make) -> None:
    """S10: one attempt has a timeout of its own."""
    endpoint.misdeeds = [lambda _: b""]

    rows = await make(timeout=0.5).embed(["x"])

    assert rows.shape == (1, 384)
    assert len(endpoint.asked) >= 2  # a busy machine may be slow itself


@pytest.mark.parametrize(
    "misdeed", [status(500), lambda _: None, truncated, status(429, "Retry-After: 3600")]
)
async def test_the_budget_bounds_all_attempts(
    endpoint: EmbeddingsEndpoint, make: Make, misdeed: Misdeed
) -> None:
    """S10: a total budget; then the caller hears that the embedder does not answer."""
    endpoint.always = misdeed
    began = time.monotonic()

    with pytest.raises(EmbeddingUnavailable, match="did not answer within"):
        await make(budget=1.0).embed([SECRET_TEXT])

    assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize("misdeed", ["not a number", "too long for a norm", "all zeros"])
async def test_a_text_whose_vector_stays_unusable_is_refused(
    endpoint: EmbeddingsEndpoint, make: Make, misdeed: str
) -> None:
    """S10: its change is parked and listed, so the texts after it are indexed."""
    endpoint.always = TRANSIENT[misdeed]

    with pytest.raises(EmbeddingRefused, match="not finite or has no length"):
        await make(budget=1.0).embed([SECRET_TEXT])


async def test_nobody_listening_is_unavailable(make: Make) -> None:
    """S10: no connection is told as such."""
    with pytest.raises(EmbeddingUnavailable, match="no connection"):
        await make(url="http://127.0.0.1:9/v1", budget=3.0).embed(["x"])


@pytest.mark.parametrize("code", [400, 413, 422])
async def test_a_text_that_is_refused_is_not_tried_again(
    endpoint: EmbeddingsEndpoint, make: Make, code: int
) -> None:
    """S10: trying again would not help; the row is parked by who asked."""
    endpoint.always = status(code)

    with pytest.raises(EmbeddingRefused, match=str(code)):
        await make().embed([SECRET_TEXT])

    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("code", [401, 403, 404])
async def test_a_call_that_is_refused_says_what_to_check(
    endpoint: EmbeddingsEndpoint, make: Make, code: int
) -> None:
    """S10: a wrong key is no fault of the text."""
    endpoint.always = status(code)

    with pytest.raises(EmbeddingUnavailable, match="Check its URL, model and key"):
        await make().embed([SECRET_TEXT])

    assert len(endpoint.asked) == 1


async def test_another_dimension_is_told_at_once(endpoint: EmbeddingsEndpoint, make: Make) -> None:
    """S10 vectors of another length are never taken."""
    with pytest.raises(EmbeddingUnavailable, match=r"sends \[384\] dimensions, not 512"):
        await make(dimension=512).embed(["x"])

    assert len(endpoint.asked) == 1


async def test_texts_travel_in_requests_of_bounded_size(
    endpoint: EmbeddingsEndpoint, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10: batch limits by number and by characters; a text is cut, not refused."""
    monkeypatch.setattr(embedder, "MAX_CHARACTERS", 20)
    monkeypatch.setattr(embedder, "MAX_TEXT_CHARACTERS", 12)

    rows = await make(max_texts=3).embed(["a", "b", "c", "d", "e" * 30, "f" * 12])

    assert [[len(text) for text in each.texts] for each in endpoint.asked] == [
        [1, 1, 1],
        [1, 12],
        [12],
    ]
    assert rows.shape == (6, 384)


async def test_the_key_is_sent_and_never_told(
    endpoint: EmbeddingsEndpoint, make: Make, told: io.StringIO
) -> None:
    """S10: neither key nor text is logged or shown, whatever the endpoint echoes."""
    endpoint.misdeeds = [status(500), truncated, status(401)]
    made = make()

    with pytest.raises(EmbeddingUnavailable) as refused:
        await made.embed([SECRET_TEXT])

    assert endpoint.asked[0].headers["authorization"] == f"Bearer {KEY}"
    shown = f"{refused.value} {refused.value!r} {told.getvalue()} {vars(made)!r}"
    assert KEY not in shown
    assert SECRET_TEXT not in shown
    assert len(told.getvalue().splitlines()) == 3
    assert json.loads(told.getvalue().splitlines()[0])["reason"] == "HTTP 500"


async def test_cancelling_stops_the_attempts(endpoint: EmbeddingsEndpoint, make: Make) -> None:
    """Style: cancellation is not swallowed."""
    endpoint.always = status(429, "Retry-After: 30")
    asking = asyncio.ensure_future(make(budget=60.0).embed(["x"]))
    await until(lambda: bool(endpoint.asked))
    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
