"""How two items hang together: shortest first, then heavier, within the deadline."""

import asyncio
import itertools
import math
import random
from collections.abc import AsyncGenerator, Collection
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import pytest
import raw_store
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain.items import Instant
from concord_graph.ports import Hop, Reads, Walk
from concord_graph.usecases.read.paths import FoundPaths, find_paths
from graph_world import DAY, NOT_FOUND, Calls, World, edge_of
from hypothesis import given, settings
from hypothesis import strategies as st

OUT = type_pb2.DIRECTION_OUTGOING
IN = type_pb2.DIRECTION_INCOMING
DEADLINE = 20.0
Link = tuple[str, str, float]


class Links:
    """Edges in memory, as much of a store as finding paths asks for."""

    def __init__(self, links: list[Link], degrees: dict[str, int] | None = None) -> None:
        self.all = [Hop(f"e{n:03}", *link) for n, link in enumerate(links)]
        self.said = degrees or {}
        self.read = 0

    def at(self, ids: Collection[str], walk: Walk) -> list[Hop]:
        """Return the edges at the ids."""
        return [
            hop
            for hop in self.all
            if (walk.outgoing and hop.source_id in ids) or (walk.incoming and hop.target_id in ids)
        ]

    async def hops(self, ids: Collection[str], walk: Walk) -> AsyncGenerator[list[Hop]]:
        """Yield the edges at the ids, two at a time."""
        found = self.at(ids, walk)
        for place in range(0, len(found), 2):
            self.read += 2
            yield found[place : place + 2]

    async def degrees(self, ids: Collection[str], walk: Walk, cap: int) -> dict[str, int]:
        """Count the edges at each id, or say what was told to be said."""
        counted = {item: len(self.at([item], walk)) for item in ids}
        return {item: min(self.said.get(item, count), cap) for item, count in counted.items()}


def naive(links: Links, start: str, end: str, walk: Walk, most: int) -> list[tuple[str, ...]]:
    """Return every simple path, in the order of the specification."""
    found: list[tuple[int, float, tuple[str, ...]]] = []

    def go(node: str, path: tuple[str, ...], seen: frozenset[str], weight: float) -> None:
        if path and node == end:
            found.append((len(path), -weight, path))
            return
        if len(path) == most:
            return
        for hop in links.all:
            a, b = hop.source_id, hop.target_id
            for here, beyond, open_ in ((a, b, walk.outgoing), (b, a, walk.incoming and a != b)):
                if open_ and here == node and beyond not in seen:
                    go(beyond, (*path, hop.id), seen | {beyond}, weight * hop.weight)

    go(start, (), frozenset([start]), 1.0)
    return [path for _, _, path in sorted(found)]


nodes = st.sampled_from("abcdefg")
degrees = st.dictionaries(nodes, st.sampled_from([0, 1, 5, 1_000, 5_000, 100_001]))
link = st.tuples(nodes, nodes, st.sampled_from([0.0, 0.25, 0.5, 1.0]))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(link, max_size=16),
    st.sampled_from([(True, True), (True, False), (False, True)]),
    st.integers(1, 7),
    st.integers(1, 12),
    degrees,
)
def test_paths_equal_those_of_naive_enumeration(
    raw: list[Link],
    ways: tuple[bool, bool],
    max_depth: int,
    max_paths: int,
    degrees: dict[str, int],
) -> None:
    """G10 On small random graphs: the same simple paths, in the same order, whatever is a hub."""
    links = Links(raw, degrees)
    walk = Walk(at=Instant(0), outgoing=ways[0], incoming=ways[1])
    search = find_paths(
        cast("Reads", links), "a", "b", walk, max_depth=max_depth, max_paths=max_paths
    )
    found = asyncio.run(search)

    assert [path.edge_ids for path in found.paths] == naive(links, "a", "b", walk, max_depth)[
        :max_paths
    ]
    assert not found.truncated


weights = st.sampled_from([0.0, 0.1, 0.3, 0.7, 1 / 3, 0.9, 1.0, 5e-324])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(nodes, nodes, weights), max_size=14), st.integers(1, 12))
def test_paths_of_equal_weight_go_by_their_edges(raw: list[Link], max_paths: int) -> None:
    """G10 Products are compared exactly: the order of the factors makes no difference."""
    links = Links(raw)
    walk = Walk(at=Instant(0))
    weight = {hop.id: Fraction(hop.weight) for hop in links.all}
    wanted = sorted(
        naive(links, "a", "b", walk, 5),
        key=lambda path: (len(path), -math.prod(weight[edge] for edge in path), path),
    )
    search = find_paths(cast("Reads", links), "a", "b", walk, max_depth=5, max_paths=max_paths)

    assert [path.edge_ids for path in asyncio.run(search).paths] == wanted[:max_paths]


