"""What the index keeps on a Qdrant server: its collections, their aliases, and what is removed."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from concord_search.adapters.edge.index import EdgeIndex
from concord_search.adapters.qdrant import parts as qdrant_parts
from concord_search.adapters.qdrant.shard import LAYOUT
from concord_search.adapters.qdrant_server import collections as qdrant_collections
from concord_search.adapters.qdrant_server.connection import Connection
from concord_search.adapters.qdrant_server.index import ServerIndex
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.adapters.versions.index import PartVersions
from concord_search.domain.errors import IndexUnavailable, IndexUnusable
from concord_search.domain.filters import Superseded
from concord_search.ports.index import Batch
from concord_testing.embedders import WordEmbedder
from qdrant_client import grpc as wire
from search_lab import NOW, SPACE, Lab, plain_state

pytestmark = pytest.mark.qdrant

MODEL = WordEmbedder.model
Ask = Callable[[str, Any], Awaitable[Any]]


@pytest.fixture
async def server() -> AsyncIterator[Connection]:
    """A connection of the test's own to the server of the index."""
    connection = Connection(QdrantConfig(url=os.environ["QDRANT_URL"]))
    await connection.open()
    yield connection
    await connection.close()


async def collections(server: Connection, prefix: str) -> list[str]:
    """The collections of partitions whose names begin so."""
    reply = await server.collections.List(wire.ListCollectionsRequest())
    names = [each.name for each in reply.collections if each.name.startswith(f"{prefix}-")]
    return sorted(name for name in names if not name.startswith(f"{prefix}-catalogue"))


async def aliases(server: Connection, prefix: str) -> dict[str, str]:
    """The aliases that begin so, each with its collection."""
    reply = await server.collections.ListAliases(wire.ListAliasesRequest())
    found = {each.alias_name: each.collection_name for each in reply.aliases}
    named = {alias: name for alias, name in found.items() if alias.startswith(f"{prefix}-")}
    return {alias: name for alias, name in named.items() if alias != f"{prefix}-catalogue"}


def index_of(root: Path, **layout: Any) -> PartVersions:
    """An index on the server; not opened yet. Its prefix is the directory's own."""
    settings = QdrantConfig(url=os.environ["QDRANT_URL"], prefix=prefix_of(root), **layout)
    return PartVersions(ServerIndex(root, [MODEL], settings))


def prefix_of(root: Path) -> str:
    """What the collections of the index below `root` begin with, and no others."""
    return f"t{abs(hash(root)) % 10**12}"


async def filled(index: PartVersions) -> Lab:
    """Opens an index and writes two memories."""
    await index.open()
    await index.begin(SPACE, "epoch-1")
    lab = Lab(index, WordEmbedder())
    await lab.write(plain_state("a", 1, "red fox"), plain_state("b", 2, "blue whale"))
    return lab


@pytest.mark.parametrize("quantisation", ["none", "scalar", "binary"])
async def test_collections_are_laid_out_as_the_settings_say(
    tmp_path: Path, server: Connection, quantisation: str
) -> None:
    """S10 Shards, replicas, quantisation and what lies on disk; scores stay raw cosines."""
    index = index_of(tmp_path, shards=2, replicas=3, quantisation=quantisation, on_disk=True)
    lab = await filled(index)
    found = await lab.ask("red fox")
    (name,) = await collections(server, prefix_of(tmp_path))
    reply = await server.collections.Get(wire.GetCollectionInfoRequest(collection_name=name))
    await index.close()

    config = reply.result.config
    assert (config.params.shard_number, config.params.replication_factor) == (2, 3)
    assert config.params.write_consistency_factor == 2
    assert config.params.vectors_config.params_map.map["dense"].on_disk
    assert config.params.on_disk_payload
    assert (config.quantization_config.WhichOneof("quantization") or "none") == quantisation
    assert set(reply.result.payload_schema) >= {"f", "ended", "created"}
    alone = float(WordEmbedder().vector("red fox") @ WordEmbedder().vector("red fox"))
    assert found.cosine[0] == pytest.approx(alone, abs=1e-3)


async def test_an_alias_leads_to_the_collection_of_the_layouts_version(
    tmp_path: Path, server: Connection
) -> None:
    """S10 One alias a part, with the layout's number; a start finds the part by it."""
    index = index_of(tmp_path)
    await filled(index)
    await index.close()
    ((alias, name),) = (await aliases(server, prefix_of(tmp_path))).items()
    again = index_of(tmp_path)
    await again.open()
    states = await again.states()
    await again.close()

    assert alias.endswith(f"-v{LAYOUT}")
    assert name.startswith(f"{alias}-")
    assert states[SPACE].applied_seq == 2


