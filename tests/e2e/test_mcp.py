"""The tools for agents, as MCP clients see them: over stdio and over HTTP."""

import asyncio
import json
import re
from typing import Any

import httpx2
import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
from agents_doors import error, over_http, over_stdio, told
from concord.governance.v1 import access_pb2
from concord.type.v1 import type_pb2
from concord_client import connect_async
from concord_embedded import Running
from concord_mcp.answer import answer_of
from concord_mcp.schema import of_answer
from concord_mcp.tool import Tool
from concord_mcp.tools import PROFILES
from concord_testing.command_line import CommandLine
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

DEFAULT = {
    "add_memory",
    "search_memories",
    "integrative_search",
    "get_memory",
    "get_node_by_name",
    "get_edge",
    "count_by_type",
    "dissonance_check",
    "smf_pending_proposals",
    "memory_status",
}


KINDS = {FieldDescriptor.TYPE_STRING: "string", FieldDescriptor.TYPE_BOOL: "bool"}


def count(text: str) -> int:
    """About as many tokens as language models count in JSON: of our lists, o200k_base counts 1 to
    10 % fewer."""
    return round(1.1 * len(re.findall(r" ?[A-Za-z]{1,9}|\d{1,3}|[^\sA-Za-z\d]{1,4}", text)))


@pytest.mark.parametrize("door", [over_http, over_stdio])
async def test_an_agent_remembers_corrects_and_recalls(system: Running, door: Any) -> None:
    """W3 Over both transports; what was written is found at once, or the write said that it is not
    yet; what was replaced is not."""
    async with door(system) as agent:
        assert {tool.name for tool in (await agent.list_tools()).tools} == DEFAULT
        first = told(await agent.call_tool("add_memory", {"content": "Ada lives in Bremen."}))
        fact = {"subject": "Ada", "relation": "LIVES_IN", "object": "Hamburg"}
        second = told(
            await agent.call_tool(
                "add_memory",
                {
                    "content": "Ada lives in Hamburg.",
                    "supersedes": [first["id"]],
                    "facts": [fact],
                    "importance": "high",
                },
            )
        )

        wanted = {"query": "Where does Ada live?"}
        found = told(await agent.call_tool("search_memories", wanted))
        while "note" in second and not found["results"]:  # beside a cold store the index lags
            await asyncio.sleep(0.5)
            found = told(await agent.call_tool("search_memories", wanted))
        asked = {"query": "Where does Ada live?", "include_obsolete": True}
        every = told(await agent.call_tool("search_memories", asked))
        weighed = told(await agent.call_tool("integrative_search", {
            "query": "Where does Ada live?", "context_node": "Ada"}))  # fmt: skip
        edge = told(await agent.call_tool("get_edge", {
            "source": "Ada", "relation": "LIVES_IN", "target": "Hamburg"}))  # fmt: skip
        old = told(await agent.call_tool("get_memory", {"id": first["id"]}))

    assert [each["id"] for each in found["results"]] == [second["id"]]
    assert {each["id"] for each in every["results"]} == {first["id"], second["id"]}
    assert second["id"] in {each.get("id") for each in weighed["results"]}
    assert edge["edge"]["target"] == "Hamburg"
    assert old["memory"]["superseded_by"] == [second["id"]]


async def test_what_is_only_claimed_is_noted(own_system: Running) -> None:
    """W9 W3 A search says of both that the agent's correction is not accepted."""
    key = own_system.owner_keys["default"]
    person = CommandLine({"CONCORD_URL": own_system.url, "CONCORD_API_KEY": key})
    await asyncio.to_thread(person.done, "add", "The sluice is open.", "--id", "sluice")
    async with over_http(own_system) as agent:
        shut = {"content": "The sluice is shut.", "supersedes": ["sluice"]}
        made = told(await agent.call_tool("add_memory", shut))
        found = told(await agent.call_tool("search_memories", {"query": "sluice"}))

    assert {"sluice", made["id"]} <= {each["id"] for each in found["results"]}
    said = "The sluice is shut. Supersedes: [[memory:sluice]]"
    by = f'{made["id"]} ("{said}")'
    assert f"only claims that {by} takes the place of sluice: claim " in found["note"]


