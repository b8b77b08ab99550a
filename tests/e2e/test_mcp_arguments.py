"""What the tools for agents make of their arguments, what those that write say, and the words by
which agents of other systems ask."""

import asyncio
import json
import sys
import uuid
from typing import Any

import httpx2
import pytest
from agents_doors import error, over_http, told
from concord.graph.v1 import episode_pb2, graph_pb2
from concord.graph.v1.memory_pb2 import UpdateMemoryRequest
from concord.type.v1 import type_pb2
from concord_attestation.identifiers import full_ids
from concord_client import AsyncClient
from concord_client.credentials import Target
from concord_embedded import Running
from concord_mcp.arguments import request_of
from concord_mcp.calls import Refusal
from concord_mcp.sending import sent
from concord_mcp.tools.memories import FORGET_MEMORY, UPDATE_MEMORY
from concord_testing.command_line import CommandLine

WHICH = {"id": "m", "etag": "1"}


@pytest.mark.parametrize(
    "changed",
    [
        {"content": "It is blue."},
        {"surfaces_when": ["file:*.py", "the pool"]},
        {"surfaces_when": []},
        {"content": "It is blue.", "surfaces_when": ["the pool"]},
    ],
)
def test_an_update_changes_what_is_given_alone(changed: dict[str, Any]) -> None:
    """W3 S9 Content, triggers, or both; an empty list takes all triggers away."""
    request = request_of(UPDATE_MEMORY, WHICH | changed)

    assert isinstance(request, UpdateMemoryRequest)
    assert list(request.update_mask.paths) == list(changed)
    assert request.memory.content == changed.get("content", "")
    assert list(request.memory.surfaces_when) == changed.get("surfaces_when", [])


@pytest.mark.parametrize("wrong", ["file:*.py", [5]])
def test_triggers_are_a_list_of_texts(wrong: object) -> None:
    """W3 S9 Anything else is refused by the argument's name."""
    with pytest.raises(Refusal) as refused:
        request_of(UPDATE_MEMORY, WHICH | {"surfaces_when": wrong})

    assert [name for name, _ in refused.value.fields] == ["surfaces_when"]


async def test_a_write_says_what_the_command_line_says(system: Running) -> None:
    """W3 M3 An id that nothing has yet, what gave way, and what the memory may amend."""
    rent = "The rent of the flat at the old harbour is 1,200 euros a month"
    async with over_http(system) as agent:
        old = told(await agent.call_tool("add_memory", {"content": "The quay is open."}))
        by = {"content": "The quay is closed.", "supersedes": [old["id"], "quay-9"]}
        new = told(await agent.call_tool("add_memory", by))
        former = told(await agent.call_tool("add_memory", {"content": f"{rent}."}))
        edited = {"content": f"{rent.replace('1,200', '1,300')}."}
        amending = told(await agent.call_tool("add_memory", edited))

    assert [each["id"] for each in new["gave_way"]] == [old["id"]]
    assert new["note"].startswith("There is no memory quay-9 yet")
    assert f"It may amend {former['id']}" in amending["note"]


async def test_an_unknown_context_node_is_told(system: Running) -> None:
    """W3 S8 The results are there, and weighed by nothing."""
    async with over_http(system) as agent:
        told(await agent.call_tool("add_memory", {"content": "The quay is open."}))
        asked = {"query": "quay", "context_node": "nobody"}
        weighed = told(await agent.call_tool("integrative_search", asked))

    assert weighed["results"]
    assert weighed["note"].startswith('There is no node "nobody"')


async def test_memories_are_listed_updated_and_forgotten(system: Running) -> None:
    """W3 M1 Without an etag the present version is changed; with an old one it is refused."""
    async with over_http(system, "/mcp/graph") as agent:
        one = told(await agent.call_tool("add_memory", {"content": "The quay is open."}))
        two = told(await agent.call_tool("add_memory", {"content": "The crane is red."}))
        given = {"tags": ["port"], "importance": "high", "valid_from": "2024-05-01T00:00:00Z"}
        tagged = told(await agent.call_tool("update_memory", {"id": one["id"], **given}))
        old = {"id": one["id"], "etag": "1-old", "content": "x"}
        stale = error(await agent.call_tool("update_memory", old))
        present = stale["fields"][0]["example"]
        as_read = {"id": one["id"], "etag": present, "tags": None, "colour": None}
        changed = told(await agent.call_tool("update_memory", as_read | {"importance": "LOW"}))
        nothing = error(await agent.call_tool("update_memory", {"id": one["id"]}))
        listed = told(await agent.call_tool("list_memories", {"limit": 1}))
        next_page = {"page_token": listed["next_page_token"]}
        rest = told(await agent.call_tool("list_memories", next_page | {"limit": 1}))
        gone = told(await agent.call_tool("forget_memory", {"id": two["id"]}))
        left = told(await agent.call_tool("list_memories", {}))
        unknown = error(await agent.call_tool("forget_memory", {"id": "nothing"}))

    assert tagged["memory"]["tags"] == ["port"]
    assert tagged["memory"]["importance"] == "HIGH"
    assert tagged["memory"]["content"] == "The quay is open."
    assert (stale["reason"], present) == ("ERROR_REASON_ETAG_MISMATCH", tagged["memory"]["etag"])
    assert (changed["memory"]["tags"], changed["memory"]["importance"]) == (["port"], "LOW")
    assert "State what changes" in nothing["fields"][0]["problem"]
    assert [each["id"] for each in (*listed["memories"], *rest["memories"])] == [
        two["id"],
        one["id"],
    ]
    assert gone["id"] == two["id"]
    assert [each["id"] for each in left["memories"]] == [one["id"]]
    assert unknown["message"].startswith("There is no memory nothing")


