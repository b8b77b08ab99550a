"""The feed by partitions at many spaces: numbering a store of before, and polling it."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from pathlib import Path

from concord.graph.v1.feed_pb2 import (
    ListPartitionsRequest,
    ListPartitionsResponse,
    ListSpacesRequest,
    ListSpacesResponse,
    PartitionCursor,
)
from concord_graph.adapters.sqlite.store import open_store
from concord_graph.ports import PARTITIONS

from tests.bench.run import Run
from tests.bench.servers import graph, served
from tests.bench.table import Row
from tests.bench.timing import NONE

POLL = "/concord.graph.v1.ChangeFeedService/ListPartitions"
PAGE = "/concord.graph.v1.ChangeFeedService/ListSpaces"
FEW = 500
CALLS = 25
WARM_UP = 5


async def bench(run: Run) -> AsyncIterator[Row]:
    """Three rows."""
    spaces = run.size(50_000, 5_000)
    few, many = run.folder / "few" / "graph.db", run.folder / "many" / "graph.db"
    await of_before(few, FEW)
    took = await of_before(many, spaces)
    yield Row(
        f"partitions: numbering {spaces:,} spaces",
        "s",
        (took,),
        note="once, when a store of before is opened: ten changes in a tenth of them, else one",
    )
    polls = [ListPartitionsRequest(cursors=map(_lagging, range(PARTITIONS)))]
    pages = [ListSpacesRequest(partition=each) for each in range(PARTITIONS)]
    polled, paged = {few: NONE, many: NONE}, NONE
    async with AsyncExitStack() as stack:
        live = {}
        for path in (few, many):
            app = await stack.enter_async_context(graph(path))
            live[path] = await stack.enter_async_context(served(app.registrations))
        lanes = [live[path].lane(POLL, polls, ListPartitionsResponse) for path in (few, many)]
        lanes.append(live[many].lane(PAGE, pages, ListSpacesResponse))
        for _ in range(run.rounds):
            found = await run.caller.alternate(lanes, rounds=1, calls=CALLS, warm_up=WARM_UP)
            polled = {path: polled[path] + each for path, each in zip(polled, found, strict=False)}
            paged += found[2]
    yield Row(
        f"partitions: ListPartitions at {spaces:,} spaces",
        "ms",
        polled[many].pair,
        floor=polled[few].pair,
        floor_is=f"the same at {FEW} spaces; each cursor lags by a change",
        ratio=polled[many].at(50) / polled[few].at(50),
    )
    yield Row(f"partitions: ListSpaces, 500 of {spaces:,}", "ms", paged.pair)


def _lagging(partition: int) -> PartitionCursor:
    return PartitionCursor(partition=partition, number=1)


async def of_before(path: Path, spaces: int) -> float:
    """Make a store that was written before there were partitions; return the seconds in which it
    was numbered."""
    path.parent.mkdir()
    await open_store(path, lambda: 0).close()
    with closing(sqlite3.connect(path)) as db, db:
        sql = "INSERT INTO space (id, name, seq, last_time) VALUES (?, ?, ?, 1)"
        heads = [(number, 1 if number % 10 else 10) for number in range(1, spaces + 1)]
        db.executemany(sql, [(number, f"user-{number}", seq) for number, seq in heads])
        change = "?, ?, ?, 'i', 1, 1, 1, '', '', 'p', 'AddMemory', 'r', '', 0, '', '', ''"
        db.executemany(
            f"INSERT INTO change VALUES ({change})",
            [(number, each, each) for number, seq in heads for each in range(1, seq + 1)],
        )
    took: list[float] = []
    await open_store(path, lambda: 0, numbered=lambda _, seconds: took.append(seconds)).close()
    return took[0]
