"""Search among what says something about a node, over the real graph and the real index."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from concord.graph.v1 import graph_pb2, graph_pb2_grpc, relation_pb2, relation_pb2_grpc
from concord.search.v1 import search_pb2
from concord.type.v1.type_pb2 import Edge, EdgeEnd, Fact, Memory
from concord_chassis.call.failure import Failure, from_rpc_error
from concord_search.adapters.graph_feed import client
from concord_search.usecases import locate_filter
from concord_testing.embedders import WordEmbedder
from search_over_graph import SCOPES, TwoServers, run

SearchFilter = search_pb2.SearchFilter
ROME = Fact(subject="Ada", relation="LIVES_IN", object="Rome")
PARIS = Fact(subject="Bob", relation="LIVES_IN", object="Paris")
HOME = Memory(id="home", content="a fox: Ada lives in Rome", facts=[ROME], tags=["t"])
TOWN = Memory(id="town", content="a fox: Bob lives in Paris", facts=[PARIS])
LOOSE = Memory(id="loose", content="a fox that runs", tags=["t"])


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[TwoServers]:
    """Graph and search over an empty data directory, with an embedder of words."""
    async with run(tmp_path, WordEmbedder()) as system:
        yield system


def graph(running: TwoServers, space: str = "default") -> "graph_pb2_grpc.GraphServiceAsyncStub":
    """Graph, in a space."""
    return graph_pb2_grpc.GraphServiceStub(running.channel(running.graph, space, SCOPES))


async def linked(running: TwoServers, memory_id: str, node: str) -> str:
    """Links a memory with a node; the token of the write."""
    edge = Edge(source=EdgeEnd(id=memory_id), relation="MENTIONS", target=EdgeEnd(name=node))
    request = graph_pb2.UpsertEdgeRequest(request_id=f"{memory_id}-{node}", edge=edge)
    return (await graph(running).UpsertEdge(request)).token


async def found(
    running: TwoServers, token: str, *, space: str = "default", **said: Any
) -> set[str]:
    """The ids of what a search finds, at least as fresh as the token."""
    request = search_pb2.SearchRequest(query="fox", peek=True, **said)
    request.consistency.at_least_as_fresh = token
    reply = await running.searching(space).Search(request)
    return {result.memory.id for result in reply.results}


async def refused(running: TwoServers, token: str, **said: Any) -> Failure:
    """The failure that a search ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await found(running, token, **said)
    return from_rpc_error(error.value)


async def test_a_node_finds_what_states_facts_of_it_and_what_is_linked_with_it(
    running: TwoServers,
) -> None:
    """S2 By name or id, beside other filters, nested, and not; memories without its edges not."""
    await running.add(HOME, TOWN, LOOSE)
    token = await linked(running, "loose", "Rome")
    rome = (await graph(running).GetNode(graph_pb2.GetNodeRequest(name="Rome"))).node.id
    at_rome, at_ada = SearchFilter(node="Rome"), SearchFilter(node="Ada")
    either = SearchFilter(any_of=[SearchFilter(node="Paris"), at_ada])

    assert await found(running, token) == {"home", "town", "loose"}
    assert await found(running, token, filter=at_rome) == {"home", "loose"}
    assert await found(running, token, filter=SearchFilter(node=rome)) == {"home", "loose"}
    assert await found(running, token, filter=at_ada) == {"home"}
    assert await found(running, token, filter=SearchFilter(node="Paris", tags_all=["t"])) == set()
    assert await found(running, token, filter=either) == {"home", "town"}
    assert await found(running, token, filter=SearchFilter(none_of=[at_rome])) == {"town"}