async def test_a_pack_is_a_text_of_so_many_tokens(
    own_system: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S11 W2 W3 With the path that answers a question over two hops, which JSON over HTTP has as
    facts, too; unasked there is no text."""
    monkeypatch.setattr("concord_search.usecases.paths.WITHIN", 30.0)
    facts = [("Ada", "SISTER", "Bea"), ("Bea", "LIVES_IN", "Bremen")]
    async with over_http(own_system) as agent:
        for subject, relation, target in facts:
            fact = {"subject": subject, "relation": relation, "object": target}
            content = f"{subject} has news of {target}."
            told(await agent.call_tool("add_memory", {"content": content, "facts": [fact]}))
        asked = {"query": "Where does Ada's sister live?"}
        plain = told(await agent.call_tool("search_memories", asked))
        pack = told(await agent.call_tool("search_memories", asked | {"pack_tokens": 150}))
        wrong = error(await agent.call_tool("search_memories", asked | {"pack_tokens": 9_000}))
    method = f"{own_system.http_url}/concord.search.v1.SearchService/Search"
    key = {"authorization": f"Bearer {own_system.keys['default']}"}
    async with httpx2.AsyncClient(headers=key, timeout=60) as http:
        reply = (await http.post(method, json=asked | {"packTokens": 150})).json()

    assert [fact["object"] for fact in reply["paths"][0]["facts"]] == ["Bea", "Bremen"]
    assert not plain.get("context")
    assert '] path: "Ada SISTER Bea"; "Bea LIVES_IN Bremen"' in pack["context"].splitlines()[0]
    assert len(pack["context"].encode()) <= 3 * 150
    assert "pack_tokens" in str(wrong)


async def test_a_write_says_that_search_does_not_find_it_yet(
    own_system: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W3 Reads see writes by default; where the index is too slow for that, the answer says so."""
    async with over_http(own_system) as agent:
        settled = told(await agent.call_tool("add_memory", {"content": "The hall is green."}))
        monkeypatch.setattr("concord_mcp.server.SETTLED", 0.0)
        unsettled = told(await agent.call_tool("add_memory", {"content": "The roof is red."}))

    assert "note" not in settled
    assert "does not find it yet" in unsettled["note"]


@pytest.mark.parametrize("mode", ["2025-11-25", "auto"])
async def test_both_protocols_are_spoken(system: Running, mode: str) -> None:
    """W3 The stateless protocol of 2026-07-28 and the handshake of 2025-11-25."""
    key = system.keys["default"]
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60) as http:
        transport = streamable_http_client(f"{system.http_url}/mcp", http_client=http)
        async with Client(transport, mode="legacy" if mode == "2025-11-25" else mode) as agent:
            assert agent.protocol_version == ("2026-07-28" if mode == "auto" else mode)
            assert told(await agent.call_tool("count_by_type", {}))["memories"] == 0


async def test_what_an_argument_may_be_is_told(system: Running) -> None:
    """W3 A range, and the names of what one of is meant; an unknown tool is none."""
    async with over_http(system, "/mcp/governance") as agent:
        unknown = error(await agent.call_tool("drop_everything", {}))
        wide = error(await agent.call_tool("search_memories", {"query": "x", "limit": 1000}))
        other = error(await agent.call_tool("smf_propose", {"action": {"add_memry": {}}}))
        nothing = told(await agent.call_tool("smf_pending_proposals", {}))

    assert unknown["reason"] == "ERROR_REASON_METHOD_UNKNOWN"
    assert wide["fields"][0]["problem"] == "It is a whole number from 1 to 100."
    assert 'no field named "add_memry"' in other["fields"][0]["problem"]
    assert nothing == {"proposals": []}


