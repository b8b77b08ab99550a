"""Every background task of every service is killed: health says so, and it works again by itself.

The register of `concord_chassis.server.background` says which tasks there are.
"""

import asyncio
import json
import random
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path

import grpc
import pytest
from concord.governance.v1 import audit_pb2
from concord.graph.v1 import graph_pb2, memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_attestation import refusal_limit
from concord_chassis.server import background
from concord_chassis.server.background import Background
from concord_chassis.server.health import FAILING_KEY
from concord_client import AsyncClient
from concord_client.credentials import Target
from concord_client.refusal import Refused
from concord_embedded import Running, running
from concord_testing.killing import kill, mortal
from concord_testing.polling import SECONDS, until
from concord_testing.up_process import clean_environ, ran
from grpc_health.v1 import health_pb2, health_pb2_grpc

TASKS = {
    "health",
    *("store reads", "write recalls", "scrub erased words"),
    *("follow graph", "check the index", "follow a space", "scrub erased memories"),
    *("hear of graph's changes", "compare with graph", "keep cursors", "retry what was set aside"),
    *("settle proposals", "check what is written", "read what is written", "end idle sessions"),
    *("complete decisions", "note uses of keys", "erase deleted spaces"),
    *("http", "mcp"),
}
"""The tasks that run as long as a system with a memory does, and the steps of them."""
PASSING = {
    *("resume reindexing", "build another version", "build a graph"),
    *("read what to index", "embed", "write the index"),
}
"""Tasks that end by themselves: `test_reindex` and `test_hnsw_graph` kill the builders; the first
ends at the start, the last are steps while a space has changes to apply."""
POINTS = pytest.mark.parametrize("points", [1, pytest.param(20, marks=pytest.mark.soak)])
_numbers = count()


@contextmanager
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Background]]:
    """Yield every register of background tasks that is made in the block."""
    made: list[Background] = []
    begin = Background.__init__

    def noted(self: Background, *args: object) -> None:
        begin(self, *args)  # type: ignore[arg-type] # whatever it is given
        made.append(self)

    monkeypatch.setattr(Background, "__init__", noted)
    yield made


@asynccontextmanager
async def at_work(system: Running) -> AsyncIterator[AsyncClient]:
    """A client, after the system has a memory in its index."""
    async with AsyncClient(Target(system.url, system.keys["default"])) as client:
        await works(client)
        yield client


async def works(client: AsyncClient) -> None:
    """Demand that each service does what its background tasks do for it."""
    number = next(_numbers)
    memory = type_pb2.Memory(content=f"The ferry number{number} leaves at noon.")
    added = await client.memory.AddMemory(
        memory_pb2.AddMemoryRequest(request_id=f"add-{number}", memory=memory)
    )
    request = search_pb2.SearchRequest(query=f"ferry number{number}", page_size=1)
    request.consistency.at_least_as_fresh = added.token
    async with asyncio.timeout(SECONDS):
        while not await _finds(client, request, added.memory.id):  # noqa: ASYNC110 - it is asked anew
            await asyncio.sleep(0.05)
        await _attempt(client, number)
        while f"forbidden-{number}" not in await _attempts(client):  # noqa: ASYNC110 - it is asked anew
            await asyncio.sleep(0.05)


async def _finds(client: AsyncClient, request: search_pb2.SearchRequest, memory_id: str) -> bool:
    """Return whether a search finds a memory; False while it is refused."""
    try:
        reply = await client.search.Search(request)
    except Refused:
        return False
    return [each.memory.id for each in reply.results] == [memory_id]


async def _attempt(client: AsyncClient, number: int) -> None:
    """Try what no caller may do alone: graph refuses it, and governance logs that."""
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name="agent"),
        relation="VALUES",
        target=type_pb2.EdgeEnd(name="speed"),
        edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE,
    )
    with pytest.raises(Refused):
        await client.graph.UpsertEdge(
            graph_pb2.UpsertEdgeRequest(request_id=f"forbidden-{number}", edge=edge)
        )


