"""One request is one trace, through every service and store that it asks."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient
from concord_client.credentials import Target
from concord_embedded import Running, running
from concord_testing.collector import Collector, TakenSpan, collecting
from google.protobuf.field_mask_pb2 import FieldMask

TRACE, ABOVE = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
THEIRS = f"00-{TRACE}-{ABOVE}-01"
POISON = "poisoned"
GRAPH = "concord-graph"


@asynccontextmanager
async def traced(folder: Path) -> AsyncIterator[tuple[Running, Collector]]:
    """A whole system, and who takes its traces; all of them once the system has stopped."""
    async with collecting() as collector:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}
        async with running(folder, environ=environ, grace=1.0) as system:
            yield system, collector


async def remember(system: Running) -> str:
    """Add a memory with a text, tags and an external id; return the token of the write."""
    memory = type_pb2.Memory(id="tea-1", content=f"{POISON} tea is at four.", tags=[POISON])
    async with AsyncClient(Target(system.url, system.keys["default"])) as concord:
        request = memory_pb2.AddMemoryRequest(memory=memory)
        return (await concord.memory.AddMemory(request)).token


async def posted(system: Running, path: str, body: object, **headers: str) -> httpx.Response:
    """The reply to a request that comes in a trace."""
    headers |= {"authorization": f"Bearer {system.keys['default']}", "traceparent": THEIRS}
    async with httpx.AsyncClient(trust_env=False, timeout=60.0) as http:
        return await http.post(f"{system.http_url}{path}", json=body, headers=headers)


def of_theirs(collector: Collector) -> Sequence[TakenSpan]:
    """The spans of the trace that the request came with."""
    return [each for each in collector.spans if each.raw.trace_id.hex() == TRACE]


def above_all(spans: Sequence[TakenSpan]) -> set[str]:
    """The ids of what the spans stand below, but for one another."""
    return {each.raw.parent_span_id.hex() for each in spans} - {
        each.raw.span_id.hex() for each in spans
    }


async def test_a_search_over_http_is_one_trace(tmp_path: Path) -> None:
    """W2 S1 From the caller through gateway, search and graph to index and store; no words."""
    async with traced(tmp_path / "data") as (system, collector):
        token = await remember(system)
        body = {"query": f"when is {POISON} tea", "consistency": {"atLeastAsFresh": token}}
        reply = await posted(system, "/concord.search.v1.SearchService/Search", body)
    log = system.data.log.read_text("utf-8")

    assert len(reply.json()["results"]) == 1
    spans = of_theirs(collector)
    assert above_all(spans) == {ABOVE}
    named = {(each.service, each.name) for each in spans}
    search = "concord.search.v1.SearchService/Search"
    assert {
        ("concord-gateway", search),
        ("concord-search", search),
        ("concord-graph", "concord.graph.v1.ChangeFeedService/BatchGetRevisions"),
        ("concord-graph", "graph-reader"),
    } <= named
    (found,) = (s.attributes for s in spans if (s.service, s.name) == ("concord-search", search))
    assert found["gen_ai.operation.name"] == "search_memory"
    assert found["gen_ai.memory.store.id"] == "default"
    assert found["gen_ai.memory.record.count"] == 1
    (added,) = (
        each.attributes
        for each in collector.spans
        if each.service == "concord-graph" and each.name.endswith("/AddMemory")
    )
    assert added["gen_ai.operation.name"] == "create_memory"
    assert added["gen_ai.memory.record.id"] == "tea-1"
    assert POISON.encode() not in collector.wire
    lines = [json.loads(line) for line in log.splitlines()]
    logged = {line["server"] for line in lines if line.get("trace_id") == TRACE}
    assert {"search", "graph"} <= logged
    for secret in (POISON, *system.keys.values(), *system.owner_keys.values()):
        assert secret not in log
        assert secret.encode() not in collector.wire


async def test_what_a_service_asks_of_graph_is_in_the_trace(tmp_path: Path) -> None:
    """W1 Governance and dissonance take the trace on like search."""
    briefing = "/concord.governance.v1.ProposalService/GetBriefing"
    end = "/concord.dissonance.v1.DissonanceService/EndSession"
    async with traced(tmp_path / "data") as (system, collector):
        told = await posted(system, briefing, {})
        nothing = await posted(system, end, {"requestId": "r", "sessionId": "talk"})

    assert (told.status_code, nothing.status_code) == (200, 404)  # graph knows no such session
    spans = of_theirs(collector)
    assert above_all(spans) == {ABOVE}
    services = {each.raw.span_id: each.service for each in spans}
    asked = {services.get(each.raw.parent_span_id) for each in spans if each.service == GRAPH}
    assert asked >= {"concord-governance", "concord-dissonance"}


async def test_a_request_of_an_agent_is_one_trace(tmp_path: Path) -> None:
    """W3 Whatever calls a tool makes, they are in the trace of its request."""
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "add_memory", "arguments": {"content": f"{POISON} tea."}},
    }
    async with traced(tmp_path / "data") as (system, collector):
        reply = await posted(system, "/mcp", asked, accept="application/json, text/event-stream")

    assert not reply.json()["result"].get("isError")
    spans = of_theirs(collector)
    assert above_all(spans) == {ABOVE}
    assert {("concord-gateway", "mcp"), ("concord-graph", "graph-writer")} <= {
        (each.service, each.name) for each in spans
    }
    assert POISON.encode() not in collector.wire


async def test_operations_on_memories_have_opentelemetrys_names(tmp_path: Path) -> None:
    """W1 M4 S1 What is done to which memory of which space, by OpenTelemetry's conventions."""
    async with (
        traced(tmp_path / "data") as (system, collector),
        AsyncClient(Target(system.url, system.keys["default"])) as concord,
    ):
        token = await remember(system)
        told = await concord.memory.GetMemory(memory_pb2.GetMemoryRequest(id="tea-1"))
        memory = type_pb2.Memory(id="tea-1", content="Tea is at five.", etag=told.memory.etag)
        mask = FieldMask(paths=["content"])
        update = memory_pb2.UpdateMemoryRequest(memory=memory, update_mask=mask)
        etag = (await concord.memory.UpdateMemory(update)).memory.etag
        fresh = type_pb2.Consistency(at_least_as_fresh=token)
        similar = search_pb2.FindSimilarRequest(memory_id="tea-1", consistency=fresh)
        await concord.search.FindSimilar(similar)
        forget = memory_pb2.ForgetMemoryRequest(id="tea-1", etag=etag)
        etag = (await concord.memory.ForgetMemory(forget)).memory.etag
        erase = memory_pb2.EraseMemoryRequest(id="tea-1", etag=etag)
        await concord.memory.EraseMemory(erase)

    done = {
        each.name.rpartition("/")[2]: {
            name.removeprefix("gen_ai."): value
            for name, value in each.attributes.items()
            if name.startswith("gen_ai.")
        }
        for each in collector.spans
        if "gen_ai.operation.name" in each.attributes
    }
    one = {"memory.store.id": "default", "memory.record.id": "tea-1"}
    assert done == {
        "AddMemory": {"operation.name": "create_memory", **one},
        "UpdateMemory": {"operation.name": "update_memory", **one},
        "ForgetMemory": {"operation.name": "delete_memory", **one},
        "EraseMemory": {"operation.name": "delete_memory", **one},
        "FindSimilar": {
            "operation.name": "search_memory",
            "memory.store.id": "default",
            "memory.record.count": 0,
        },
    }