async def test_a_list_is_as_long_as_it_may_be(system: Running) -> None:
    """W3 `max_tokens` leaves out from the end and counts it; `limit` is a number of items."""
    async with over_http(system) as agent:
        for number in range(6):
            content = f"Note {number} about the harbour. " + "It is long. " * 60
            told(await agent.call_tool("add_memory", {"content": content}))
        every = told(await agent.call_tool("search_memories", {"query": "harbour"}))
        two = told(await agent.call_tool("search_memories", {"query": "harbour", "limit": 2}))
        asked = {"query": "harbour", "max_tokens": 600}
        short = told(await agent.call_tool("search_memories", asked))
        one = told(await agent.call_tool("search_memories", asked | {"max_tokens": 100}))

    assert len(every["results"]) == 6
    assert len(two["results"]) == 2
    assert len(short["results"]) + short["left_out"] == 6
    assert len(json.dumps(short)) < 600 * 4 + 200
    assert one["left_out"] == 5
    assert one["results"][0]["content"].endswith("…")


async def test_a_key_sees_only_the_tools_that_it_may_call(system: Running) -> None:
    """W3 W7 A key that may only read has no tool that writes; one that is unknown has none."""
    async with connect_async(system.url, system.keys["concord:system"]) as operator:
        made = await operator.access.CreateKey(
            access_pb2.CreateKeyRequest(
                space="default",
                principal="reader",
                kind=type_pb2.PRINCIPAL_KIND_AGENT,
                scopes=[access_pb2.KEY_SCOPE_READ],
            )
        )
    headers = {"authorization": f"Bearer {made.secret}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{system.http_url}/mcp", http_client=http)
        async with Client(transport) as reader:
            names = {tool.name for tool in (await reader.list_tools()).tools}
            refusal = error(await reader.call_tool("add_memory", {"content": "x"}))
    async with httpx2.AsyncClient(timeout=60) as http:
        stranger = await http.post(f"{system.http_url}/mcp", json={})

    assert names == DEFAULT - {"add_memory", "dissonance_check"}
    assert refusal["reason"] == "ERROR_REASON_PERMISSION_MISSING"
    assert stranger.status_code == 401


async def test_what_opposes_is_synthesized_through_both_doors(system: Running) -> None:
    """W3 D8 The stream's last event is the answer, and a run that failed is a refusal."""
    results = [
        {"agent": "one", "text": "The permit is required."},
        {"agent": "two", "theses": [{"claim": "The permit is not required."}]},
    ]
    for door in (over_http(system, "/mcp/dialectic"), over_stdio(system, "--profile", "dialectic")):
        async with door as agent:
            found = told(await agent.call_tool("synthesize", {"results": results, "keep": True}))
            asked = {"memory_ids": [found["memory_id"], "nothing"]}
            refusal = error(await agent.call_tool("synthesize", asked))
            nothing = error(await agent.call_tool("synthesize", {"question": "Is it?"}))

        assert [each["agent"] for each in found["theses"]] == ["one", "two"]
        assert found["contradictions"][0]["severity"] == "CRITICAL"
        assert found["is_complete"] is False
        assert refusal["reason"] == "ERROR_REASON_ITEM_NOT_FOUND"
        assert nothing["reason"] == "ERROR_REASON_FIELD_INVALID"


