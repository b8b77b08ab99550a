"""Followers of graph over many spaces: their first start, each later one, and what idling costs."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

from concord_chassis.channel.cursors import Cursor
from concord_chassis.observe.log import json_lines
from concord_chassis.server.background import Background
from concord_governance.adapters.graph.client import GraphClient as GovernanceClient
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_governance.usecases.graph_feed import GraphFollower
from concord_search.adapters.graph_feed.client import GraphClient as SearchClient
from concord_search.domain.memory import MemoryState
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import Batch, IndexState, OnPart, Version
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.follow import KEEP_EVERY, Follow
from concord_search.usecases.progress import Progress
from concord_search.usecases.space_follower import FollowerContext
from concord_testing.embedders import WordEmbedder

from tests.bench.partitions import of_before
from tests.bench.run import Run
from tests.bench.servers import Served, graph, served
from tests.bench.table import Bar, Row

QUIET = json_lines("bench", level="critical")
LONGER = Bar(10.0)
"""Seconds of a start over so many spaces: an empty one takes almost none."""
IDLE_SECONDS, IDLE = 20.0, Bar(2.0)
"""For how long it is watched, and percent of a core."""


class IndexInMemory:
    """An index that holds how far each space is, and nothing else: what remains is the follower."""

    def __init__(self) -> None:
        self._states: dict[str, IndexState] = {}
        self._cursors: Mapping[int, Cursor] = {}

    def applied(self) -> int:
        """How many spaces have a change."""
        return sum(1 for each in self._states.values() if each.applied_seq)

    async def open(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        """Nothing is to be opened."""

    async def check(self) -> None:
        """It is always there."""

    async def states(self, version: Version = Version.SERVING) -> Mapping[str, IndexState]:
        """Every space."""
        return self._states if version is Version.SERVING else {}

    async def state(self, space: str, version: Version = Version.SERVING) -> IndexState | None:
        """One space."""
        return self._states.get(space) if version is Version.SERVING else None

    async def cursors(self) -> Mapping[int, Cursor]:
        """What was kept."""
        return self._cursors

    async def keep_cursors(self, cursors: Mapping[int, Cursor]) -> None:
        """Keeps it."""
        self._cursors = cursors

    async def begin(self, space: str, epoch: str, model: EmbeddingModel | None = None) -> None:
        """Begins a space."""
        self._states.setdefault(space, IndexState(epoch, 0, 0, 0, model or WordEmbedder.model))

    async def apply(self, space: str, batch: Batch, _: Version) -> None:
        """Moves on."""
        self._states[space] = replace(self._states[space], applied_seq=batch.applied_seq)

    async def unembedded(self, _: str, states: Sequence[MemoryState], __: Version) -> list[bool]:
        """Nothing is embedded."""
        return [False for _ in states]


async def bench(run: Run) -> AsyncIterator[Row]:
    """For each number of spaces a row of each follower's starts; then one of both at rest."""
    for spaces in (500, run.size(10_000, 1_000), run.size(50_000, 2_000)):
        folder = run.folder / f"followers-{spaces}"
        folder.mkdir()
        await of_before(folder / "store" / "graph.db", spaces)
        async with graph(folder / "store" / "graph.db") as app, served(app.registrations) as live:
            index, ledger = IndexInMemory(), folder / "ledger.db"
            for who in ("governance", "search"):
                first, again = [
                    await _seconds(
                        _governance(live, ledger) if who == "governance" else _search(live, index),
                        spaces,
                    )
                    for _ in range(2)
                ]
                yield Row(
                    f"{who}'s follower over {spaces:,} spaces: start",
                    "s",
                    (again,),
                    bar=LONGER,
                    note=f"the first one, which reads every change: {first:.1f} s",
                )
            async with _governance(live, ledger), _search(live, index):
                await asyncio.sleep(5.0)
                before = time.process_time()
                await asyncio.sleep(IDLE_SECONDS)
                share = 100 * (time.process_time() - before) / IDLE_SECONDS
            yield Row(
                f"graph, governance and search's follower at rest, {spaces:,} spaces",
                "% of a core",
                (share,),
                bar=IDLE,
            )


@asynccontextmanager
async def _governance(live: Served, path: Path) -> AsyncIterator[Callable[[], tuple[bool, int]]]:
    """Governance's follower, and whether it follows, and how many spaces its ledger has."""
    ledger = open_ledger(path, lambda: time.time_ns() // 1_000)
    client = GovernanceClient(live.serving.address, live.serving.issuer)
    background = Background(QUIET)
    follower = GraphFollower(ledger, client, background, QUIET)
    background.start("follow graph", follower.run)
    with closing(sqlite3.connect(path)) as db:
        sql = "SELECT count(*) FROM space WHERE feed_seq > 0"
        yield lambda: (follower.is_following, db.execute(sql).fetchone()[0])
    await background.close()
    await client.close()
    await ledger.close()


@asynccontextmanager
async def _search(
    live: Served, index: IndexInMemory
) -> AsyncIterator[Callable[[], tuple[bool, int]]]:
    """Search's follower, and whether it follows, and how many spaces its index has applied."""
    client = SearchClient(live.serving.address, live.serving.issuer)
    background, progress = Background(QUIET), Progress(index.state)
    context = FollowerContext(
        client,
        index,  # type: ignore[arg-type] # what a follower does not call is not there
        Embedders(WordEmbedder()),
        progress,
        background,
        QUIET,
        lambda: None,
    )
    background.start("follow graph", Follow(context).run)
    yield lambda: (progress.following, index.applied())
    await background.close()
    await client.close()


async def _seconds(
    follower: AbstractAsyncContextManager[Callable[[], tuple[bool, int]]], spaces: int
) -> float:
    """Seconds from the start of a follower until it follows, with so many spaces applied."""
    began = time.monotonic()
    async with follower as seen:
        while seen() != (True, spaces):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        lasted = time.monotonic() - began
        await asyncio.sleep(KEEP_EVERY + 1)  # then its cursors are kept
    return lasted