def found(links: Links, *, max_paths: int) -> FoundPaths:
    """Return the paths from s to t."""
    walk = Walk(at=Instant(0), incoming=False)
    reads = cast("Reads", links)
    return asyncio.run(find_paths(reads, "s", "t", walk, max_depth=10, max_paths=max_paths))


def test_the_best_of_a_million_paths_are_found_without_following_them() -> None:
    """G10 Three layers of a hundred, joined each with each: only the heaviest are walked."""
    draw = random.Random(3)
    layers = [["s"], *([f"{layer}-{i}" for i in range(100)] for layer in range(3)), ["t"]]
    links = Links([(a, b, draw.random()) for x, y in pairwise(layers) for a in x for b in y])
    best = {"t": 1.0}
    for layer, beyond in reversed(list(pairwise(layers))):
        out = {a: [hop for hop in links.all if hop.source_id == a] for a in layer}
        best |= {a: max(hop.weight * best[hop.target_id] for hop in out[a]) for a in layer}
        assert set(beyond) <= best.keys()
    reply = found(links, max_paths=100)

    assert not reply.truncated
    assert reply.paths[0].weight == pytest.approx(best["s"])
    assert len(reply.paths) == 100
    assert [path.weight for path in reply.paths] == sorted(
        (path.weight for path in reply.paths), reverse=True
    )


def test_a_hub_stays_shut_while_all_around_it_costs_less() -> None:
    """G10 A hub between the ends, and a long way past it: every path, and none of its edges."""
    ring = [f"r{i}" for i in range(8)]
    hub = [("hub", f"leaf{i}", 1.0) for i in range(2_000)]
    way = [(a, b, 1.0) for a, b in pairwise(["s", *ring, "t"])]
    links = Links([("s", "hub", 1.0), ("hub", "t", 1.0), ("hub", "r4", 1.0), *way, *hub])
    reply = found(links, max_paths=10)

    assert [len(path.edge_ids) for path in reply.paths] == [2, 6, 9]
    assert not reply.truncated
    assert links.read < 50


def test_a_hub_is_read_no_further_than_time_allows() -> None:
    """G10 The edges of a hub come in batches; the last look at the clock ends it."""
    links = Links([("s", f"m{i}", 1.0) for i in range(900)] + [("x", "t", 1.0)] * 900)
    looks = itertools.count()
    search = find_paths(
        cast("Reads", links),
        *("s", "t", Walk(at=Instant(0), incoming=False)),
        max_depth=5,
        max_paths=10,
        out_of_time=lambda: next(looks) > 9,
    )

    assert asyncio.run(search) == FoundPaths((), truncated=True)
    assert links.read < 50


async def test_shortest_first_then_heavier_with_their_products(home: Calls) -> None:
    """G10 Weight and path_relevance are products over the edges, in walking order."""
    for source, target, weight in (
        ("a", "b", 0.5),
        ("b", "d", 0.5),
        ("a", "c", 0.9),
        ("c", "d", 0.9),
        ("c", "b", 1.0),
    ):
        await home.put_edge(source, "R", target, weight=weight)
    reply = await home.paths("a", "d", direction=OUT, max_depth=3)
    walks = [
        "".join([path.edges[0].source.name, *(e.target.name for e in path.edges)])
        for path in reply.paths
    ]

    assert walks == ["acd", "abd", "acbd"]
    assert [path.weight for path in reply.paths] == pytest.approx([0.81, 0.25, 0.45])
    assert [path.path_relevance for path in reply.paths] == pytest.approx([1, 1, 1])


async def test_path_relevance_decays_with_its_edges(live: World, home: Calls) -> None:
    """G10 The product of the edges' relevance."""
    await home.put_edge("a", "R", "b")
    await home.put_edge("b", "R", "c", importance=type_pb2.IMPORTANCE_HIGH)
    live.clock.pass_(50 * DAY)
    (path,) = (await home.paths("a", "c")).paths

    assert path.path_relevance == pytest.approx(math.exp(-0.5) * math.exp(-0.25))
    assert path.path_relevance == pytest.approx(math.prod(e.relevance_score for e in path.edges))