async def test_what_was_erased_is_on_no_collection_of_the_server(
    tmp_path: Path, server: Connection
) -> None:
    """M4 S10 The collection is made anew without it, the alias moves, the former is removed."""
    index = index_of(tmp_path)
    lab = await filled(index)
    before = await collections(server, prefix_of(tmp_path))
    await index.apply(SPACE, Batch(3, NOW, erased=["a"], to_confirm=["a"]))
    assert await index.scrub(SPACE) == ["a"]
    await index.confirmed(SPACE, ["a"])
    after = await collections(server, prefix_of(tmp_path))
    found = lab.ids(await lab.ask("red fox", superseded=Superseded.HISTORY))
    held = await index.held(SPACE)
    await index.close()

    assert len(before) == len(after) == 1
    assert before != after
    assert set((await aliases(server, prefix_of(tmp_path))).values()) == set(after)
    assert (found, held) == (["b"], [("b", 2)])


async def test_searches_go_on_while_a_collection_is_made_anew(tmp_path: Path) -> None:
    """M4 S10 What asks by the alias meets the former collection or the new one, never none."""
    index = index_of(tmp_path)
    lab = await filled(index)
    await index.apply(SPACE, Batch(3, NOW, erased=["a"], to_confirm=["a"]))
    scrubbed = asyncio.create_task(index.scrub(SPACE))
    asked = 0
    while not scrubbed.done():
        assert lab.ids(await lab.ask("blue whale")) == ["b"]
        asked += 1
    await index.close()

    assert await scrubbed == ["a"]
    assert asked


async def test_another_epoch_leaves_nothing_of_the_former_behind(
    tmp_path: Path, server: Connection
) -> None:
    """S10 A part of a store that was replaced is removed from the server, too."""
    index = index_of(tmp_path)
    await filled(index)
    former = await collections(server, prefix_of(tmp_path))
    await index.begin(SPACE, "epoch-2")
    states = await index.states()
    await index.close()

    now = await collections(server, prefix_of(tmp_path))
    assert states[SPACE].applied_seq == 0
    assert len(now) == 1
    assert not set(now) & set(former)


async def test_an_older_layout_leaves_nothing_on_the_server(
    tmp_path: Path, server: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G16, S10 The index is derived: collections of another layout are dropped, not kept."""
    index = index_of(tmp_path)
    await filled(index)
    await index.close()
    monkeypatch.setattr(qdrant_parts, "LAYOUT", LAYOUT + 1)
    monkeypatch.setattr(qdrant_collections, "LAYOUT", LAYOUT + 1)
    newer = index_of(tmp_path)
    await newer.open()
    states = await newer.states()
    await newer.close()

    assert states == {}
    assert await collections(server, prefix_of(tmp_path)) == []


async def test_what_a_killed_process_left_on_the_server_is_removed(
    tmp_path: Path, server: Connection
) -> None:
    """S10 A collection in the making, to which no alias leads, goes at the next start."""
    index = index_of(tmp_path)
    await filled(index)
    await index.close()
    ((alias, name),) = (await aliases(server, prefix_of(tmp_path))).items()
    creation = wire.CreateCollection(collection_name=f"{alias}-stray")
    await server.collections.Create(creation)
    again = index_of(tmp_path)
    await again.open()
    await again.close()

    assert await collections(server, prefix_of(tmp_path)) == [name]


async def test_a_collection_that_the_server_lost_is_begun_anew(
    tmp_path: Path, server: Connection
) -> None:
    """S10 The index is derived: what is gone is noticed, and followed from the beginning."""
    index = index_of(tmp_path)
    await filled(index)
    (name,) = await collections(server, prefix_of(tmp_path))
    await server.collections.Delete(wire.DeleteCollection(collection_name=name))

    with pytest.raises(IndexUnavailable, match="lost"):
        await index.check()
    await index.open()
    assert await index.states() == {}
    await index.begin(SPACE, "epoch-1")
    assert (await index.states())[SPACE].applied_seq == 0
    await index.check()
    await index.close()


async def test_leaving_a_server_is_refused_while_it_holds_collections(tmp_path: Path) -> None:
    """M4 S10 What stays on a server that nobody follows would outlive erasures: it is named."""
    index = index_of(tmp_path)
    await filled(index)
    await index.close()
    edge = EdgeIndex(tmp_path, MODEL)

    with pytest.raises(IndexUnusable, match=rf"{prefix_of(tmp_path)}-\*.*delete"):
        await edge.open()
    await edge.close()


async def test_an_embedded_index_is_rebuilt_on_the_server(tmp_path: Path) -> None:
    """S10 Moving to a server is a rebuild: the embedded files go, the feed is followed anew."""
    edge = EdgeIndex(tmp_path, MODEL)
    await edge.open()
    await edge.begin(SPACE, "epoch-1")
    await edge.close()
    index = index_of(tmp_path)
    await index.open()
    states = await index.states()
    await index.close()

    assert states == {}
    assert not list(tmp_path.glob("*/shard*"))  # noqa: ASYNC240 - a handful of files
