"""Contexts: edges that name more participants than their two ends (G11)."""

from concord.graph.v1 import graph_pb2, space_pb2
from concord.type.v1 import type_pb2
from google.protobuf.json_format import MessageToDict
from graph_world import START, Calls, Json, World, edge_of, refused, stamp, struct
from paging import pages

FIELD_INVALID = "ERROR_REASON_FIELD_INVALID"
SHARED = {
    "participants": ["I/O", "ethr", "2025-12-15"],
    "context_type": "shared_experience",
    "emotional_valence": "positive",
}
"""The example of the source document."""


async def listed(home: Calls, *participants: str, **fields: object) -> list[str]:
    """Return the relations of the edges that have all these participants."""
    filter_ = graph_pb2.EdgeFilter(participants=participants)
    request = graph_pb2.ListEdgesRequest(filter=filter_, **fields)  # type: ignore[arg-type]
    return [edge.relation for edge in (await home.graph.ListEdges(request)).edges]


async def test_a_context_is_found_by_any_participant(home: Calls) -> None:
    """G11 In walks from its ends, and in lists also by one that is no end and no node."""
    await home.put_edge("I/O", "EXPERIENCED", "Dennett", properties=SHARED)
    await home.put_edge("I/O", "READ", "Dennett", properties={"participants": ["I/O"]})
    await home.put_edge("I/O", "KNOWS", "ethr")

    for name in ("ethr", "2025-12-15"):
        near = await home.neighbors("I/O", filter=graph_pb2.EdgeFilter(participants=[name]))

        assert await listed(home, name) == ["EXPERIENCED"]
        assert [each.edge.relation for each in near.neighbors] == ["EXPERIENCED"]
    assert await listed(home, "I/O") == ["EXPERIENCED", "READ"]
    assert await listed(home, "I/O", "ethr") == ["EXPERIENCED"]
    assert await listed(home, "Dennett") == []


async def test_a_context_is_found_by_type_and_valence(home: Calls) -> None:
    """G11 They are properties like any other."""
    edge = await home.put_edge("I/O", "EXPERIENCED", "Dennett", properties=SHARED)
    await home.put_edge("I/O", "READ", "Dennett", properties={"emotional_valence": -0.5})
    for wanted in ({"context_type": "shared_experience"}, {"emotional_valence": "positive"}):
        filter_ = graph_pb2.EdgeFilter(properties=struct(wanted))
        reply = await home.graph.ListEdges(graph_pb2.ListEdgesRequest(filter=filter_))

        assert [found.id for found in reply.edges] == [edge.id]


async def test_participants_are_names(home: Calls) -> None:
    """G11 Kept once each and as NFC, as node names are; asked for in either form."""
    edge = await home.put_edge("A", "MET", "B", properties={"participants": ["Zoe\u0308", "Zoë"]})
    await home.put_node("Zoe\u0308")

    assert MessageToDict(edge.properties) == {"participants": ["Zoë"]}
    assert (await home.get_node("Zoë")).name == "Zoë"
    assert await listed(home, "Zoe\u0308") == await listed(home, "Zoë") == ["MET"]


async def test_another_shape_is_refused(home: Calls) -> None:
    """G11 By upsert and by update, naming the property; nothing is half-written."""
    shapes: list[tuple[dict[str, Json], str]] = [
        ({"participants": "Ada"}, "participants"),
        ({"participants": []}, "participants"),
        ({"participants": {"a": "b"}}, "participants"),
        ({"participants": [f"n{n}" for n in range(51)]}, "participants"),
        ({"participants": ["Ada", 7]}, "participants[1]"),
        ({"participants": [" "]}, "participants[0]"),
        ({"participants": ["x" * 513]}, "participants[0]"),
        ({"context_type": 7}, "context_type"),
        ({"context_type": ""}, "context_type"),
        ({"context_type": "x" * 129}, "context_type"),
        ({"emotional_valence": 1.01}, "emotional_valence"),
        ({"emotional_valence": -2}, "emotional_valence"),
        ({"emotional_valence": "joyful"}, "emotional_valence"),
        ({"emotional_valence": True}, "emotional_valence"),
        ({"emotional_valence": [0.5]}, "emotional_valence"),
    ]
    edge = await home.put_edge("A", "R", "B")
    for properties, field in shapes:
        edge.properties.Clear()
        edge.properties.update(properties)
        for call in (
            home.upsert(edge_of("C", "R", "D", properties=properties)),
            home.update_edge(edge, "properties"),
        ):
            failure = await refused(call)

            assert failure.reason == FIELD_INVALID
            assert [each.field for each in failure.violations] == [f"edge.properties.{field}"]
    assert (await home.space_service.CountByType(space_pb2.CountByTypeRequest())).nodes == 2


async def test_the_edges_of_the_shape_are_accepted(home: Calls) -> None:
    """G11 The greatest and smallest of each; a null removes its key as any other."""
    shapes: list[dict[str, Json]] = [
        {"participants": [f"n{n}" for n in range(50)]},
        {"participants": ["x" * 512]},
        {"emotional_valence": 1},
        {"emotional_valence": -1},
        {"emotional_valence": 0},
        {"emotional_valence": "neutral"},
        {"emotional_valence": "negative"},
        {"context_type": "x" * 128},
        {"participants": None, "context_type": None, "emotional_valence": None},
    ]
    for properties in shapes:
        await home.put_edge("A", "R", "B", properties=SHARED)
        edge = await home.put_edge("A", "R", "B", properties=properties)

        for key, value in properties.items():
            assert (key in edge.properties) == (value is not None)


async def test_a_participant_that_leaves_is_no_longer_found(live: World, home: Calls) -> None:
    """G11 T3 Nor when the edge is deleted; as of then, it is found still."""
    edge = await home.put_edge("A", "MET", "B", properties={"participants": ["Ada", "Bob"]})
    then = type_pb2.AsOf(record_time=stamp(live.clock.now + 5))
    live.clock.pass_(10)
    edge = await home.put_edge("A", "MET", "B", properties={"participants": ["Bob"]})
    left = await listed(home, "Ada"), await listed(home, "Bob")
    live.clock.pass_(10)
    await home.delete_edge(edge)

    assert left == ([], ["MET"])
    assert await listed(home, "Bob") == []
    assert await listed(home, "Ada", as_of=then) == ["MET"]
    assert await listed(home, "Ada", as_of=type_pb2.AsOf(record_time=stamp(START - 1))) == []


async def test_pages_of_contexts(home: Calls) -> None:
    """G11 By id, as all lists of edges."""
    edges = [
        await home.put_edge("A", f"R{n}", "B", properties={"participants": ["Ada"]})
        for n in range(3)
    ]
    filter_ = graph_pb2.EdgeFilter(participants=["Ada"])
    request = graph_pb2.ListEdgesRequest(filter=filter_, page_size=2)
    found = await pages(home.graph.ListEdges, request)

    ids = [[edge.id for edge in page.edges] for page in found]
    assert ids == [[edges[0].id, edges[1].id], [edges[2].id]]