async def test_direction_depth_and_filters(home: Calls) -> None:
    """G10 Each narrows; a simple path meets no item twice."""
    for source, relation, target in ("aRb", "bRc", "cRd", "dSa"):
        await home.put_edge(source, relation, target)
    await home.put_edge("b", "R", "b")
    cases: list[tuple[dict[str, Any], int]] = [
        ({"direction": OUT}, 1),
        ({"direction": IN}, 1),
        ({"direction": OUT, "max_depth": 2}, 0),
        ({"filter": graph_pb2.EdgeFilter(relations=["T"])}, 0),
        ({}, 2),
        ({"max_paths": 1}, 1),
        ({"filter": graph_pb2.EdgeFilter(relations=["S"])}, 1),
        ({"filter": graph_pb2.EdgeFilter(relations=["R"])}, 1),
    ]

    for options, count in cases:
        assert len((await home.paths("a", "d", **options)).paths) == count, options


async def test_misses_and_the_trivial_pair(live: World, home: Calls) -> None:
    """G10 G13 An unknown end is told; no path, or from an item to itself, is an empty answer."""
    await home.put_edge("a", "R", "b")
    await home.put_node("island")

    assert (await home.paths("a", "zzz")).status == NOT_FOUND
    assert (await live.calls("other").paths("a", "b")).status == NOT_FOUND
    for start, end in (("a", "island"), ("a", "a")):
        reply = await home.paths(start, end)
        assert (len(reply.paths), reply.truncated) == (0, False)


async def test_superseded_edges_are_no_way(home: Calls) -> None:
    """T4 Unless asked for."""
    old = await home.put_edge("a", "R", "b", valid_from=1)
    new = await home.put_edge("a", "R", "b", valid_from=2)
    default = await home.paths("a", "b")
    history = await home.paths("a", "b", include_superseded=True)

    assert [path.edges[0].id for path in default.paths] == [new.id]
    assert {path.edges[0].id for path in history.paths} == {old.id, new.id}


async def test_a_clique_of_thirty_answers_in_time(live: World, home: Calls) -> None:
    """G10 435 edges, millions of simple paths, the ten best."""
    pairs = list(itertools.combinations(range(30), 2))
    first = await home.put_edge("n0", "R", "n1")
    names = [f"n{number}" for number in range(30)]
    ids = [(await home.put_node(name)).id for name in names]
    joined = [(ids[a], ids[b]) for a, b in pairs[1:]]
    raw_store.join(live.path, joined, like=first.id)
    for depth in (1, 3, 10):
        async with asyncio.timeout(DEADLINE):
            reply = await home.paths("n0", "n29", max_depth=depth)
        lengths = [len(path.edges) for path in reply.paths]

        assert lengths == sorted(lengths)
        assert lengths == ([1] if depth == 1 else [1, *[2] * 9])


async def test_a_hub_of_a_hundred_thousand_edges_answers_in_time(live: World, home: Calls) -> None:
    """G10 Met from both sides, beside a detour, from the hub itself, and as the only way: where
    both sides meet in it, nothing beyond it can be a path, so the answer is whole, not cut."""
    for edge in ("a>hub", "hub>b", "a>c", "c>d", "d>b"):
        source, _, target = edge.partition(">")
        await home.upsert(edge_of(source, "R", target))
    await home.put_edge("hub", "R", "e")
    raw_store.grow_hub(live.path, "hub", 100_000)
    async with asyncio.timeout(DEADLINE):
        between = await home.paths("a", "b", max_depth=5)
    async with asyncio.timeout(DEADLINE):
        single = await home.paths("a", "b", max_depth=2)
    assert [len(path.edges) for path in between.paths] == [2, 3]
    assert not between.truncated
    async with asyncio.timeout(DEADLINE):
        from_hub = await home.paths("hub", "d", max_depth=3)
    async with asyncio.timeout(DEADLINE):
        only = await home.paths("e", "b", direction=type_pb2.DIRECTION_BOTH, max_depth=10)

    assert [len(path.edges) for path in single.paths] == [2]
    assert not single.truncated
    assert not from_hub.truncated
    assert from_hub.paths[0].edges[-1].target.name in {"b", "d"}
    assert len(only.paths[0].edges) == 2
    assert not only.truncated
