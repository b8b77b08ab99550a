"""What every embedder promises, proved for each of them (style 6: one suite per port)."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest
from concord_models.endpoint import RetryPolicy
from concord_search.adapters.openai_embeddings.embedder import OpenAiEmbeddings
from concord_search.ports.embedder import Embedder, EmbeddingModel
from embeddings_endpoint import serving_embeddings
from pydantic import SecretStr
from search_lab import QUIET

TEXTS = ["red fox", "a blue whale in the sea", "fox", "red fox", "glass " * 50]


@pytest.fixture(params=["minilm", "openai"])
async def embedder(request: pytest.FixtureRequest, minilm: Embedder) -> AsyncIterator[Embedder]:
    """Each implementation of the port."""
    if request.param == "minilm":
        yield minilm
        return
    async with serving_embeddings() as endpoint:
        words = EmbeddingModel("words", 384, "1")
        made = OpenAiEmbeddings(
            endpoint.url, SecretStr("k"), words, RetryPolicy(), QUIET, max_texts=2
        )
        await made.open()
        yield made
        await made.close()


async def test_there_is_one_row_of_length_one_per_text(embedder: Embedder) -> None:
    """Port Embedder: shape (n, dimension), unit rows, float32."""
    rows = await embedder.embed(TEXTS)

    assert rows.shape == (len(TEXTS), embedder.model.dimension)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


async def test_rows_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    """Port Embedder: whatever the batches, a row belongs to its text."""
    rows = await embedder.embed(TEXTS)

    for text, row in zip(TEXTS, rows, strict=True):
        assert row @ await embedder.embed_query(text) == pytest.approx(1.0, abs=1e-4)


async def test_equal_texts_give_nearly_equal_rows(embedder: Embedder) -> None:
    """Port Embedder: company changes nothing but the last digits."""
    rows = await embedder.embed(TEXTS)

    assert rows[0] @ rows[3] == pytest.approx(1.0, abs=1e-5)


async def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    """Port Embedder: an empty batch is no error."""
    assert (await embedder.embed([])).shape == (0, embedder.model.dimension)


async def test_a_long_text_is_read_as_far_as_it_goes(embedder: Embedder) -> None:
    """Port Embedder, M1: 20,000 characters are no error."""
    (row,) = await embedder.embed(["word " * 4_000])

    assert np.isfinite(row).all()


async def test_many_callers_do_not_mix(embedder: Embedder) -> None:
    """Port Embedder: concurrent calls each get their own rows."""
    found = await asyncio.gather(*(embedder.embed([f"text {at}", "fox"]) for at in range(8)))

    alone = await embedder.embed(["fox"])
    assert [rows[1] @ alone[0] for rows in found] == pytest.approx([1.0] * 8, abs=1e-4)


async def test_the_model_has_a_name_a_dimension_and_a_revision(embedder: Embedder) -> None:
    """S10 what is stamped onto an index."""
    model = embedder.model

    assert model.model_id
    assert model.dimension == 384
    assert model.revision
