"""Search as a whole: it starts, stops, starts again, and says why it cannot."""

from pathlib import Path

import pytest
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_search.bootstrap import build
from concord_search.config import IndexConfig
from concord_search.domain.errors import IndexLocked
from concord_search.ports import Embedder
from concord_testing.serving import new_issuer
from prometheus_client import CollectorRegistry
from search_lab import QUIET, WordEmbedder, run


async def test_nothing_is_lost_over_a_restart(tmp_path: Path, minilm: Embedder) -> None:
    """S10 stop everything, start again: the index resumes and finds what was there."""
    async with run(tmp_path, minilm) as system:
        await system.add(type_pb2.Memory(id="a", content="The office is in Berlin."))
    async with run(tmp_path, minilm) as system:
        token = await system.add(type_pb2.Memory(id="b", content="The dog is called Rex."))
        request = search_pb2.SearchRequest(query="office in Berlin")
        request.consistency.at_least_as_fresh = token
        reply = await system.searching().Search(request)
        status = await system.index().GetIndexStatus(search_pb2.GetIndexStatusRequest())

    assert reply.results[0].memory.id == "a"
    assert status.indexed_memories == 2


async def test_a_dropped_index_is_rebuilt(tmp_path: Path, minilm: Embedder) -> None:
    """S10 the index can be dropped and rebuilt from the graph at any time."""
    async with run(tmp_path, minilm) as system:
        token = await system.add(type_pb2.Memory(id="a", content="The office is in Berlin."))
    (tmp_path / "index").rename(tmp_path / "gone")
    async with run(tmp_path, minilm) as system:
        request = search_pb2.SearchRequest(query="office")
        request.consistency.at_least_as_fresh = token
        reply = await system.searching().Search(request)

    assert [result.memory.id for result in reply.results] == ["a"]


async def test_it_starts_before_graph_and_is_not_ready(tmp_path: Path) -> None:
    """Style 12: health tells the truth; the order of starting does not matter."""
    config = IndexConfig(
        graph_address=f"unix:{tmp_path / 'nobody.sock'}", index_path=tmp_path / "index"
    )
    app = build(config, new_issuer(), embedder=WordEmbedder(), log=QUIET)
    before = await app.ready()
    await app.start()
    after = await app.ready()
    await app.close()

    assert (before, after) == (False, False)


async def test_an_index_in_use_stops_the_start_and_frees_everything(tmp_path: Path) -> None:
    """Must hold: a locked data directory is a sentence that says what to do."""
    config = IndexConfig(graph_address="unix:/nowhere", index_path=tmp_path / "index")
    first = build(config, new_issuer(), embedder=WordEmbedder(), log=QUIET)
    await first.start()
    second = build(config, new_issuer(), embedder=WordEmbedder(), log=QUIET)

    with pytest.raises(IndexLocked, match="Stop that process"):
        await second.start()
    await first.close()


async def test_the_lag_is_a_metric(tmp_path: Path) -> None:
    """S10 lag is a metric."""
    config = IndexConfig(graph_address="unix:/nowhere", index_path=tmp_path / "index")
    app = build(config, new_issuer(), embedder=WordEmbedder(), log=QUIET)
    registry = CollectorRegistry()
    app.measure(registry)
    app.progress.heard("default", 7)

    value = registry.get_sample_value("concord_search_index_lag_changes")
    await app.close()

    assert value == 7.0
