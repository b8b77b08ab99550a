"""What one more write costs at the end of a long row, tie or chain, and a read there.

A row holds the values of a source and functional relation in time; in a tie they begin at once; in
a chain each memory supersedes the one before. On SQLite, or on Neo4j when GRAPH_STORE=neo4j.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

from concord.graph.v1 import graph_pb2, memory_pb2
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.graph.v1.relation_pb2 import DeclareRelationRequest
from concord.graph.v1.relation_pb2_grpc import RelationServiceStub
from concord.type.v1.type_pb2 import Edge, EdgeEnd, Fact, Memory

from tests.bench.filling import batched, requests
from tests.bench.run import Run
from tests.bench.servers import Served, agent, served
from tests.bench.table import Bar, Row
from tests.bench.timing import Lane
from tests.bench.values_in_time import stamp, store

SHORT = 10
CALLS = 5
WARM_UP = 5
BATCH = 50
"""Memories of a batch, a fact each: no batch states more facts."""
RELATION = "LIVES_IN"
_START = 1_500_000_000
_GRAPH, _MEMORY = "/concord.graph.v1.GraphService/", "/concord.graph.v1.MemoryService/"


@dataclass(frozen=True)
class Shape:
    """How values lie in time, and the subjects that have them."""

    what: str
    step: int
    """Seconds between one value and the next."""

    def begins(self, place: int) -> int:
        """When (µs) the value at a place begins."""
        return (_START + place * self.step) * 1_000_000

    def stated(self, subject: str, count: int) -> Iterator[Memory]:
        """Memories that state the first values of a subject."""
        for place in range(count):
            fact = Fact(subject=subject, relation=RELATION, object=f"{subject} {place}")
            valid_from = stamp(self.begins(place))
            yield Memory(
                content=f"{subject} {place} {self.what}", facts=[fact], valid_from=valid_from
            )

    def upsert(self, subject: str, place: int) -> graph_pb2.UpsertEdgeRequest:
        """One more value of a subject."""
        edge = Edge(
            source=EdgeEnd(name=subject),
            relation=RELATION,
            target=EdgeEnd(name=f"{subject} {place}"),
            valid_from=stamp(self.begins(place)),
        )
        return graph_pb2.UpsertEdgeRequest(request_id=f"{subject} {place}", edge=edge)


SHAPES = (Shape("row", step=60), Shape("tie", step=0))


async def bench(run: Run) -> AsyncIterator[Row]:
    """For each shape: one more value, and reads of it and of the first, beside those of ten."""
    long = run.size(10_000, 200)
    async with store(run.folder / "rows") as app, served(app.registrations) as live:
        channel = live.serving.channel(agent(), cap=None)
        await RelationServiceStub(channel).DeclareRelation(
            DeclareRelationRequest(request_id="declare", name=RELATION, functional=True)
        )
        for shape in SHAPES:
            async for row in _of_values(run, live, shape, long):
                yield row
        async for row in _of_chains(run, live, long):
            yield row


async def _of_values(run: Run, live: Served, shape: Shape, long: int) -> AsyncIterator[Row]:
    total = run.rounds * CALLS + WARM_UP
    short = [f"{shape.what} {number}" for number in range(total)]
    for subject in short:
        await _add(live, subject, list(shape.stated(subject, SHORT)))
    await _add(live, shape.what, list(shape.stated(shape.what, long)))
    some = [shape.upsert(subject, SHORT) for subject in short]
    many = [shape.upsert(shape.what, long + number) for number in range(total)]
    method, reply = f"{_GRAPH}UpsertEdge", graph_pb2.UpsertEdgeResponse
    lanes = [live.lane(method, each, reply) for each in (some, many)]
    yield await _row(run, f"one more value in a {shape.what} of {long:,}", lanes, 2.0)
    for which, at in (("first", 0), ("last", long - 1)):
        ends = [(short[0], min(at, SHORT - 1)), (shape.what, at)]
        lanes = [_asking(live, subject, place) for subject, place in ends]
        yield await _row(run, f"the {which} value of a {shape.what} of {long:,}, read", lanes, 1.3)


def _asking(live: Served, subject: str, place: int) -> Lane:
    """Reads of the value at a place of a subject."""
    ends = (EdgeEnd(name=subject), EdgeEnd(name=f"{subject} {place}"))
    triple = graph_pb2.Triple(source=ends[0], relation=RELATION, target=ends[1])
    asked = graph_pb2.GetEdgeRequest(triple=triple, peek=True)
    return live.lane(f"{_GRAPH}GetEdge", [asked], graph_pb2.GetEdgeResponse)


async def _of_chains(run: Run, live: Served, long: int) -> AsyncIterator[Row]:
    total = run.rounds * CALLS + WARM_UP
    short = [f"chain {number}" for number in range(total)]
    for name in short:
        await _add(live, name, [_linked(name, place) for place in range(SHORT)])
    await _add(live, "chain", [_linked("chain", place) for place in range(long)])
    ends = [(name, SHORT) for name in short]
    many = [("chain", long + number) for number in range(total)]
    lanes = [_linking(live, each) for each in (ends, many)]
    yield await _row(run, f"one more in a chain of {long:,}", lanes, 2.0)
    lanes = [
        live.lane(f"{_MEMORY}GetMemory", [asked], memory_pb2.GetMemoryResponse)
        for asked in (_read(short[0], SHORT), _read("chain", long + total - 1))
    ]
    yield await _row(run, f"the head of a chain of {long:,}, read", lanes, 1.3)


def _linking(live: Served, places: Sequence[tuple[str, int]]) -> Lane:
    """Writes of a chain's next memory."""
    asked = [
        memory_pb2.AddMemoryRequest(request_id=_id(name, place), memory=_linked(name, place))
        for name, place in places
    ]
    return live.lane(f"{_MEMORY}AddMemory", asked, memory_pb2.AddMemoryResponse)


def _read(name: str, place: int) -> memory_pb2.GetMemoryRequest:
    return memory_pb2.GetMemoryRequest(id=_id(name, place), peek=True)


def _linked(name: str, place: int) -> Memory:
    older = f"\n\nSupersedes: [[memory:{_id(name, place - 1)}]]" if place else ""
    return Memory(id=_id(name, place), content=f"Value {place} of {name}.{older}")


def _id(name: str, place: int) -> str:
    return f"{name}-{place}".replace(" ", "-")


async def _add(live: Served, name: str, memories: Sequence[Memory]) -> None:
    stub = MemoryServiceStub(live.serving.channel(agent(), cap=None))
    for number, batch in enumerate(batched(memories, BATCH)):
        reply = await stub.BatchAddMemories(requests(f"{name} {number}", batch))
        if reply.errors:
            raise RuntimeError(f"refused: {reply.errors[0].reason}: {reply.errors[0].message}")


async def _row(run: Run, what: str, lanes: Sequence[Lane], bar: float) -> Row:
    short, long = await run.caller.alternate(lanes, rounds=run.rounds, calls=CALLS, warm_up=WARM_UP)
    return Row(
        what,
        "ms",
        long.pair,
        floor=short.pair,
        floor_is=f"the same with {SHORT}; ratio of p50",
        ratio=long.at(50) / short.at(50),
        bar=Bar(bar),
    )
