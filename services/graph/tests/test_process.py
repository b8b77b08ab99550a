"""Graph as a process of its own: settings from the environment, served until it is told to stop."""

import asyncio
import json
import os
import signal
import sys
from hashlib import sha256
from pathlib import Path

import grpc
import neo4j_at_hand
import pytest
from concord.graph.v1 import graph_pb2, graph_pb2_grpc, working_memory_pb2, working_memory_pb2_grpc
from concord_chassis.call.identity import Caller, RenewedToken
from concord_chassis.channel.channel import connect
from concord_chassis.config import ConfigError, load
from concord_graph.config import GraphConfig, read_enrolment, read_store
from concord_testing.collector import collecting
from concord_testing.scraping import free_port, scraped
from concord_testing.serving import new_issuer
from cryptography.hazmat.primitives import serialization
from graph_world import FOUND, SCOPES, SECONDS, named


def environment(folder: Path, public_key: bytes) -> dict[str, str]:
    """Return the settings of a graph in a folder."""
    (folder / "issuer.pem").write_bytes(public_key)
    (folder / "enrolment.json").write_text(json.dumps({"home": sha256(b"s").hexdigest()}))
    return {
        "GRAPH_LISTEN": f"unix:{folder / 'g.sock'}",
        "GRAPH_STORE_PATH": str(folder / "graph.db"),
        "GRAPH_ISSUER_KEYS": f"test-issuer={folder / 'issuer.pem'}",
        "GRAPH_ENROLMENT_FILE": str(folder / "enrolment.json"),
        "GRAPH_WORKING_MEMORY_CAPACITY": "3",
    }


async def test_it_serves_what_it_is_told_to_and_stops_cleanly(tmp_path: Path) -> None:
    """W1 Read, write, SIGTERM: exit 0, and what was read is counted."""
    issuer = new_issuer()
    pem = issuer.public_key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    command = [sys.executable, "-W", "error", "-m", "concord_graph"]
    settings = {**os.environ, **environment(tmp_path, pem)}
    settings |= neo4j_at_hand.environment(tmp_path / "graph.db")
    settings |= {"METRICS_ADDRESS": f"127.0.0.1:{(port := free_port())}"}
    caller = Caller("home", "agent-1", SCOPES, "AGENT")
    async with collecting() as collector:
        settings |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}
        for expected in (0, 1):
            process = await asyncio.create_subprocess_exec(
                *command, env=settings, stdout=asyncio.subprocess.DEVNULL
            )
            try:
                async with connect(
                    f"unix:{tmp_path / 'g.sock'}", token=RenewedToken(issuer, caller)
                ) as channel:
                    graph = graph_pb2_grpc.GraphServiceStub(channel)
                    edge = await _upserted(channel)
                    reply = await graph.GetEdge(graph_pb2.GetEdgeRequest(id=edge))
                    assert reply.status == FOUND
                    assert reply.edge.access.access_count == expected
                    working = working_memory_pb2_grpc.WorkingMemoryServiceStub(channel)
                    held = await working.ListWorkingMemory(
                        working_memory_pb2.ListWorkingMemoryRequest()
                    )
                    assert held.capacity == 3
                    assert 'concord_serving{server="graph"} 1.0' in await scraped(port)
            finally:
                process.send_signal(signal.SIGTERM)
                async with asyncio.timeout(SECONDS):
                    code = await process.wait()
            assert code == 0
    reads = [
        each for each in collector.spans if each.name == "concord.graph.v1.GraphService/GetEdge"
    ]
    assert [each.service for each in reads] == ["concord-graph", "concord-graph"]


async def _upserted(channel: grpc.aio.Channel) -> str:
    """Upsert an edge as soon as the process answers."""
    request = graph_pb2.UpsertEdgeRequest(request_id="1")
    request.edge.source.CopyFrom(named("a"))
    request.edge.target.CopyFrom(named("b"))
    request.edge.relation = "R"
    graph = graph_pb2_grpc.GraphServiceStub(channel)
    reply = await graph.UpsertEdge(request, wait_for_ready=True, timeout=SECONDS)
    return reply.edge.id


def test_a_missing_setting_is_named(tmp_path: Path) -> None:
    """Must hold: it fails at the start, by the name of the key."""
    settings = environment(tmp_path, b"")
    del settings["GRAPH_STORE_PATH"]

    with pytest.raises(ConfigError, match="GRAPH_STORE_PATH"):
        read_store(settings)


@pytest.mark.parametrize("capacity", ["0", "1001", "many"])
def test_a_capacity_that_is_none(tmp_path: Path, capacity: str) -> None:
    """M2 Working memory holds 1 to 1,000 entries; any other number is refused by its key."""
    settings = environment(tmp_path, b"") | {"GRAPH_WORKING_MEMORY_CAPACITY": capacity}

    with pytest.raises(ConfigError, match="GRAPH_WORKING_MEMORY_CAPACITY"):
        load(GraphConfig, settings, "GRAPH_")
    del settings["GRAPH_WORKING_MEMORY_CAPACITY"]
    assert load(GraphConfig, settings, "GRAPH_").working_memory_capacity == 10


@pytest.mark.parametrize("text", [None, "{", "[]", '{"home": 1}'])
def test_an_enrolment_file_that_is_none(tmp_path: Path, text: str | None) -> None:
    """V5 Named, never guessed at; without the setting nobody enrols."""
    path = tmp_path / "enrolment.json"
    if text is not None:
        path.write_text(text)

    with pytest.raises(ConfigError, match="GRAPH_ENROLMENT_FILE"):
        read_enrolment(path)
    assert read_enrolment(None) == {}