async def test_every_tool_can_be_called(system: Running) -> None:
    """W3 Each answers or refuses in our words, whatever it is given: none is a name alone."""
    given = {
        "proposal_id": "nothing", "conflict_id": "nothing", "id": "nothing", "etag": "1",
        "name": "Ada", "node_name": "Ada", "start_node": "Ada", "end_node": "Tea",
        "source": "Ada", "relation": "LIKES", "target": "Tea", "content": "Tea.", "query": "tea",
        "session_id": "talk", "context_node": "Ada", "action": {"forget_memory": {"id": "x"}},
        "resolution_type": "EVOLUTION", "envelope": "{}", "relations": ["LIKES"],
        "question": "Tea?", "answer": "Tea.", "query_id": "nothing", "helpfulness": "HELPFUL",
    }  # fmt: skip
    assert all(tool in PROFILES["all"] for tools in PROFILES.values() for tool in tools)
    async with over_http(system, "/mcp/all") as agent:
        fact = {"subject": "Ada", "relation": "LIKES", "object": "Tea"}
        tea = {"content": "Ada likes tea.", "facts": [fact]}
        told(await agent.call_tool("add_memory", tea))
        for tool in (await agent.list_tools()).tools:
            needed = tool.input_schema.get("required", [])
            arguments = {name: given[name] for name in needed}
            if tool.name in {"smf_propose", "review_conflict"}:
                arguments["action"] = given["action"] if tool.name[0] == "s" else "CONFIRM"
            result = await agent.call_tool(tool.name, arguments)
            if result.is_error:
                reason = error(result)["reason"]
                assert reason not in {"ERROR_REASON_INTERNAL", "ERROR_REASON_METHOD_UNKNOWN"}, tool
            else:
                assert set(told(result)) <= set(tool.output_schema["properties"]), tool.name


def filled(message: Message, depth: int = 6) -> Message:
    """The message with something in each field, as deep as a contract nests."""
    for field in message.DESCRIPTOR.fields:
        nested = field.message_type
        if field.containing_oneof and len(field.containing_oneof.fields) > 1:
            continue  # a run's events exclude one another; their end is in other tests
        if nested is not None and nested.full_name == "google.protobuf.Struct":
            getattr(message, field.name)["a"] = 1
        elif nested is not None and nested.GetOptions().map_entry:
            getattr(message, field.name)["MODEL_SILENT"] = 3
        elif nested is not None and depth:
            part = getattr(message, field.name)
            filled(part.add() if field.is_repeated else part, depth - 1)
        elif nested is None:
            values = {"string": "a", "bool": True}
            value = values.get(KINDS.get(field.type, ""), 1)
            value = b"a" if field.type == field.TYPE_BYTES else value
            if field.is_repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)
    return message


ONE_CALL = [tool for tool in PROFILES["all"] if isinstance(tool, Tool)]
"""The tools that are one RPC each."""


@pytest.mark.parametrize("tool", ONE_CALL, ids=lambda tool: tool.name)
def test_every_field_of_an_answer_is_as_its_schema_says(tool: Tool) -> None:
    """W3 Whatever a reply holds: counts by name, too, such as why a check left pairs undecided."""
    whole = answer_of(tool, filled(tool.reply()), 100_000)

    jsonschema.validate(whole, of_answer(tool))
    assert {*whole} <= {*tool.answer, "left_out"}


async def test_what_replaced_a_memory_is_told_of_what_is_replaced(system: Running) -> None:
    """W3 M3 A memory is its own head until then: its reply names nothing."""
    async with over_http(system) as agent:
        first = told(await agent.call_tool("add_memory", {"content": "The quay is open."}))
        by = {"content": "The quay is closed.", "supersedes": [first["id"]]}
        second = told(await agent.call_tool("add_memory", by))
        old, new = [
            told(await agent.call_tool("get_memory", {"id": each["id"]}))["memory"]
            for each in (first, second)
        ]

    assert "superseded_by" not in {**first, **second, **new}
    assert (old["superseded"], old["superseded_by"]) == (True, [second["id"]])


async def test_a_trigger_is_stated_with_its_memory(system: Running) -> None:
    """W3 S9 Memories surface at it."""
    stated = {"content": "Locks are taken in this order.", "surfaces_when": ["file:*.lock"]}
    async with over_http(system, "/mcp/all") as agent:
        added = told(await agent.call_tool("add_memory", stated))
        found = told(await agent.call_tool("proactive_suggestions", {"file_path": "a/b.lock"}))
    assert [each["id"] for each in found["suggestions"]] == [added["id"]]