async def test_a_node_of_another_space_brings_nothing(running: TwoServers) -> None:
    """S2 B1 Of two nodes with one name each space has its own, and an unknown one is an error."""
    token = await running.add(HOME)
    others = Memory(id="others", content="a fox: Eve lives in Rome", facts=[
        Fact(subject="Eve", relation="LIVES_IN", object="Rome")
    ])  # fmt: skip
    elsewhere = await running.add(others, space="other")

    assert await found(running, token, filter=SearchFilter(node="Rome")) == {"home"}
    asked = SearchFilter(node="Rome")
    assert await found(running, elsewhere, space="other", filter=asked) == {"others"}
    failure = await refused(running, token, filter=SearchFilter(node="Eve"))
    assert (failure.code, failure.reason) == (
        grpc.StatusCode.NOT_FOUND, "ERROR_REASON_ITEM_NOT_FOUND",
    )  # fmt: skip


async def test_an_unknown_node_is_an_error_with_similar_names(running: TwoServers) -> None:
    """S2 Never an empty answer; an id of a memory is no node, and a blank name none either."""
    token = await running.add(HOME)

    for node, near in (("Romee", "Rome"), ("home", "Rome"), (" ", ""), ("x" * 512, "")):
        failure = await refused(running, token, filter=SearchFilter(node=node))
        assert failure.reason == "ERROR_REASON_ITEM_NOT_FOUND", node
        assert failure.metadata["item_id"] == node
        assert failure.message.endswith(f"Similar names: {near}." if near else "name or id.")
    inner = SearchFilter(none_of=[SearchFilter(node="nobody")])
    assert (await refused(running, token, filter=inner)).metadata["item_id"] == "nobody"


async def test_a_superseded_memory_of_a_node_is_found_where_it_is_asked_for(
    running: TwoServers,
) -> None:
    """S2 T4 A node lifts no rule of lineage: not by default, with INCLUDE and with HISTORY."""
    new = Memory(id="new", content="a fox: Ada lives in Rome still\nSupersedes: [[memory:home]]",
                 facts=[ROME])  # fmt: skip
    token = await running.add(HOME, new)
    at_rome = SearchFilter(node="Rome")

    assert await found(running, token, filter=at_rome) == {"new"}
    for mode in ("INCLUDE", "HISTORY"):
        value = search_pb2.SupersededMode.Value(f"SUPERSEDED_MODE_{mode}")
        assert await found(running, token, filter=at_rome, superseded=value) == {"home", "new"}


async def test_a_fact_that_another_took_over_from_counts(running: TwoServers) -> None:
    """S2 G7 A memory in force that also states what holds still is one that speaks of the node;
    to look for it reads no edge."""
    tea = Fact(subject="Ada", relation="LIKES", object="tea")
    relations = relation_pb2_grpc.RelationServiceStub(
        running.channel(running.graph, "default", SCOPES)
    )
    await relations.DeclareRelation(
        relation_pb2.DeclareRelationRequest(request_id="r", name="LIVES_IN", functional=True)
    )
    both = Memory(id="both", content="a fox: Ada lives in Rome, likes tea", facts=[ROME, tea])
    later = Fact(subject="Ada", relation="LIVES_IN", object="Paris")
    await running.add(both)
    token = await running.add(Memory(id="later", content="a fox: Ada in Paris", facts=[later]))
    triple = graph_pb2.Triple(
        source=EdgeEnd(name="Ada"), relation="LIVES_IN", target=EdgeEnd(name="Rome")
    )

    assert await found(running, token, filter=SearchFilter(node="Rome")) == {"both"}
    edge = (await graph(running).GetEdge(graph_pb2.GetEdgeRequest(triple=triple, peek=True))).edge
    assert edge.supersession.is_superseded
    assert edge.access.access_count == 0


