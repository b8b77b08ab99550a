"""Relevance and default importance: the published numbers, in the domain and as served."""

import math

import pytest
from concord.graph.v1 import graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain.items import EdgeType, Importance
from concord_graph.domain.relevance import Access, default_importance, relevance
from graph_world import DAY, SUPERSEDES, Calls, Parties, World, by_id
from hypothesis import given
from hypothesis import strategies as st

LOW, MEDIUM, HIGH = Importance.LOW, Importance.MEDIUM, Importance.HIGH
D, C = EdgeType.DESCRIPTIVE, EdgeType.CONSTITUTIVE


@pytest.mark.parametrize(
    ("edge_type", "importance", "days", "count", "expected"),
    [
        (D, MEDIUM, 100, 0, 0.368),
        (D, MEDIUM, 100, 10, 0.745),
        (D, HIGH, 100, 0, 0.607),
        (D, LOW, 100, 0, 0.368),
        (D, HIGH, 100, 10, 0.745),
        (D, MEDIUM, 0, 0, 1.0),
        (D, MEDIUM, -5, 3, 1.0),
        (D, MEDIUM, 0.5, 0, 0.995),
        (D, MEDIUM, 1e6, 0, 0.0),
        (C, LOW, 10_000, 0, 1.0),
        (EdgeType.RESOLUTION, MEDIUM, 100, 0, 0.368),
    ],
)
def test_the_numbers_of_the_specification(
    edge_type: EdgeType, importance: Importance, days: float, count: int, expected: float
) -> None:
    """G7 exp(-d/S) with S = 100 (1 + ln(1 + count)), floored by importance."""
    now = 10**18
    access = Access(now - round(days * DAY), count)

    assert relevance(edge_type, importance, access, now) == pytest.approx(expected, abs=5e-4)


@given(
    st.integers(-(10**15), 10**17),
    st.integers(0, 10**9),
    st.sampled_from([LOW, MEDIUM, HIGH]),
)
def test_relevance_stays_in_bounds_and_follows_its_formula(
    age: int, count: int, importance: Importance
) -> None:
    """G7 In [0, 1]; more reads and higher importance never lower it."""
    now = 10**18
    score = relevance(D, importance, Access(now - age, count), now)
    floor = {LOW: 0, MEDIUM: 100, HIGH: 200}[importance]
    strength = max(floor, 100 * (1 + math.log(1 + count)))

    assert 0 <= score <= 1
    assert score == pytest.approx(min(1.0, math.exp(-max(0, age) / DAY / strength)), abs=1e-9)
    assert score <= relevance(D, importance, Access(now - age, count + 1), now) + 1e-12
    assert score <= relevance(D, HIGH, Access(now - age, count), now)


@pytest.mark.parametrize(
    ("stated", "edge_type", "near", "days", "expected"),
    [
        (LOW, D, True, 0, LOW),
        (HIGH, D, False, 400, HIGH),
        (Importance.UNSET, D, True, 400, HIGH),
        (Importance.UNSET, EdgeType.RESOLUTION, False, 400, HIGH),
        (Importance.UNSET, D, False, 90, MEDIUM),
        (Importance.UNSET, D, False, 90.1, LOW),
        (Importance.UNSET, D, False, 0, MEDIUM),
    ],
)
def test_the_default_rule_of_importance(
    stated: Importance, edge_type: EdgeType, near: bool, days: float, expected: Importance
) -> None:
    """G8 As set; else near something constitutive or a resolution, then unread, then medium."""
    now = 10**18
    found = default_importance(
        stated,
        edge_type=edge_type,
        near_constitutive=near,
        access=Access(now - round(days * DAY), 0),
        now=now,
    )

    assert found == expected


async def test_relevance_as_served(live: World, home: Calls) -> None:
    """G7 G8 The very numbers come with edges, memories and lists; never stored."""
    edge = await home.put_edge("A", "R", "B", importance=type_pb2.IMPORTANCE_MEDIUM)
    memory = await home.add("text", importance=type_pb2.IMPORTANCE_HIGH)
    live.clock.pass_(100 * DAY)
    listed = await home.graph.ListEdges(graph_pb2.ListEdgesRequest())
    (neighbor,) = (await home.neighbors("A")).neighbors

    assert (await home.get_edge(edge.id)).relevance_score == pytest.approx(0.368, abs=5e-4)
    assert listed.edges[0].relevance_score == pytest.approx(0.368, abs=5e-4)
    assert neighbor.edge.relevance_score == pytest.approx(0.368, abs=5e-4)
    assert (await home.get(memory.id)).relevance_score == pytest.approx(0.607, abs=5e-4)
    assert (await home.get_edge(edge.id)).etag == edge.etag