class Contended:
    """Calls in whose first reads another writer comes between."""

    def __init__(self, times: int) -> None:
        self.times, self.version = times, 0

    async def call(self, path: str, request: Any, reply: type[Any]) -> Any:
        """The memory of the present version; a write of it, unless it has changed since."""
        if path.endswith("GetMemory"):
            found = reply(status=type_pb2.LOOKUP_STATUS_FOUND)
            found.memory.id, found.memory.etag = request.id, str(self.version)
            self.version += self.times > 0
            self.times -= 1
            return found
        if request.etag != str(self.version):
            raise Refusal("ERROR_REASON_ETAG_MISMATCH", "It has changed.")
        return reply(token="t")

    last = call


async def test_a_change_between_read_and_write_is_read_once_more() -> None:
    """W3 One retry; whoever is overtaken twice is told."""
    once = await sent(Contended(1), FORGET_MEMORY, request_of(FORGET_MEMORY, {"id": "a"}))
    with pytest.raises(Refusal, match="It has changed"):
        await sent(Contended(2), FORGET_MEMORY, request_of(FORGET_MEMORY, {"id": "a"}))

    assert once.token == "t"


async def test_hybrid_search_is_a_name_of_search_memories(system: Running) -> None:
    """W3 It works with the arguments of the systems that call it so, and is not listed."""
    async with over_http(system) as agent:
        made = told(await agent.call_tool("add_memory", {"content": "The quay is open."}))
        asked = {"query_text": "quay", "top_k": 1}
        found = told(await agent.call_tool("hybrid_search", asked))

    assert [each["id"] for each in found["results"]] == [made["id"]]


async def test_dates_and_times_without_a_zone_are_taken(system: Running) -> None:
    """W3 M7 As the command line takes them: of a date its first instant, in UTC."""
    async with over_http(system, "/mcp/graph") as agent:
        times = {"valid_from": "2024-05-01", "valid_until": "2024-06-01T12:00:00"}
        made = told(await agent.call_tool("add_memory", {"content": "The quay is open.", **times}))
        held = told(await agent.call_tool("get_memory", {"id": made["id"], "as_of": "2024-05-20"}))
        asked = {"query": "quay", "as_of": "2024-05-20T00:00"}
        found = told(await agent.call_tool("search_memories", asked))
        wrong = error(await agent.call_tool("search_memories", {"query": "x", "as_of": "May"}))

    assert held["memory"]["valid_from"] == "2024-05-01T00:00:00Z"
    assert held["memory"]["valid_until"] == "2024-06-01T12:00:00Z"
    assert [each["id"] for each in found["results"]] == [made["id"]]
    assert "such as 2026-01-31 or" in wrong["fields"][0]["problem"]


async def test_what_is_wrong_is_told_once_by_the_callers_own_words(system: Running) -> None:
    """W3 By the name that the caller used, without the paths of the contract."""
    edge = {"from": "Ada", "predicate": "LIKES", "to": "Tea"}
    async with over_http(system, "/mcp/graph") as agent:
        for name, argument in (("from", ""), ("predicate", " "), ("to", "")):
            result = await agent.call_tool("graph_add_edge", edge | {name: argument})
            fields = error(result)["fields"]
            assert [each["argument"] for each in fields] == [name]
            assert result.content[0].text.count(fields[0]["problem"]) == 1
            assert "edge." not in result.content[0].text
        result = await agent.call_tool("search_memories", {"query": "x", "limit": 0})

    assert result.content[0].text.count("whole number") == 1


CALL = """{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_memories",
"arguments":{"query":"TEXT"}}}""".replace("\n", "")


async def test_half_a_surrogate_pair_gets_a_reply_over_http(system: Running) -> None:
    """W3 It names the argument, under the id of the call; a whole pair is a character."""
    headers = {
        "authorization": f"Bearer {system.keys['default']}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        half, whole = [
            (await http.post(f"{system.http_url}/mcp", content=CALL.replace("TEXT", text))).json()
            for text in (r"tea \ud83d", r"tea \ud83c\udf75 \\\\ud83d")
        ]

    assert half["id"] == 7
    assert json.loads(half["result"]["content"][0]["text"])["error"]["fields"] == [
        {
            "argument": "query",
            "problem": "It holds half of a surrogate pair: send whole characters.",
        }
    ]
    assert "structuredContent" in whole["result"]