async def test_a_node_is_asked_about_as_of_the_instant_of_the_query(running: TwoServers) -> None:
    """S2 T3 What was linked with it later is not found as of before, nor is a later node;
    its name is that of then."""
    await running.add(HOME, LOOSE)
    stub = graph(running)
    rome = (await stub.GetNode(graph_pb2.GetNodeRequest(name="Rome"))).node
    await linked(running, "loose", "Rome")
    token = await linked(running, "loose", "Oslo")
    ends = {"source": EdgeEnd(id="loose"), "target": EdgeEnd(name="Rome")}
    triple = graph_pb2.Triple(relation="MENTIONS", **ends)
    when = (await stub.GetEdge(graph_pb2.GetEdgeRequest(triple=triple))).edge.create_time
    before = search_pb2.SearchRequest().as_of
    before.record_time.FromMicroseconds(when.ToMicroseconds() - 1)

    assert rome.create_time.ToMicroseconds() < when.ToMicroseconds()
    assert await found(running, token, filter=SearchFilter(node="Rome")) == {"home", "loose"}
    then: dict[str, Any] = {"filter": SearchFilter(node="Rome"), "as_of": before}
    assert await found(running, token, **then) == {"home"}
    failure = await refused(running, token, filter=SearchFilter(node="Oslo"), as_of=before)
    assert failure.reason == "ERROR_REASON_ITEM_NOT_FOUND"

    rome = (await stub.GetNode(graph_pb2.GetNodeRequest(id=rome.id))).node
    rome.name = "Roma"
    renaming = graph_pb2.UpdateNodeRequest(request_id="renamed", node=rome)
    renaming.update_mask.paths.append("name")
    await stub.UpdateNode(renaming)
    assert await found(running, token, **then) == {"home"}
    assert await found(running, token, filter=SearchFilter(node="Roma")) == {"home", "loose"}


async def test_every_page_of_a_nodes_edges_counts_and_too_many_are_refused(
    running: TwoServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2 A filter that cannot be applied whole is an error, not a part of the answer."""
    monkeypatch.setattr(client, "EDGES_A_CALL", 1)
    await running.add(HOME, TOWN, LOOSE)
    for memory_id in ("home", "town", "loose"):
        token = await linked(running, memory_id, "Oslo")
    again = Memory(id="again", content="a fox: Ada lives in Rome, said Bob", facts=[ROME])
    token = await running.add(again)

    assert await found(running, token, filter=SearchFilter(node="Oslo")) == {
        "home", "town", "loose",
    }  # fmt: skip
    monkeypatch.setattr(client, "MOST_SOURCES", 2)
    failure = await refused(running, token, filter=SearchFilter(node="Rome"))
    assert (failure.code, failure.reason) == (
        grpc.StatusCode.INVALID_ARGUMENT, "ERROR_REASON_FILTER_UNSUPPORTED",
    )  # fmt: skip
    monkeypatch.setattr(client, "MOST_EDGES", 2)
    failure = await refused(running, token, filter=SearchFilter(node="Oslo"))
    assert "more than 2 edges" in failure.message
    assert failure.reason == "ERROR_REASON_FILTER_UNSUPPORTED"
    monkeypatch.setattr(locate_filter, "MOST_NODES", 1)
    two = SearchFilter(node="Rome", none_of=[SearchFilter(node="Oslo")])
    failure = await refused(running, token, filter=two)
    assert "more than 1 nodes" in failure.message


async def test_similar_memories_are_looked_for_at_a_node(running: TwoServers) -> None:
    """S2 FindSimilar asks graph; BatchFindSimilar does not, and so refuses."""
    token = await running.add(HOME, TOWN, LOOSE)
    stub, at_rome = running.searching(), SearchFilter(node="Rome")
    request = search_pb2.FindSimilarRequest(memory_id="loose", filter=at_rome)
    request.consistency.at_least_as_fresh = token

    near = (await stub.FindSimilar(request)).similar
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stub.BatchFindSimilar(
            search_pb2.BatchFindSimilarRequest(memory_ids=["loose"], filter=at_rome)
        )

    assert [each.memory_id for each in near] == ["home"]
    assert from_rpc_error(error.value).reason == "ERROR_REASON_FILTER_UNSUPPORTED"
