"""How two items hang together: shortest first, then heavier, within the deadline."""

import asyncio
import itertools
import math
from typing import cast

import pytest
import raw_store
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain.items import Access, EdgeType, Importance, Instant
from concord_graph.ports import Reads, Step, Walk
from concord_graph.usecases.paths import find_paths
from graph_world import DAY, NOT_FOUND, Calls, World, edge_of
from hypothesis import given, settings
from hypothesis import strategies as st

OUT = type_pb2.DIRECTION_OUTGOING
IN = type_pb2.DIRECTION_INCOMING
DEADLINE = 20.0
Link = tuple[str, str, float]


class Links:
    """Edges in memory, as much of a store as finding paths asks for."""

    def __init__(self, links: list[Link]) -> None:
        self.all = [
            Step(f"e{n:03}", a, b, w, EdgeType.DESCRIPTIVE, Importance.MEDIUM, False, Access(0, 0))
            for n, (a, b, w) in enumerate(links)
        ]

    async def steps(self, ids: object, walk: Walk, limit: int) -> list[Step]:
        """Return the edges at the ids."""
        assert isinstance(ids, (list, set, tuple))
        met = [
            step
            for step in self.all
            if (walk.outgoing and step.source_id in ids)
            or (walk.incoming and step.target_id in ids)
        ]
        return met[:limit]

    async def degree(self, ids: object, walk: Walk, cap: int) -> int:
        """Count the edges at the ids."""
        return len(await self.steps(ids, walk, cap))


def naive(links: Links, start: str, end: str, walk: Walk, most: int) -> list[tuple[str, ...]]:
    """Return every simple path, in the order of the specification."""
    found: list[tuple[int, float, tuple[str, ...]]] = []

    def go(node: str, path: tuple[str, ...], seen: frozenset[str], weight: float) -> None:
        if path and node == end:
            found.append((len(path), -weight, path))
            return
        if len(path) == most:
            return
        for step in links.all:
            a, b = step.source_id, step.target_id
            for here, beyond, open_ in ((a, b, walk.outgoing), (b, a, walk.incoming and a != b)):
                if open_ and here == node and beyond not in seen:
                    go(beyond, (*path, step.id), seen | {beyond}, weight * step.weight)

    go(start, (), frozenset([start]), 1.0)
    return [path for _, _, path in sorted(found)]


nodes = st.sampled_from("abcdefg")
link = st.tuples(nodes, nodes, st.sampled_from([0.0, 0.25, 0.5, 1.0]))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(link, max_size=16),
    st.sampled_from([(True, True), (True, False), (False, True)]),
    st.integers(1, 7),
    st.integers(1, 12),
)
def test_paths_equal_those_of_naive_enumeration(
    raw: list[Link], ways: tuple[bool, bool], max_depth: int, max_paths: int
) -> None:
    """G10 On small random graphs: the same simple paths, in the same order."""
    links = Links(raw)
    walk = Walk(at=Instant(0), outgoing=ways[0], incoming=ways[1])
    search = find_paths(
        cast("Reads", links), "a", "b", walk, max_depth=max_depth, max_paths=max_paths
    )
    found = asyncio.run(search)

    assert [path.edge_ids for path in found.paths] == naive(links, "a", "b", walk, max_depth)[
        :max_paths
    ]
    assert not found.truncated


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


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"direction": OUT}, 1),
        ({"direction": IN}, 1),
        ({"direction": OUT, "max_depth": 2}, 0),
        ({"filter": graph_pb2.EdgeFilter(relations=["T"])}, 0),
        ({}, 2),
        ({"max_paths": 1}, 1),
        ({"filter": graph_pb2.EdgeFilter(relations=["S"])}, 1),
        ({"filter": graph_pb2.EdgeFilter(relations=["R"])}, 1),
    ],
)
async def test_direction_depth_and_filters(
    home: Calls, options: dict[str, object], count: int
) -> None:
    """G10 Each narrows; a simple path meets no item twice."""
    for source, relation, target in ("aRb", "bRc", "cRd", "dSa"):
        await home.put_edge(source, relation, target)
    await home.put_edge("b", "R", "b")

    assert len((await home.paths("a", "d", **options)).paths) == count


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
    """G10 Met from both sides, beside a detour, and from the hub itself."""
    for edge in ("a>hub", "hub>b", "a>c", "c>d", "d>b"):
        source, _, target = edge.partition(">")
        await home.upsert(edge_of(source, "R", target))
    raw_store.grow_hub(live.path, "hub", 100_000)
    async with asyncio.timeout(DEADLINE):
        between = await home.paths("a", "b", max_depth=5)
    async with asyncio.timeout(DEADLINE):
        single = await home.paths("a", "b", max_depth=2)
    async with asyncio.timeout(DEADLINE):
        from_hub = await home.paths("hub", "d", max_depth=3)

    assert [len(path.edges) for path in between.paths][:1] == [2]
    assert [len(path.edges) for path in single.paths] == [2]
    assert not single.truncated
    assert from_hub.paths[0].edges[-1].target.name in {"b", "d"}


async def test_a_hub_that_is_the_only_way_is_never_opened(live: World, home: Calls) -> None:
    """G10 Where both sides meet in one item, nothing beyond it can be a path: whole, not cut."""
    await home.put_edge("a", "R", "hub")
    await home.put_edge("hub", "R", "b")
    raw_store.grow_hub(live.path, "hub", 100_050)
    async with asyncio.timeout(DEADLINE):
        reply = await home.paths("a", "b", max_depth=10)

    assert [len(path.edges) for path in reply.paths] == [2]
    assert not reply.truncated
