"""The change feed when nothing changes: graph says so, and search knows quiet from gone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from concord_chassis.testing import serving
from concord_chassis.vanishing import Relay, relay
from concord_graph.servicer import feed
from concord_search.adapters.graph_feed import client
from concord_search.adapters.graph_feed.client import GraphClient
from concord_search.domain.errors import GraphUnavailable
from concord_search.ports import Changes
from contract_live import graph_app

SILENCE = 0.5


@asynccontextmanager
async def _followed(folder: Path) -> AsyncIterator[tuple[GraphClient, Relay]]:
    """Search's client of a graph without a single change, behind a relay."""
    app = graph_app(folder / "graph.db")
    async with (
        serving(app.registrations, translate=app.translate, ready=app.ready, grace=0) as live,
        relay(live.address) as between,
    ):
        graph = GraphClient(between.address, live.issuer)
        try:
            yield graph, between
        finally:
            await graph.close()
    await app.close()


async def test_a_quiet_feed_is_followed_and_a_vanished_one_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 Keep-alives hold a quiet feed for longer than its silence may last; then it may not."""
    monkeypatch.setattr(feed, "KEEP_ALIVE_SECONDS", SILENCE / 5)
    monkeypatch.setattr(client, "SILENCE", SILENCE)
    async with _followed(tmp_path) as (graph, between):
        heard: list[Changes] = []

        async def listen() -> None:
            async for news in graph.watch({}):
                heard.append(news)
                if len(heard) == 10:
                    between.vanish()

        with pytest.raises(GraphUnavailable, match="silent"):
            await listen()

    assert {(news.space, len(news.changes)) for news in heard} == {("", 0)}
    assert len(heard) >= 10


async def test_without_keep_alives_a_quiet_feed_counts_as_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 It is the keep-alive, and nothing else, that tells quiet from gone."""
    monkeypatch.setattr(client, "SILENCE", SILENCE)
    async with _followed(tmp_path) as (graph, _), asyncio.timeout(5):
        with pytest.raises(GraphUnavailable, match="silent"):
            async for _ in graph.watch({}):
                pass


def test_search_waits_for_more_than_one_keep_alive() -> None:
    """S10 One late keep-alive is no lost feed."""
    assert client.SILENCE >= 2 * feed.KEEP_ALIVE_SECONDS
