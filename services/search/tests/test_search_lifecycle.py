"""Search as a whole: it starts, stops, starts again, and says why it cannot."""

import asyncio
from pathlib import Path

import pytest
from concord_chassis.observe.metrics import Metrics
from concord_search.bootstrap import build
from concord_search.config import IndexConfig
from concord_search.domain.errors import IndexLocked
from concord_testing.embedders import WordEmbedder
from concord_testing.serving import new_issuer
from search_lab import QUIET


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
    metrics = Metrics()
    app.measure(metrics)
    app.progress.heard("default", 7)

    read = metrics.registry.get_sample_value
    value = await asyncio.to_thread(read, "concord_search_index_lag_changes")
    await app.close()

    assert value == 7.0
