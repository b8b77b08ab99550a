"""Nodes: one of a name, merged by upserts."""

import unicodedata

import pytest
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from google.protobuf.json_format import MessageToDict
from graph_world import NOT_FOUND, SECOND, Calls, World, reason, refused, struct


async def test_an_upsert_shows_the_stored_node_and_whether_it_is_new(
    live: World, home: Calls
) -> None:
    """G1 Create, then merge: the reply is what is stored."""
    node = type_pb2.Node(name="Ann", label="Person", properties=struct({"a": 1, "b": "x"}))
    first = await home.graph.UpsertNode(graph_pb2.UpsertNodeRequest(request_id="1", node=node))
    live.clock.pass_(SECOND)
    merge = type_pb2.Node(name="Ann", properties=struct({"b": None, "c": True}), vector_id="v1")
    second = await home.graph.UpsertNode(graph_pb2.UpsertNodeRequest(request_id="2", node=merge))

    assert (first.created, second.created) == (True, False)
    assert second.node.id == first.node.id
    assert MessageToDict(second.node.properties) == {"a": 1.0, "c": True}
    assert (second.node.label, second.node.vector_id) == ("Person", "v1")
    assert second.node.create_time == first.node.create_time
    assert second.node.modify_time.seconds == first.node.modify_time.seconds + 1
    assert second.node.etag != first.node.etag
    assert await home.get_node("Ann") == second.node


@pytest.mark.parametrize(
    ("stored", "given", "label"),
    [
        ("", "", "Entity"),
        ("", "Person", "Person"),
        ("Person", "Entity", "Person"),
        ("Person", "", "Person"),
        ("Person", "Author", "Author"),
        ("Entity", "Person", "Person"),
    ],
)
async def test_a_generic_label_never_overwrites_a_specific_one(
    home: Calls, stored: str, given: str, label: str
) -> None:
    """G1 Entity gives way to any label, and never the other way round."""
    await home.put_node("Ann", label=stored)

    assert (await home.put_node("Ann", label=given)).label == label


async def test_names_are_compared_in_one_unicode_form(home: Calls) -> None:
    """G1 A name written with combining characters is the same name."""
    composed, decomposed = "Zoë", unicodedata.normalize("NFD", "Zoë")
    node = await home.put_node(decomposed)

    assert node.name == composed
    assert (await home.put_node(composed)).id == node.id
    assert (await home.get_node(decomposed)).id == node.id


async def test_the_longest_name_is_kept_whole(home: Calls) -> None:
    """G1 512 characters are a name."""
    assert (await home.get_node((await home.put_node("é" * 512)).name)).name == "é" * 512


@pytest.mark.parametrize("name", ["concord:space", "CONCORD:x", " concord:x"])
async def test_concords_own_names_are_refused(home: Calls, name: str) -> None:
    """G1 V5 Reserved names are written by genesis alone, whatever their case."""
    assert await reason(home.put_node(name)) == "ERROR_REASON_RESERVED_NAME"
    assert await reason(home.put_edge(name, "KNOWS", "Bob")) == "ERROR_REASON_RESERVED_NAME"


async def test_an_unchanged_upsert_makes_no_revision(home: Calls) -> None:
    """G1 The same again changes nothing: neither etag nor feed."""
    node = await home.put_node("Ann", label="Person")
    seq = (await home.changes())[-1].seq

    assert await home.put_node("Ann", label="Person") == node
    assert await home.changes(after=seq) == []


async def test_update_changes_the_named_fields_only(home: Calls) -> None:
    """G1 A mask; properties are replaced whole; a taken name is refused."""
    node = await home.put_node("Ann", label="Person", properties=struct({"a": 1}))
    await home.put_node("Bob")
    node.name, node.label = "Anna", "Author"
    node.properties.CopyFrom(struct({"z": 1}))
    renamed = await home.update_node(node, "name", "properties")

    assert (renamed.name, renamed.label) == ("Anna", "Person")
    assert MessageToDict(renamed.properties) == {"z": 1.0}
    assert (await home.graph.GetNode(graph_pb2.GetNodeRequest(name="Ann"))).status == NOT_FOUND
    renamed.name = "Bob"
    assert await reason(home.update_node(renamed, "name")) == "ERROR_REASON_ITEM_EXISTS"
    mask = await refused(home.update_node(renamed, "create_time"))
    assert mask.reason == "ERROR_REASON_UPDATE_MASK_INVALID"


async def test_a_stale_etag_is_refused_and_nothing_changes(home: Calls) -> None:
    """G1 Update and delete need the current etag; upsert checks one that is given."""
    stale = await home.put_node("Ann")
    fresh = await home.put_node("Ann", label="Person")
    upsert = graph_pb2.UpsertNodeRequest(
        request_id="e", node=type_pb2.Node(name="Ann", label="X"), etag=stale.etag
    )
    absent = graph_pb2.UpsertNodeRequest(
        request_id="f", node=type_pb2.Node(name="Nobody"), etag=stale.etag
    )

    for call in (
        home.update_node(stale, "label"),
        home.delete_node(stale),
        home.graph.UpsertNode(upsert),
        home.graph.UpsertNode(absent),
    ):
        assert await reason(call) == "ERROR_REASON_ETAG_MISMATCH"
    assert await home.get_node("Ann") == fresh


async def test_a_node_with_edges_goes_only_with_them(home: Calls) -> None:
    """G1 Without cascade the edges are counted; with it they go too, memories stay."""
    await home.put_edge("Ann", "KNOWS", "Bob")
    memory = await home.add("Ann is kind")
    await home.put_edge(type_pb2.EdgeEnd(id=memory.id), "ABOUT", "Ann")
    ann = await home.get_node("Ann")
    failure = await refused(home.delete_node(ann))

    assert failure.reason == "ERROR_REASON_NODE_HAS_EDGES"
    assert failure.metadata == {"edge_count": "2"}
    assert await home.delete_node(ann, cascade=True) == 2
    assert (await home.graph.GetNode(graph_pb2.GetNodeRequest(id=ann.id))).status == NOT_FOUND
    assert not (await home.neighbors("Bob")).neighbors
    assert not (await home.neighbors(type_pb2.EdgeEnd(id=memory.id))).neighbors
    assert (await home.put_node("Ann")).id != ann.id


async def test_nodes_are_listed_by_name_in_pages(home: Calls) -> None:
    """G1 Every node once, by name; a label filters; a token belongs to its query."""
    for name in "dbca":
        await home.put_node(name, label="Even" if name in "bd" else "Odd")
    request = graph_pb2.ListNodesRequest(page_size=3)
    page = await home.graph.ListNodes(request)
    rest = await home.graph.ListNodes(
        graph_pb2.ListNodesRequest(page_size=3, page_token=page.next_page_token)
    )
    even = await home.graph.ListNodes(graph_pb2.ListNodesRequest(label="Even"))

    assert [node.name for node in [*page.nodes, *rest.nodes]] == ["a", "b", "c", "d"]
    assert rest.next_page_token == ""
    assert [node.name for node in even.nodes] == ["b", "d"]
    foreign = graph_pb2.ListNodesRequest(label="Even", page_token=page.next_page_token)
    assert await reason(home.graph.ListNodes(foreign)) == "ERROR_REASON_PAGE_TOKEN_INVALID"
