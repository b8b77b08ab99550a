"""What holds of a subject, now and at any instant, through memories that state facts.

Public sets of facts that change. Each order of the facts is remembered in a space of its own,
through the batch RPC, with explicit times but for one; then QueryNeighbors is asked what holds at
each instant that has one answer. On SQLite, or on Neo4j when GRAPH_STORE=neo4j.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from concord.graph.v1.graph_pb2 import EdgeFilter, QueryNeighborsRequest
from concord.graph.v1.graph_pb2_grpc import GraphServiceStub
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.graph.v1.relation_pb2 import DeclareRelationRequest
from concord.graph.v1.relation_pb2_grpc import RelationServiceStub
from concord.type.v1.type_pb2 import DIRECTION_OUTGOING, AsOf, EdgeEnd, Fact, Memory
from concord_graph.bootstrap import GraphApp, build_on
from concord_graph.config import SqliteConfig
from concord_stores.neo4j_config import Neo4jConfig
from concord_testing.neo4j_server import running
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import SecretStr

from tests.bench.filling import requests
from tests.bench.run import Bench, Run
from tests.bench.servers import Served, agent, served
from tests.bench.table import Bar, Row
from tests.bench.timelines import Asked, Stated, Timelines, dated, monthly, numbered

SEEDS = (1, 2, 3)
BATCH = 50
"""Memories of a batch, a fact each: no batch states more facts."""
ON_NEO4J = 150
"""Questions, or a few more: a part of each set, for each of its orders."""
Read = Callable[[Path], Timelines]


def of_set(name: str, read: Read, bar: float, *, undated: bool = False) -> Bench:
    """The benchmark of a set; with `undated` also in order without any time, asked about now."""

    async def bench(run: Run) -> AsyncIterator[Row]:
        folder = run.evaluation / name
        if not folder.is_dir():
            print(f"SKIPPED: no data at {folder}", flush=True)
            return
        whole = read(folder)
        part = whole.part(ON_NEO4J) if on_neo4j() else whole
        async with (
            store(run.folder / name) as app,
            served(app.registrations) as live,
        ):
            for order, facts, untimed in _orders(part, undated=undated):
                right = await _right(live, f"{name}-{order}", facts, untimed=untimed)
                asked = whole.about_now() if untimed else whole
                yield _row(f"{name} {order}", right, facts, asked, bar)

    return bench


async def _right(live: Served, space: str, told: Timelines, *, untimed: bool) -> list[bool]:
    space = space.replace(" ", "-")
    await remember(live, space, told, untimed=untimed)
    return [await _holds(live, space, asked) == asked.values for asked in told.questions]


def _orders(told: Timelines, *, undated: bool) -> Iterator[tuple[str, Timelines, bool]]:
    yield "in order", told, False
    for seed in SEEDS:
        yield f"shuffled {seed}", told.shuffled(seed), False
    if undated:
        yield "in order, no times", told.about_now(), True


def _row(what: str, right: Sequence[bool], told: Timelines, whole: Timelines, bar: float) -> Row:
    part = f" of {len(whole.questions):,}" if on_neo4j() else ""
    left_out = ", ".join(f"{count} {why}" for why, count in whole.left_out.items())
    return Row(
        f"{what}, {len(right):,}{part} questions",
        "right",
        (sum(right) / len(right),),
        bar=Bar(bar, at_most=False),
        note=f"{len(told.facts):,} facts; left out of the set: {left_out or 'nothing'}",
    )


async def remember(live: Served, space: str, told: Timelines, *, untimed: bool = False) -> None:
    """Declares the relations when they are functional, and adds a memory for each fact."""
    channel = live.serving.channel(agent(space), cap=None)
    relations, memories = RelationServiceStub(channel), MemoryServiceStub(channel)
    names = sorted({fact.slot[1] for fact in told.facts}) if told.functional else []
    for place, name in enumerate(names):
        await relations.DeclareRelation(
            DeclareRelationRequest(request_id=f"r-{place}", name=name, functional=True)
        )
    for start in range(0, len(told.facts), BATCH):
        batch = [memory_of(fact, untimed=untimed) for fact in told.facts[start : start + BATCH]]
        reply = await memories.BatchAddMemories(requests(f"m-{start}", batch))
        if reply.errors:
            raise RuntimeError(f"refused: {reply.errors[0].reason}: {reply.errors[0].message}")


async def _holds(live: Served, space: str, asked: Asked) -> frozenset[str]:
    """Returns the values that graph says a slot has."""
    stub = GraphServiceStub(live.serving.channel(agent(space), cap=None))
    subject, relation = asked.slot
    request = QueryNeighborsRequest(
        start=EdgeEnd(name=subject),
        direction=DIRECTION_OUTGOING,
        filter=EdgeFilter(relations=[relation]),
        as_of=None if asked.at is None else AsOf(valid_time=stamp(asked.at)),
        page_size=100,
        peek=True,
    )
    reply = await stub.QueryNeighbors(request)
    return frozenset(each.edge.target.name for each in reply.neighbors)


def memory_of(fact: Stated, *, untimed: bool) -> Memory:
    """A memory that states a fact."""
    subject, relation = fact.slot
    stated = Fact(subject=subject, relation=relation, object=fact.value)
    memory = Memory(content=fact.text, facts=[stated])
    if not untimed:
        memory.valid_from.CopyFrom(stamp(fact.since))
    if not untimed and fact.until is not None:
        memory.valid_until.CopyFrom(stamp(fact.until))
    return memory


def stamp(time_: int) -> Timestamp:
    """Microseconds as a message."""
    return Timestamp(seconds=time_ // 1_000_000, nanos=time_ % 1_000_000 * 1_000)


def on_neo4j() -> bool:
    """Whether the store is Neo4j."""
    return os.environ.get("GRAPH_STORE") == "neo4j"


@asynccontextmanager
async def store(folder: Path) -> AsyncIterator[GraphApp]:
    """Graph on the store that the environment chooses, its background work running."""
    await asyncio.to_thread(folder.mkdir)
    if not on_neo4j():
        async with _started(await build_on(SqliteConfig(store_path=folder / "graph.db"))) as app:
            yield app
        return
    with running(folder, os.environ) as given:
        password = SecretStr(given.password)
        settings = Neo4jConfig(uri=given.uri, user=given.user, password=password)
        async with _started(await build_on(settings)) as app:
            yield app


@asynccontextmanager
async def _started(app: GraphApp) -> AsyncIterator[GraphApp]:
    await app.start()
    try:
        yield app
    finally:
        await app.close()


BENCHES = {
    "factconsolidation": of_set("factconsolidation", numbered, 1.0, undated=True),
    "dyknow": of_set("dyknow", lambda folder: dated(folder, time.time_ns() // 1_000), 1.0),
    "tempreason": of_set("tempreason", monthly, 0.99),
}
