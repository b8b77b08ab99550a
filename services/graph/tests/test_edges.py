"""Edges: addressed by triple and stated time, typed, merged by upserts."""

import math

import pytest
from concord.graph.v1 import graph_pb2, space_pb2
from concord.type.v1 import type_pb2
from google.protobuf.json_format import MessageToDict
from graph_world import (
    CONSTITUTIVE,
    DAY,
    DESCRIPTIVE,
    NOT_FOUND,
    RESOLUTION,
    SECOND,
    START,
    SUPERSEDES,
    Calls,
    World,
    by_id,
    edge_of,
    fact,
    micros,
    named,
    reason,
    refused,
    struct,
)
from paging import pages


async def test_missing_end_nodes_are_made(home: Calls) -> None:
    """G2 G3 An upsert makes what it needs; weight is 1 and the type descriptive by default."""
    edge = await home.put_edge("Ann", "KNOWS", "Bob")

    assert (edge.source.name, edge.target.name) == ("Ann", "Bob")
    assert {(await home.get_node(name)).label for name in ("Ann", "Bob")} == {"Entity"}
    assert (edge.weight, edge.edge_type) == (1.0, DESCRIPTIVE)
    assert edge.entrenchment == type_pb2.ENTRENCHMENT_DEFAULT
    assert not edge.HasField("valid_from")
    assert edge.supersession.effective_valid_from == edge.create_time
    assert list(edge.supersession.head_ids) == [edge.id]


async def test_an_upsert_merges_into_the_current_edge(home: Calls) -> None:
    """G2 What is left out stays; a null removes a property; the reply shows the stored edge."""
    first = await home.put_edge("Ann", "KNOWS", "Bob", weight=0.4, properties={"a": 1, "b": 2})
    reply = await home.upsert(edge_of("Ann", "KNOWS", "Bob", properties={"a": None, "c": 3}))

    assert (reply.created, reply.edge.id, reply.edge.weight) == (False, first.id, 0.4)
    assert MessageToDict(reply.edge.properties) == {"b": 2.0, "c": 3.0}
    assert (await home.put_edge("Ann", "KNOWS", "Bob", weight=0.0)).weight == 0.0
    assert await home.get_edge(first.id) == await home.get_triple("Ann", "KNOWS", "Bob")


async def test_the_create_time_of_an_edge_addresses_it_too(home: Calls) -> None:
    """G2 An edge that states no valid_from is valid from its create time."""
    edge = await home.put_edge("Ann", "KNOWS", "Bob")
    reply = await home.upsert(edge_of("Ann", "KNOWS", "Bob", valid_from=micros(edge.create_time)))

    assert (reply.created, reply.edge) == (False, edge)


@pytest.mark.parametrize(
    "times",
    [
        {"valid_from": START, "valid_until": START},
        {"valid_from": START, "valid_until": START - 1},
        {"valid_until": START - DAY},
    ],
)
async def test_an_interval_that_ends_before_it_begins_is_refused(
    home: Calls, times: dict[str, int]
) -> None:
    """G2 Also against the create time, which is the default begin."""
    failure = await refused(home.upsert(edge_of("Ann", "KNOWS", "Bob", **times)))  # type: ignore[arg-type]

    assert failure.reason == "ERROR_REASON_FIELD_INVALID"
    assert [violation.field for violation in failure.violations] == ["edge.valid_until"]


async def test_a_resolution_is_made_by_lineage_only(home: Calls) -> None:
    """G3 The type RESOLUTION is refused by name; an unknown type too."""
    failure = await refused(home.upsert(edge_of("A", "R", "B", edge_type=RESOLUTION)))
    unknown = edge_of("A", "R", "B")
    unknown.edge_type = 9  # type: ignore[assignment] # a number the contract does not know
    other = await refused(home.upsert(unknown))

    assert failure.reason == "ERROR_REASON_RESERVED_NAME"
    assert [violation.field for violation in failure.violations] == ["edge.edge_type"]
    assert other.reason == "ERROR_REASON_FIELD_INVALID"
    assert [violation.field for violation in other.violations] == ["edge.edge_type"]