async def test_importance_as_served(live: World, home: Calls, parties: Parties) -> None:
    """G8 Near something constitutive is high; so is a resolution; unread for 91 days is low."""
    await parties.constitutive_edge(home)
    near = await home.put_edge("Me", "LIKES", "Tea")
    far = await home.put_edge("Tea", "GROWS_IN", "China")
    note, loose = await home.add("About me"), await home.add("About nothing")
    await home.put_edge(by_id(note.id), "ABOUT", "Me")
    old, new = await home.put_edge("X", "R", "Y"), await home.put_edge("X", "R", "Z")
    resolution = (await home.relate(SUPERSEDES, new.id, old.id)).edge
    live.clock.pass_(91 * DAY)

    for edge, importance in (
        (near, type_pb2.IMPORTANCE_HIGH),
        (far, type_pb2.IMPORTANCE_LOW),
        (resolution, type_pb2.IMPORTANCE_HIGH),
    ):
        assert (await home.get_edge(edge.id)).importance == importance
    assert (await home.get(note.id)).importance == type_pb2.IMPORTANCE_HIGH
    assert (await home.get(loose.id)).importance == type_pb2.IMPORTANCE_LOW
    for revision, importance in zip(
        await home.states((note.id, 0), (loose.id, 0)),
        (type_pb2.IMPORTANCE_HIGH, type_pb2.IMPORTANCE_LOW),
        strict=True,
    ):
        assert revision.memory.importance == importance


async def test_default_importance_moves_with_reading(live: World, home: Calls) -> None:
    """G8 At 90 days still medium, past them low, wherever it is shown; read, it is medium again."""
    edge, memory = await home.put_edge("A", "R", "B"), await home.add("text")

    async def shown() -> set[type_pb2.Importance.ValueType]:
        edges = await home.graph.ListEdges(graph_pb2.ListEdgesRequest())
        memories = await home.memory.ListMemories(memory_pb2.ListMemoriesRequest())
        (near,) = (await home.neighbors("A")).neighbors
        (deep,) = (await home.neighbors("A", depth=2)).neighbors
        (path,) = (await home.paths("A", "B")).paths
        seen = (await home.get_edge(edge.id), near.edge, deep.edge, *edges.edges, *path.edges)
        texts = (await home.get(memory.id), *memories.memories)
        return {item.importance for item in seen} | {item.importance for item in texts}

    fresh = await shown()
    live.clock.pass_(90 * DAY)
    at_ninety = await shown()
    live.clock.pass_(1_000)
    unread = await shown()
    await home.get_edge(edge.id, peek=False)
    await home.get(memory.id, peek=False)

    assert fresh == at_ninety == await shown() == {type_pb2.IMPORTANCE_MEDIUM}
    assert unread == {type_pb2.IMPORTANCE_LOW}


async def test_default_importance_follows_what_is_constitutive_near_by(
    live: World, home: Calls, parties: Parties
) -> None:
    """G8 From the moment that a node has a constitutive edge, all that touches it is high, unread
    or not; what a caller has set stays, and what touches only a neighbour is not near."""
    note, told, far = [await home.add(text) for text in ("one", "two", "three")]
    low = await home.add("four", importance=type_pb2.IMPORTANCE_LOW)
    edges = [
        await home.put_edge(by_id(note.id), "ABOUT", "Me"),
        await home.put_edge("Honesty", "SAID_IN", by_id(told.id)),
        await home.put_edge("Me", "LIKES", "Tea"),
        await home.put_edge(by_id(low.id), "ABOUT", "Me"),
    ]
    beyond = await home.put_edge(by_id(far.id), "ABOUT", "Tea")
    before = {(await home.get(note.id)).importance, (await home.get_edge(edges[0].id)).importance}
    await parties.constitutive_edge(home)
    live.clock.pass_(400 * DAY)

    assert before == {type_pb2.IMPORTANCE_MEDIUM}
    for edge in edges:
        assert (await home.get_edge(edge.id)).importance == type_pb2.IMPORTANCE_HIGH
    for memory in (note, told):
        assert (await home.get(memory.id)).importance == type_pb2.IMPORTANCE_HIGH
    assert (await home.get(low.id)).importance == type_pb2.IMPORTANCE_LOW
    assert (await home.get(far.id)).importance == type_pb2.IMPORTANCE_LOW
    assert (await home.get_edge(beyond.id)).importance == type_pb2.IMPORTANCE_LOW
