"""Fixtures of search's tests; what they are made of stands in `search_lab`, beside this file."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.ports.embedder import Embedder, EmbeddingModel
from concord_search.ports.index import Index
from concord_testing import qdrant_server
from concord_testing.embedders import Shared, WordEmbedder
from following import Following, follower_of
from search_lab import SPACE, Lab, OpenLab, make_index


@pytest.fixture
def words() -> WordEmbedder:
    """An embedder that knows words and no meaning."""
    return WordEmbedder()


@pytest.fixture(scope="session")
def minilm() -> Iterator[Embedder]:
    """The real model, loaded once."""
    model = MiniLm()
    asyncio.run(model.open())
    yield Shared(model)
    asyncio.run(model.close())


@pytest.fixture(scope="session", autouse=True)
def _index_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Qdrant server, when it keeps the index: tests that cannot have it fail."""
    with qdrant_server.chosen(tmp_path_factory.mktemp("qdrant")):
        yield


@pytest.fixture
async def open_lab(words: WordEmbedder) -> AsyncIterator[OpenLab]:
    """Opens labs over a directory, with an empty default space; closes them in the end."""
    opened: list[Index] = []

    async def open_one(root: Path, *others: EmbeddingModel, **options: Any) -> Lab:
        index = make_index(root, words.model, *others, **options)
        await index.open()
        opened.append(index)
        await index.begin(SPACE, "epoch-1")
        return Lab(index, words)

    yield open_one
    for index in opened:
        await index.close()


@pytest.fixture
async def lab(tmp_path: Path, open_lab: OpenLab) -> Lab:
    """A lab over an empty directory."""
    return await open_lab(tmp_path / "index")


@pytest.fixture
async def at_work(lab: Lab) -> AsyncIterator[Following]:
    """A follower of an empty graph."""
    following = follower_of(lab)
    yield following
    await following.stop()
