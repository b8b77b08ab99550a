"""A store of a size: a uniform graph, a clique and a hub; served, and at hand without graph."""

import os
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from concord_graph.bootstrap import GraphApp, build_on, system_clock
from concord_graph.config import SqliteConfig
from concord_graph.domain.drafts import EdgeDraft, EndRef
from concord_graph.ports import Author, Writes
from concord_graph.usecases.items.edges import upsert_edge
from concord_graph.usecases.write.writer import Writer
from concord_stores.neo4j_config import Neo4jConfig
from concord_testing.neo4j_server import running
from google.protobuf.message import Message
from neo4j import GraphDatabase
from pydantic import SecretStr

from tests.bench.bare_neo4j import BareNeo4j
from tests.bench.bare_sqlite import BareSqlite
from tests.bench.run import Run
from tests.bench.servers import Served, agent
from tests.bench.table import Bar
from tests.bench.timing import Lane
from tests.bench.used_before import use

RELATIONS = ("KNOWS", "USES", "OWNS", "READS", "CALLS")
CLIQUE = 30
HUB_EDGES = 100_000
TIMES_BARE = Bar(3.0)
TIMES_GROWN = Bar(2.0)


@dataclass(frozen=True)
class Grown:
    """The store of a size, open twice."""

    app: GraphApp
    bare: BareSqlite | BareNeo4j


@dataclass(frozen=True)
class Asked:
    """What is asked of a store of one size."""

    run: Run
    live: Served
    store: Grown
    nodes: int

    @property
    def label(self) -> str:
        """The size."""
        return f"{self.nodes:,} / {self.nodes * 10:,}"

    def lane(self, method: str, requests: Sequence[Message], reply: type[Message]) -> Lane:
        """Calls of a method of graph."""
        return self.live.lane(f"/concord.graph.v1.GraphService/{method}", requests, reply)


def is_neo4j() -> bool:
    """Whether GRAPH_STORE chooses it."""
    return os.environ.get("GRAPH_STORE") == "neo4j"


@contextmanager
def settings(folder: Path) -> Iterator[SqliteConfig | Neo4jConfig]:
    """The chosen store: a new file, or a Neo4j (NEO4J_URI's, which is wiped, or one of our own)."""
    folder.mkdir(parents=True, exist_ok=True)
    if not is_neo4j():
        yield SqliteConfig(store_path=folder / "graph.db")
        return
    with running(folder, os.environ, java_options=()) as at:
        login = (at.user, at.password)
        with GraphDatabase.driver(at.uri, auth=login) as driver, driver.session() as session:
            wipe = "MATCH (n) WHERE NOT n:Store CALL (n) { DETACH DELETE n } IN TRANSACTIONS"
            session.run(f"{wipe} OF 10000 ROWS").consume()
        yield Neo4jConfig(uri=at.uri, user=at.user, password=SecretStr(at.password))


@asynccontextmanager
async def grown(
    chosen: SqliteConfig | Neo4jConfig, nodes: int, edges: int, hub_edges: int
) -> AsyncIterator[Grown]:
    """A store with so many nodes and edges, the clique and the hub, that was used before."""
    app = await build_on(chosen)
    await app.start()
    try:
        await use(app)
        await app._store.write(agent().space, _first)
        bare: BareSqlite | BareNeo4j
        if isinstance(chosen, Neo4jConfig):
            bare = BareNeo4j(chosen)
        else:
            bare = BareSqlite(chosen.store_path)
        try:
            names = [*map(node_name, range(nodes)), *map(clique_name, range(CLIQUE))]
            await bare.fill([*names, "hub", "left", "right"], _triples(nodes, edges, hub_edges))
            yield Grown(app, bare)
        finally:
            await bare.close()
    finally:
        await app.close()


def node_name(number: int) -> str:
    """A node of the uniform graph."""
    return f"Node {number}"


def clique_name(number: int) -> str:
    """A node of the clique."""
    return f"Clique {number}"


def _triples(nodes: int, edges: int, hub_edges: int) -> Iterator[tuple[str, str, str]]:
    draw = random.Random(4)
    pairs = sorted((draw.randrange(nodes), draw.randrange(nodes)) for _ in range(edges))
    for at, (source, target) in enumerate(pairs):
        yield node_name(source), RELATIONS[at % len(RELATIONS)], node_name(target)
    for one, other in combinations(range(CLIQUE), 2):
        yield clique_name(one), "KNOWS", clique_name(other)
    yield from (("left", "KNOWS", "hub"), ("hub", "KNOWS", "right"))
    for number in range(hub_edges):
        yield "hub", "KNOWS", f"leaf-{number}"


async def _first(tx: Writes) -> None:
    writer = Writer(tx, Author("bench", "bench", "first"), system_clock())
    await upsert_edge(writer, EdgeDraft(EndRef("first"), "LIKE", EndRef("second")))