async def test_half_a_surrogate_pair_gets_a_reply_over_stdio(system: Running) -> None:
    """W3 Nor does it end the process."""
    environ = {"CONCORD_URL": system.url, "CONCORD_API_KEY": system.keys["default"]}
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "agent", "version": "1"},
    }
    greeting = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "concord_client", "mcp",
        env=environ, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    for line in (json.dumps(greeting), json.dumps(ready), CALL.replace("TEXT", r"tea \udf75")):
        process.stdin.write(f"{line}\n".encode())
    replies = [json.loads(await process.stdout.readline()) for _ in range(2)]
    process.stdin.close()

    assert await process.wait() == 0
    assert replies[1]["id"] == 7
    assert "half of a surrogate pair" in replies[1]["result"]["content"][0]["text"]


TEN = (
    "Ada works at the office by the old harbour.",
    "The depot moved to Hamburg in the spring of 2024.",
    "Ben likes his harbour tea strong and with no milk.",
    "The rent is due on the third of every month.",
    "The key of the server room hangs by the door.",
    "Invoices of the harbour office go to Carla first.",
    "The harbour crane is out of order until Friday.",
    "Standup is at nine on Mondays, at ten else.",
    "The backup of the store runs at two at night.",
    "Dora leads the harbour project since January.",
)


async def test_a_search_costs_little_more_than_its_words(system: Running) -> None:
    """W3 Ten results of 46 characters: at most 3.4 times these, with all that was stated and whose
    words they are."""
    async with over_http(system, "/mcp/graph") as agent:
        for content in TEN:
            told(await agent.call_tool("add_memory", {"content": content, "speaker": "Ada"}))
        for tool in ("search_memories", "integrative_search"):
            result = await agent.call_tool(tool, {"query": "harbour", "context_node": "Ada"}
                                           if tool[0] == "i" else {"query": "harbour"})  # fmt: skip
            words = [each.get("content") or each["says"] for each in told(result)["results"]]

            assert len(words) == 10
            assert len(result.content[0].text) <= 3.4 * sum(map(len, words)), result.content[0].text


async def test_a_result_in_short_can_be_gone_on_from(system: Running) -> None:
    """W3 Its id works in every tool and on the command line; links, unstated times are left out."""
    async with over_http(system, "/mcp/graph") as agent:
        old = told(await agent.call_tool("add_memory", {"content": "The quay is open."}))
        by = {"content": "The quay is shut.", "supersedes": [old["id"]], "valid_from": "2024-05-01"}
        told(await agent.call_tool("add_memory", by))
        short = told(await agent.call_tool("search_memories", {"query": "quay"}))["results"][0]
        asked = {"query": "quay", "details": True}
        whole = told(await agent.call_tool("search_memories", asked))["results"][0]
        memory = told(await agent.call_tool("get_memory", {"id": short["id"]}))["memory"]
        link = f"The quay is shut for good.\n\nSupersedes: [[memory:{short['id']}]]"
        newer = told(await agent.call_tool("add_memory", {"content": link}))
    line = CommandLine({"CONCORD_URL": system.url, "CONCORD_API_KEY": system.keys["default"]})
    printed = await asyncio.to_thread(line.done, "get", short["id"], "--json")

    assert short == {
        "id": memory["id"],
        "content": "The quay is shut.",
        "valid_from": "2024-05-01",
        "words": "AGENT",
    }
    assert len(short["id"]) == 22
    assert {"score", "why", "words", "confidence"} <= whole.keys()
    assert memory["content"].endswith("]]")
    assert [each["id"] for each in newer["gave_way"]] == [short["id"]]
    assert json.loads(printed)["memory"]["id"] == full_ids(short["id"])


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

    assert (cellar["vector_id"], cellar["note"]) == ("v-17", '"Cellar HOLDS wine".')
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


async def test_a_forgotten_memory_says_so(system: Running) -> None:
    """W3 M4 It is read by its id, with when it was forgotten."""
    async with over_http(system, ALL) as agent:
        kept = told(await agent.call_tool("add_memory", {"content": "The oven is on."}))
        await agent.call_tool("forget_memory", {"id": kept["id"]})
        read = told(await agent.call_tool("get_memory", {"id": kept["id"]}))

    assert read["memory"]["forgotten"]


async def test_an_edit_keeps_what_a_memory_supersedes(system: Running) -> None:
    """W3 M3 No search shows the line that says so, so an edit that leaves it out keeps it."""
    async with over_http(system, ALL) as agent:
        old = told(await agent.call_tool("add_memory", {"content": "Oslo opens in May."}))
        june = {"content": "Oslo opens in June.", "supersedes": [old["id"]]}
        new = told(await agent.call_tool("add_memory", june))
        july = {"id": new["id"], "content": "Oslo opens in July."}
        told(await agent.call_tool("update_memory", july))
        lineage = told(await agent.call_tool("get_lineage", {"id": new["id"]}))

    assert [each["older"] for each in lineage["edges"]] == [old["id"]]