@pytest.mark.parametrize(
    "relation",
    [
        *("SUPERSEDES", "supersedes", "Deprecates", "aMENDS", "CONTRADICTS", " SUPERSEDES "),
        *("concord:principal", "Concord:x"),
        *("ＳＵＰＥＲＳＥＤＥＳ", "ſupersedes", "SUPER\u200bSEDES", "\u2060amends", "ｃoncord：x"),
    ],
)
async def test_reserved_relations_are_refused_in_any_case(home: Calls, relation: str) -> None:
    """G4 Lineage is made with AddLineage or a link; concord:... by genesis."""
    assert await reason(home.put_edge("A", relation, "B")) == "ERROR_REASON_RESERVED_NAME"


async def test_a_relation_in_other_than_plain_letters_is_refused(home: Calls) -> None:
    """G2 Full-width KNOWS would be another relation than KNOWS to every query; é may be in two."""
    failure = await refused(home.upsert(edge_of("A", "ＫＮＯＷＳ", "B")))

    assert failure.reason == "ERROR_REASON_FIELD_INVALID"
    assert [violation.field for violation in failure.violations] == ["edge.relation"]
    assert await home.put_edge("A", "re\u0301ve de", "B") == await home.put_edge(
        "A", "réve de", "B"
    )


async def test_a_weight_of_minus_zero_is_zero(home: Calls) -> None:
    """G2 G14 G15 What is stored is what the log's digest is of: the digest that an unchanged
    edge's next change tells as the one before it is the one that its making told as after it."""
    edge = await home.put_edge("A", "R", "B", weight=-0.0)
    await home.add("A is in B.", facts=[fact("A", "IN", "B", weight=-0.0)])
    stated = await home.get_triple("A", "IN", "B")
    again = await home.update_edge(type_pb2.Edge(id=edge.id, etag=edge.etag, weight=-0.0), "weight")
    await home.delete_edge(again)
    told = await home.space_service.ListOperations(
        space_pb2.ListOperationsRequest(item_id=edge.id, oldest_first=True)
    )

    assert [math.copysign(1, each.weight) for each in (edge, stated, again)] == [1, 1, 1]
    assert told.operations[0].after_digest == told.operations[-1].before_digest
    assert not [line for line in await home.export() if "-0" in line]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
async def test_properties_hold_finite_numbers(home: Calls, number: float) -> None:
    """G15 What JSON cannot say is refused: nothing half-written, and exports go on."""
    await home.put_node("Safe")
    failure = await refused(home.put_edge("A", "R", "B", properties={"deep": {"n": [number]}}))

    assert failure.reason == "ERROR_REASON_FIELD_INVALID"
    assert [line for line in await home.export() if '"kind":"node"' in line] == [
        '{"kind":"node","label":"Entity","name":"Safe"}'
    ]


async def test_update_repoints_and_refuses_an_occupied_place(home: Calls) -> None:
    """G2 An edge moves with its id; not onto another edge of the same triple and time."""
    edge = await home.put_edge("A", "R", "B", valid_from=START - DAY)
    taken = await home.put_edge("A", "R", "C", valid_from=START - DAY)
    edge.target.CopyFrom(named("C"))
    failure = await refused(home.update_edge(edge, "target"))
    edge.target.CopyFrom(named("D"))
    moved = await home.update_edge(edge, "target")

    assert (failure.reason, failure.metadata) == ("ERROR_REASON_ITEM_EXISTS", {"item_id": taken.id})
    assert (moved.id, moved.target.name) == (edge.id, "D")
    assert not (await home.neighbors("B")).neighbors


async def test_moving_an_edge_tells_of_those_that_it_leaves(home: Calls) -> None:
    """T2 Edges whose supersession follows from a move get an event."""
    await home.declare("R")
    old = await home.put_edge("A", "R", "C", valid_from=START - 3 * DAY)
    new = await home.put_edge("A", "R", "B", valid_from=START - DAY)
    seq = (await home.changes())[-1].seq
    new.target.CopyFrom(named("C"))
    await home.update_edge(new, "target")
    told = [c.item_id for c in await home.changes(after=seq) if c.type == 5]

    assert told == [old.id]
    assert not (await home.get_edge(old.id)).supersession.is_superseded