async def _attempts(client: AsyncClient) -> str:
    reply = await client.audit.ListAuditEntries(audit_pb2.ListAuditEntriesRequest())
    return str(reply)


async def told(system: Running) -> list[str]:
    """What the gateway's health says of failing tasks."""
    async with grpc.aio.insecure_channel(system.url) as channel:
        call = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        await call
        return [str(value) for key, value in await call.trailing_metadata() if key == FAILING_KEY]


@POINTS
async def test_each_task_that_is_killed_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, points: int
) -> None:
    """B1 Must hold: by a bug at any place where it waits; health names it and why, then no more."""
    monkeypatch.setattr(background, "WELL_AFTER", 0.5)
    monkeypatch.setattr(refusal_limit, "MOST_REFUSALS", 100_000)  # each look at it is a refusal
    chosen = random.Random(points)
    with mortal(), registered(monkeypatch) as registers:
        async with (
            running(tmp_path / "data", environ={}, grace=1.0) as system,
            at_work(system) as client,
        ):
            there = {name for each in registers for name in each.names}
            assert there - PASSING == TASKS
            for _ in range(points):
                for register in registers:
                    for name in sorted(register.names & TASKS):
                        await _survives(register, name, system, client, chosen)
            assert not [each.failing for each in registers if each.failing]


async def _survives(
    register: Background, name: str, system: Running, client: AsyncClient, chosen: random.Random
) -> None:
    """Kill one of a register's tasks of a name at some moment of work, and see it work again."""
    working = asyncio.create_task(works(client))
    await asyncio.sleep(chosen.uniform(0, 0.1))
    await _killed(register, name, chosen)
    cause = next(iter(register.failing.values()))
    assert cause.startswith("Killed"), (name, cause)
    assert any("Killed" in each for each in await told(system)), name
    await until(lambda: name in register.running.values())
    await working
    await until(lambda: not register.failing)
    await works(client)


async def _killed(register: Background, name: str, chosen: random.Random) -> None:
    """Kill a task; again, where it was in code that outlives any error, such as of a poison row."""
    async with asyncio.timeout(SECONDS):
        while not register.failing:
            alive = [task for task, each in register.running.items() if each == name]
            if alive:
                kill(chosen.choice(alive))
            for _ in range(20):
                await asyncio.sleep(0 if register.failing else 0.01)


async def test_a_failing_task_is_shown_to_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B1 W7 `concord status`, `concord doctor` and /healthz name the task, and what it died of."""
    monkeypatch.setattr(background, "WELL_AFTER", SECONDS)
    with mortal(), registered(monkeypatch) as registers:
        async with running(tmp_path / "data", environ={}, grace=1.0) as system:
            (register,) = [each for each in registers if "complete decisions" in each.names]
            await _killed(register, "complete decisions", random.Random(0))
            environ = clean_environ() | {"CONCORD_DATA": str(tmp_path / "data")}
            status = await asyncio.to_thread(ran, "status", "--json", environ=environ)
            page = await asyncio.to_thread(ran, "status", environ=environ)
            doctor = await asyncio.to_thread(ran, "doctor", "--json", environ=environ)
            healthz = await asyncio.to_thread(_read, f"{system.http_url}/healthz")

    (named,) = json.loads(status.stdout)["failing"]
    assert named.startswith("concord.governance: complete decisions: Killed at execution.py:")
    assert status.returncode == 0
    assert "complete decisions: Killed at" in page.stdout
    problems = [each["problem"] for each in json.loads(doctor.stdout)["findings"]]
    assert f"a background task died: {named}" in problems
    assert json.loads(healthz)["failing"] == {
        "concord.governance": [named.removeprefix("concord.governance: ")]
    }


def _read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as reply:
        body: bytes = reply.read()
        return body