async def test_a_memory_states_the_facts_of_its_text(system: Running) -> None:
    """W3 D13 `extract` adds the sure ones, marked; the outcome is named with its counts."""
    said = {"content": "I work for Airbus. I sold my boat in 2019.", "speaker": "Ada"}
    async with over_http(system, "/mcp/all") as agent:
        added = told(await agent.call_tool("add_memory", said | {"extract": True}))
        none = {"content": "How are you?", "extract": True}
        nothing = told(await agent.call_tool("add_memory", none))
        edge = {"source": "Ada", "relation": "EMPLOYER", "target": "Airbus"}
        found = told(await agent.call_tool("get_edge", edge))

    assert 'Extraction: FOUND (1 taken, 1 left). "Ada EMPLOYER Airbus".' in added["note"]
    assert "Extraction: NO_FACTS." in nothing["note"]
    assert found["status"] == "FOUND"


async def test_a_pack_is_sent_in_place_of_the_results(system: Running) -> None:
    """S11 W3 The same texts twice cost twice; what did not fit is named."""
    async with over_http(system) as agent:
        told(await agent.call_tool("add_memory", {"content": "The kiosk sells stamps."}))
        asked = {"query": "What does the kiosk sell?", "pack_tokens": 4_000}
        packed = told(await agent.call_tool("search_memories", asked))
        nothing = told(await agent.call_tool("search_memories", asked | {"pack_tokens": 1}))

    assert "The kiosk sells stamps." in packed["context"]
    assert "results" not in packed
    assert packed["confidence"]
    assert packed["advice"]
    assert nothing["left_out"] >= 1
    assert not {"results", "context"} & {*nothing}


async def test_a_history_can_be_asked_for(system: Running) -> None:
    """S11 T4 A question for the past finds what held then, and the advice names its time."""
    async with over_http(system) as agent:
        old = told(await agent.call_tool("add_memory", {"content": "Our depot is in Hamburg"}))
        by = {"content": "Our depot is in Bremen", "supersedes": [old["id"]]}
        new = told(await agent.call_tool("add_memory", by))
        asked = {"query": "where was our depot before?", "limit": 1}
        now = told(await agent.call_tool("search_memories", asked))
        chain = told(await agent.call_tool("search_memories", asked | {"history": True}))

    assert [each["id"] for each in now["results"]] == [old["id"]]
    assert now["advice"][-1].endswith('Ranked by time: "before".')
    assert [each["id"] for each in chain["results"]] == [old["id"], new["id"]]


async def test_what_waits_is_a_resource_a_prompt_and_an_instruction(system: Running) -> None:
    """W3 V9 The briefing comes without being searched for."""
    async with over_stdio(system) as agent:
        uri = (await agent.list_resources()).resources[0].uri
        resource = (await agent.read_resource(uri)).contents[0].text
        prompt = (await agent.get_prompt("briefing")).messages[0].content.text
        instructions = agent.instructions or ""

    assert resource == prompt
    assert resource.startswith("Nothing waits")
    assert resource in instructions


async def test_the_tools_cost_few_tokens(system: Running) -> None:
    """W3 Names, descriptions and input schemas at most 1,200; with output schemas 2,500."""
    async with over_http(system) as agent:
        tools = (await agent.list_tools()).tools
    asked = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in tools
    ]
    answered = [tool.output_schema for tool in tools]

    assert all(tool.description.startswith("Use when") for tool in tools)
    assert all(tool.annotations.read_only_hint is not None for tool in tools)
    assert count(json.dumps(asked, separators=(",", ":"))) <= 1_200
    assert count(json.dumps([asked, answered], separators=(",", ":"))) <= 2_500
