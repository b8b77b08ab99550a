"""The change feed when nothing changes: graph says so, and search knows quiet from gone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from concord_chassis.channel import feed as followed_feed
from concord_chassis.channel.cursors import START
from concord_graph.servicer import feed
from concord_search.adapters.graph_feed.client import GraphClient
from concord_search.domain.errors import GraphUnavailable
from concord_search.ports.graph import Changes
from concord_testing.relay import Relay, relay
from concord_testing.serving import serving
from contract_live import graph_app

SILENCES = (0.5, 3.0, 15.0)
"""Seconds; a busy machine may keep a feed waiting for longer than the first."""
MANY = 10


@asynccontextmanager
async def _followed(store: Path) -> AsyncIterator[tuple[GraphClient, Relay]]:
    """Search's client of a graph without a single change, behind a relay."""
    app = graph_app(store)
    async with (
        serving(app.registrations, ready=app.ready, grace=0) as live,
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
    for silence in SILENCES:
        monkeypatch.setattr(feed, "KEEP_ALIVE_SECONDS", silence / 5)
        monkeypatch.setattr(followed_feed, "SILENCE", silence)
        heard = await _heard(tmp_path / f"{silence}.db")
        if len(heard) >= MANY:
            break

    assert {(news.space, len(news.changes)) for news in heard} == {("", 0)}
    assert len(heard) >= MANY


async def _heard(store: Path) -> list[Changes]:
    """Follow a feed, which vanishes when it has said much; return what it has said by its end."""
    heard: list[Changes] = []
    async with _followed(store) as (graph, between):

        async def listen() -> None:
            async for news in graph.watch({0: START}):
                heard.append(news)
                if len(heard) == MANY:
                    between.vanish()

        with pytest.raises(GraphUnavailable, match="silent"):
            await listen()
    return heard


async def test_without_keep_alives_a_quiet_feed_counts_as_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 It is the keep-alive, and nothing else, that tells quiet from gone."""
    monkeypatch.setattr(followed_feed, "SILENCE", SILENCES[0])
    async with _followed(tmp_path / "graph.db") as (graph, _), asyncio.timeout(60):
        with pytest.raises(GraphUnavailable, match="silent"):
            async for _ in graph.watch({0: START}):
                pass


def test_search_waits_for_more_than_one_keep_alive() -> None:
    """S10 One late keep-alive is no lost feed."""
    assert followed_feed.SILENCE >= 2 * feed.KEEP_ALIVE_SECONDS