async def test_an_edge_may_end_at_a_memory(home: Calls) -> None:
    """G2 By id; a forgotten one, another space's, or a name beside it is refused."""
    memory = await home.add("Ann plays chess")
    edge = await home.put_edge(by_id(memory.id), "ABOUT", "Ann")
    forgotten = await home.forget(await home.add("gone"))
    both = type_pb2.EdgeEnd(id=(await home.get_node("Ann")).id, name="Bob")

    assert edge.source.kind == type_pb2.ITEM_KIND_MEMORY
    assert (
        await reason(home.put_edge(by_id(forgotten.id), "R", "A")) == "ERROR_REASON_ITEM_NOT_FOUND"
    )
    assert await reason(home.put_edge(by_id("nowhere"), "R", "A")) == "ERROR_REASON_ITEM_NOT_FOUND"
    assert await reason(home.put_edge(both, "R", "A")) == "ERROR_REASON_FIELD_INVALID"
    assert await reason(home.put_edge(type_pb2.EdgeEnd(), "R", "A")) == "ERROR_REASON_FIELD_INVALID"


async def test_a_refused_upsert_leaves_no_end_node(home: Calls) -> None:
    """G2 Nothing half-written."""
    edge = edge_of("New", "R", "Also new", valid_from=START, valid_until=START)
    await refused(home.upsert(edge))
    reply = await home.graph.GetNode(graph_pb2.GetNodeRequest(name="New"))

    assert reply.status == NOT_FOUND
    assert await home.changes() == []


async def test_a_stale_edge_etag_is_refused(home: Calls) -> None:
    """G2 Update, delete and an upsert that brings one."""
    stale = await home.put_edge("A", "R", "B")
    await home.put_edge("A", "R", "B", weight=0.5)

    for call in (
        home.update_edge(stale, "weight"),
        home.delete_edge(stale),
        home.upsert(edge_of("A", "R", "B"), etag=stale.etag),
        home.upsert(edge_of("A", "R", "Z"), etag=stale.etag),
    ):
        assert await reason(call) == "ERROR_REASON_ETAG_MISMATCH"


async def test_edges_are_listed_in_the_order_in_which_they_were_written(home: Calls) -> None:
    """G9 Also when the clock stands still, or goes back: by the record time, not by luck."""
    written = [(await home.put_edge("A", f"R{number}", "B")).id for number in range(12)]

    reply = await home.graph.ListEdges(graph_pb2.ListEdgesRequest())

    assert [edge.id for edge in reply.edges] == written


async def test_edges_are_listed_in_pages_and_filtered(live: World, home: Calls) -> None:
    """G9 G11 Each filter narrows; a list never counts as reading."""
    first = await home.put_edge("A", "R1", "B", properties={"n": 1, "participants": ["Ann", "Zoë"]})
    live.clock.pass_(SECOND)
    second = await home.put_edge("A", "R2", "B", importance=type_pb2.IMPORTANCE_LOW)
    third = await home.put_edge("A", "R3", "B", properties={"n": "1", "flag": True})
    cases = [
        (graph_pb2.EdgeFilter(relations=["R1", "R3"]), [first, third]),
        (graph_pb2.EdgeFilter(properties=struct({"n": 1})), [first]),
        (graph_pb2.EdgeFilter(properties=struct({"n": "1"})), [third]),
        (graph_pb2.EdgeFilter(properties=struct({"flag": True})), [third]),
        (graph_pb2.EdgeFilter(properties=struct({"flag": 1})), []),
        (graph_pb2.EdgeFilter(participants=["Zoe\u0308"]), [first]),
        (graph_pb2.EdgeFilter(importances=[type_pb2.IMPORTANCE_LOW]), [second]),
        (graph_pb2.EdgeFilter(edge_types=[CONSTITUTIVE]), []),
        (graph_pb2.EdgeFilter(modified_since=second.modify_time), [second, third]),
        (graph_pb2.EdgeFilter(modified_before=second.modify_time), [first]),
    ]

    for filter_, wanted in cases:
        reply = await home.graph.ListEdges(graph_pb2.ListEdgesRequest(filter=filter_))
        assert [edge.id for edge in reply.edges] == sorted(edge.id for edge in wanted), filter_
    nested = graph_pb2.EdgeFilter(properties=struct({"n": None}))
    bad = home.graph.ListEdges(graph_pb2.ListEdgesRequest(filter=nested))
    assert await reason(bad) == "ERROR_REASON_FIELD_INVALID"
    found = await pages(home.graph.ListEdges, graph_pb2.ListEdgesRequest(page_size=1))
    seen = [[edge.id for edge in page.edges] for page in found]
    assert seen == [[edge.id] for edge in (first, second, third)]
    assert {e.access.access_count for e in reply.edges} <= {0}


