"""What surrounds a node: one hop in a uniform graph, a page of 20, reads counted."""

import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from concord.graph.v1.graph_pb2 import QueryNeighborsRequest, QueryNeighborsResponse
from concord.type.v1.type_pb2 import EdgeEnd
from concord_graph.adapters.sqlite.store import open_store
from concord_graph.bootstrap import system_clock
from concord_graph.domain.drafts import EdgeDraft, EndRef
from concord_graph.ports import Author, Writes
from concord_graph.usecases.items.edges import upsert_edge
from concord_graph.usecases.write.writer import Writer

from tests.bench import empty_rpc
from tests.bench.run import Run
from tests.bench.servers import agent, graph, served
from tests.bench.table import Bar, Row

METHOD = "/concord.graph.v1.GraphService/QueryNeighbors"
RELATIONS = ("KNOWS", "USES", "OWNS", "READS", "CALLS")
CHUNK = 5_000


async def bench(run: Run) -> AsyncIterator[Row]:
    """One row."""
    nodes, edges = run.size(10_000, 1_000), run.size(100_000, 10_000)
    store = run.folder / "neighbors" / "graph.db"
    await _fill(store, nodes, edges)
    draw = random.Random(5)
    requests = [
        QueryNeighborsRequest(start=EdgeEnd(name=_name(draw.randrange(nodes))), page_size=20)
        for _ in range(run.rounds * 50)
    ]
    async with (
        graph(store) as app,
        served([*app.registrations, empty_rpc.registration()]) as live,
    ):
        lanes = [live.empty_lane(), live.lane(METHOD, requests, QueryNeighborsResponse)]
        await run.caller.alternate(lanes, rounds=1, calls=len(requests))  # warm
        empty, asked = await run.caller.alternate(lanes, rounds=run.rounds, calls=50)
    yield Row(
        f"1-hop neighbours, {nodes:,} nodes / {edges:,} edges",
        "ms",
        asked.pair,
        floor=empty.pair,
        floor_is="empty RPC through the same stages; ratio of p95",
        ratio=asked.at(95) / empty.at(95),
        bar=Bar(2.7),
    )


async def _fill(path: Path, nodes: int, edges: int) -> None:
    """Writes edges between nodes drawn at random, through graph's own use case."""
    path.parent.mkdir(parents=True)
    draw = random.Random(4)
    pairs = [(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(edges)]
    store = open_store(path, system_clock)
    try:
        for start in range(0, edges, CHUNK):
            chunk = pairs[start : start + CHUNK]
            await store.write(agent().space, lambda tx, chunk=chunk: _write(tx, chunk))  # type: ignore[misc] # the default binds the loop's value
    finally:
        await store.close()


async def _write(tx: Writes, pairs: Sequence[tuple[int, int]]) -> None:
    author = Author("bench", METHOD, "fill")
    for at, (source, target) in enumerate(pairs):
        writer = Writer(tx, author, max(system_clock(), tx.last_time))
        relation = RELATIONS[(source + target + at) % len(RELATIONS)]
        await upsert_edge(writer, EdgeDraft(EndRef(_name(source)), relation, EndRef(_name(target))))


def _name(number: int) -> str:
    return f"Node {number}"
