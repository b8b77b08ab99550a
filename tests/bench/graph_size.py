"""Graph as it grows: hops, paths and writes, against the bare store asked the same by hand.

GRAPH_STORE=neo4j runs it on Neo4j, at 10,000 nodes and 100,000 edges; `--large` there too at ten
times that. Figures are of calls through gRPC with reads counted. On SQLite the floor is the bare
SQL and an empty RPC together, each at its percentile; on Neo4j the bare driver's query alone.
Paths by hand are those of one or two edges, which is what there is: whoever wrote it knew.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import grpc
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from concord_graph.bootstrap import system_clock
from google.protobuf.message import Message

from tests.bench import empty_rpc, sized_graph
from tests.bench.graph_writes import imports, writes
from tests.bench.run import Run
from tests.bench.servers import served
from tests.bench.sized_graph import (
    CLIQUE,
    HUB_EDGES,
    TIMES_BARE,
    TIMES_GROWN,
    Asked,
    clique_name,
    grown,
    node_name,
)
from tests.bench.table import Row
from tests.bench.timing import NONE, Lane, Latencies, timed


@dataclass
class _Question:
    """One question to one store: through graph, by hand, and how long each took."""

    what: str
    asked: Asked
    lane: Lane
    by_hand: Callable[[int], Awaitable[int]]
    calls: int
    found: Latencies = NONE
    empty: Latencies = NONE
    bare: Latencies = NONE

    async def agree(self) -> None:
        """Raise ValueError unless the first of them finds as much by hand as through graph."""
        async with grpc.aio.insecure_channel(self.lane.address) as channel:
            ask: grpc.aio.UnaryUnaryMultiCallable[bytes, Message] = channel.unary_unary(
                self.lane.method, None, self.lane.reply.FromString
            )
            reply = await ask(self.lane.requests[0], metadata=self.lane.metadata)
        found = 0
        if isinstance(reply, graph_pb2.FindPathResponse):
            found = len(reply.paths)
        elif isinstance(reply, graph_pb2.QueryNeighborsResponse):
            found = reply.visited_edge_count
        if (by_hand := await self.by_hand(0)) != found:
            raise ValueError(f"{self.what}: {found} through graph, {by_hand} by hand")

    async def turn(self, number: int) -> None:
        """Ask some times through graph, nothing as often, and as often by hand."""
        lanes = [self.lane, self.asked.live.empty_lane()]
        caller = self.asked.run.caller
        found = await caller.alternate(lanes, rounds=1, calls=self.calls, warm_up=1)
        bare = await timed(self.by_hand, range(number * self.calls, (number + 1) * self.calls))
        if number:  # the first only warms
            self.found, self.empty = self.found + found[0], self.empty + found[1]
            self.bare += bare

    def row(self) -> Row:
        """What was measured."""
        floor = self.bare.pair
        if not sized_graph.is_neo4j():
            floor = (floor[0] + self.empty.at(50), floor[1] + self.empty.at(95))
        return Row(
            f"{self.what}, {self.asked.label}",
            "ms",
            self.found.pair,
            floor=floor,
            floor_is=f"{self.asked.store.bare.is_called} ({self.bare.at(50):.2f} /"
            f" {self.bare.at(95):.2f}); ratio of p95",
            ratio=self.found.at(95) / floor[1],
            bar=TIMES_BARE,
            note=f"ratio of p50: {self.found.at(50) / floor[0]:.2f}",
        )


async def bench(run: Run) -> AsyncIterator[Row]:
    """Rows for each size, and how they grow from one to the other.

    SQLite's two sizes take turns; Neo4j Community holds one at a time.
    """
    small, large = run.size(10_000, 1_000), run.size(100_000, 2_000)
    groups = [[small, large]]
    if sized_graph.is_neo4j():
        groups = [[small], [large]] if run.large else [[small]]
    measured: dict[str, list[_Question]] = {}
    for sizes in groups:
        async with AsyncExitStack() as opened:
            stores = [await _opened(run, nodes, opened) for nodes in sizes]
            for make in QUESTIONS:
                for question in await _measured(run, [make(asked) for asked in stores]):
                    measured.setdefault(question.what, []).append(question)
                    yield question.row()
            for asked in stores:
                yield await writes(asked)
                yield await imports(asked)
    for what, questions in measured.items():
        if len(questions) > 1:
            yield _growth(what, *(each.found for each in questions))


async def _opened(run: Run, nodes: int, opened: AsyncExitStack) -> Asked:
    chosen = opened.enter_context(sized_graph.settings(run.folder / f"graph-{nodes}"))
    hub_edges = run.size(HUB_EDGES, 2_000)
    store = await opened.enter_async_context(grown(chosen, nodes, nodes * 10, hub_edges))
    registrations = [*store.app.registrations, empty_rpc.registration()]
    live = await opened.enter_async_context(served(registrations))
    return Asked(run, live, store, nodes)


async def _measured(run: Run, questions: list[_Question]) -> list[_Question]:
    for question in questions:
        await question.agree()
    for number in range(run.rounds + 1):
        for question in questions:
            await question.turn(number)
    return questions


def _one_hop(asked: Asked) -> _Question:
    return _hops(asked, "1-hop neighbours", 1, 40)


def _three_hops(asked: Asked) -> _Question:
    return _hops(asked, "3-hop neighbours", 3, 5)


def _hops(asked: Asked, what: str, depth: int, calls: int) -> _Question:
    draw = random.Random(5)
    names = [node_name(draw.randrange(asked.nodes)) for _ in range(calls * asked.run.rounds)]
    requests = [
        graph_pb2.QueryNeighborsRequest(
            start=type_pb2.EdgeEnd(name=name), depth=depth, page_size=20
        )
        for name in names
    ]

    async def by_hand(number: int) -> int:
        return await asked.store.bare.around(names[number % len(names)], depth, system_clock())

    lane = asked.lane("QueryNeighbors", requests, graph_pb2.QueryNeighborsResponse)
    return _Question(what, asked, lane, by_hand, calls)


def _clique(asked: Asked) -> _Question:
    ends = clique_name(0), clique_name(CLIQUE - 1)
    return _paths(asked, f"paths in a clique of {CLIQUE}", *ends, max_depth=5)


def _hub(asked: Asked) -> _Question:
    return _paths(asked, "paths through a hub", "left", "right", max_depth=5)


def _paths(asked: Asked, what: str, start: str, end: str, *, max_depth: int) -> _Question:
    request = graph_pb2.FindPathRequest(
        start=type_pb2.EdgeEnd(name=start), end=type_pb2.EdgeEnd(name=end), max_depth=max_depth
    )

    async def by_hand(_: int) -> int:
        return await asked.store.bare.paths(start, end, system_clock())

    lane = asked.lane("FindPath", [request], graph_pb2.FindPathResponse)
    return _Question(what, asked, lane, by_hand, 10)


def _growth(what: str, before: Latencies, after: Latencies) -> Row:
    return Row(
        f"{what}: from the smaller size to the larger",
        "ms",
        after.pair,
        floor=before.pair,
        floor_is="the same at the smaller size; ratio of p95",
        ratio=after.at(95) / before.at(95),
        bar=TIMES_GROWN,
        note=f"ratio of p50: {after.at(50) / before.at(50):.2f}",
    )


QUESTIONS = (_one_hop, _three_hops, _clique, _hub)
