"""The tools and fields by which agents of other systems ask (W3, S7)."""

import uuid
from typing import Any

from concord.graph.v1 import episode_pb2, graph_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient
from concord_client.credentials import Target
from concord_embedded import Running
from test_mcp import error, over_http, told

ALL = "/mcp/all"


async def test_a_search_that_weighs_is_told_whether_it_helped(system: Running) -> None:
    """W3 S7 Its reply names the query, and `submit_feedback` takes that."""
    asked = {"query": "What is on the hob?", "context_node": "kitchen"}
    async with over_http(system, ALL) as agent:
        await agent.call_tool("add_memory", {"content": "Soup is on the hob."})
        found = told(await agent.call_tool("integrative_search", asked))
        vote = {"query_id": found["query_id"], "helpfulness": "HELPFUL", "reason": "Soup."}
        kept = told(await agent.call_tool("submit_feedback", vote))
        unknown = error(await agent.call_tool("submit_feedback", vote | {"query_id": "none"}))

    assert kept["constitutive_weight"] > 1
    assert kept["new_votes"] >= 1
    assert unknown["reason"] == "ERROR_REASON_ITEM_NOT_FOUND"


async def test_the_whole_memory_is_checked_and_two_items_resolved(system: Running) -> None:
    """W3 D6 `detect_contradictions` counts, `list_conflicts` shows, `resolve_dissonance` takes a
    conflict or the two that disagree, and not both."""
    said = ("The ferry runs on Sundays.", "The ferry does not run on Sundays.")
    async with over_http(system, ALL) as agent:
        ids = [told(await agent.call_tool("add_memory", {"content": c}))["id"] for c in said]
        check = told(await agent.call_tool("detect_contradictions", {"full": True}))
        listed = told(await agent.call_tool("list_conflicts", {"item_ids": ids}))["conflicts"]
        how = {"resolution_type": "CONTRADICTION", "superseded_id": ids[0]}
        both = {"item_ids": ids, "conflict_id": listed[0]["id"]}
        refusals = [
            error(await agent.call_tool("resolve_dissonance", how | wrong))
            for wrong in (both, {}, {"item_ids": ids[:1]}, {"item_ids": ids[:1] * 2})
        ]
        resolved = told(await agent.call_tool("resolve_dissonance", how | {"item_ids": ids}))

    assert check["status"] == "COMPLETE"
    assert check["findings"]["CONTRADICTION"] >= 1
    assert [each["class"] for each in listed] == ["CONTRADICTION"]
    assert [each["fields"][0]["argument"] for each in refusals] == [
        *("conflict_id", "conflict_id", "item_ids"),
        "item_ids.second_id",
    ]
    assert resolved["conflict"]["id"] == listed[0]["id"]
    assert resolved["conflict"]["state"] == "RESOLVED"


async def _episode(client: AsyncClient, number: int) -> None:
    request = episode_pb2.AddEpisodeRequest(
        request_id=str(uuid.uuid4()), query=f"Try {number}", reward=0.5, reflection="Slower."
    )
    await client.episode.AddEpisode(request)


async def test_episodes_are_paged_and_counted(system: Running) -> None:
    """W3 G6 Since a time, after an offset; how many there are, and when each was."""
    async with AsyncClient(Target(system.url, system.keys["default"])) as client:
        for number in range(3):
            await _episode(client, number)
    async with over_http(system, ALL) as agent:
        first = told(await agent.call_tool("list_episodes", {"limit": 1}))
        second = told(await agent.call_tool("list_episodes", {"limit": 1, "offset": 1}))
        since = {"since": first["episodes"][0]["created"]}
        newest = told(await agent.call_tool("list_episodes", since))

    assert [each["episodes"][0]["query"] for each in (first, second)] == ["Try 2", "Try 1"]
    assert first["total_count"] >= 3
    assert newest["total_count"] == 1


async def test_nodes_and_edges_tell_all_that_is_kept(system: Running) -> None:
    """W3 A node: since when, its vector, what is stated about it; an edge: properties and since."""
    node = type_pb2.Node(name="Cellar", label="Room", vector_id="v-17")
    async with AsyncClient(Target(system.url, system.keys["default"])) as client:
        await client.graph.UpsertNode(
            graph_pb2.UpsertNodeRequest(request_id=str(uuid.uuid4()), node=node)
        )
    wine = {"source": "Cellar", "relation": "HOLDS", "target": "wine"}
    async with over_http(system, ALL) as agent:
        bottles: dict[str, Any] = {"weight": 0.5, "properties": {"bottles": 12}}
        await agent.call_tool("graph_add_edge", wine | bottles)
        cellar = told(await agent.call_tool("get_node_by_name", {"name": "Cellar"}))
        edge = told(await agent.call_tool("get_edge", wine))["edge"]
        nobody = told(await agent.call_tool("get_node_by_name", {"name": "Attic"}))

    assert (cellar["vector_id"], cellar["note"]) == ("v-17", "Cellar HOLDS wine.")
    assert cellar["created"] <= edge["created"]
    assert (edge["weight"], edge["properties"]) == (0.5, {"bottles": 12})
    assert "note" not in nobody


async def test_the_log_is_read_by_who_acted(system: Running) -> None:
    """W3 V10 `get_audit_log` takes an actor."""
    async with over_http(system, ALL) as agent:
        acted = told(await agent.call_tool("get_audit_log", {"actor": "HUMAN"}))
        wrong = error(await agent.call_tool("get_audit_log", {"actor": "ADA"}))

    assert {each["actor"] for each in acted["entries"]} <= {"HUMAN"}
    assert wrong["fields"][0]["argument"] == "actor"