async def test_a_mask_that_names_what_is_unset(home: Calls) -> None:
    """G2 G3 Weight becomes 1 again, times open, importance the rule's; the type stays."""
    edge = await home.put_edge(
        "A",
        "R",
        "B",
        weight=0.2,
        importance=type_pb2.IMPORTANCE_HIGH,
        valid_from=START - DAY,
        valid_until=START + DAY,
    )
    blank = type_pb2.Edge(id=edge.id, etag=edge.etag)
    mask = ("weight", "importance", "valid_from", "valid_until", "edge_type", "properties")
    changed = await home.update_edge(blank, *mask)

    assert (changed.weight, changed.edge_type) == (1.0, DESCRIPTIVE)
    assert changed.importance == type_pb2.IMPORTANCE_MEDIUM
    assert not changed.HasField("valid_from")
    assert not changed.HasField("valid_until")
    assert (await home.update_edge(changed, "weight")).etag == changed.etag
    unknown = await refused(home.update_edge(changed, "relation"))
    assert unknown.reason == "ERROR_REASON_UPDATE_MASK_INVALID"
    changed.source.CopyFrom(by_id((await home.get_node("A")).id))
    changed.source.name = "B"
    assert await reason(home.update_edge(changed, "source")) == "ERROR_REASON_FIELD_INVALID"


async def test_an_upsert_cannot_end_an_edge_before_it_began(home: Calls) -> None:
    """G2 M1 What is merged is judged whole: the begin was said before, the end is said now."""
    edge = await home.put_edge("Ann", "IN", "Rome", valid_from=START)
    call = home.put_edge("Ann", "IN", "Rome", valid_until=START - DAY)

    assert await reason(call) == "ERROR_REASON_FIELD_INVALID"
    assert (await home.get_edge(edge.id)).etag == edge.etag


async def test_the_importance_that_is_shown_is_the_one_that_is_filtered_by(
    live: World, home: Calls
) -> None:
    """G8 G9 Set or by the default rule: near what defines the agent, long unread, or neither."""
    said = type_pb2.IMPORTANCE_LOW
    await home.put_edge("A", "SET", "B", importance=said)
    await home.put_edge("A", "UNREAD", "B")
    read = await home.put_edge("A", "READ", "B")
    old, new = await home.put_edge("X", "R", "Y"), await home.put_edge("X", "R", "Z")
    await home.relate(SUPERSEDES, new.id, old.id)
    live.clock.pass_(100 * DAY)
    await home.get_edge(read.id, peek=False)
    await live.app._touches.flush()
    await home.put_edge("A", "NEW", "B")
    listed = (await home.graph.ListEdges(graph_pb2.ListEdgesRequest())).edges
    assert {edge.importance for edge in listed} == {1, 2, 3}

    for importance in (1, 2, 3):
        filter_ = graph_pb2.EdgeFilter(importances=[importance])  # type: ignore[list-item] # each
        wanted = {edge.id for edge in listed if edge.importance == importance}
        reply = await home.graph.ListEdges(graph_pb2.ListEdgesRequest(filter=filter_))
        assert {edge.id for edge in reply.edges} == wanted
        near = (await home.neighbors("A", filter=filter_)).neighbors
        assert {n.edge.id for n in near} == {e.id for e in listed if e.source.name == "A"} & wanted
