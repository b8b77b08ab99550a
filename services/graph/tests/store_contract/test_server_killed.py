"""Neo4j killed (-9) in the middle of writing, and started again: nothing lost, nothing twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import from_rpc_error
from concord_graph.bootstrap import build_on
from concord_neo4j.server import USER, LocalNeo4j
from concord_stores.neo4j_config import Neo4jConfig
from concord_testing.neo4j_server import SHORT_LIVED
from concord_testing.serving import serving
from graph_world import Calls, Clock, World
from pydantic import SecretStr

WRITERS = 4
KILLS = 2
EACH = 12
"""How many writes are acknowledged before each kill, and after the last."""
PAUSE = 0.2
PATIENCE = 240.0
ACKNOWLEDGED = "OK"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalNeo4j]:
    """A server of its own, which may be killed."""
    own = LocalNeo4j(tmp_path_factory.mktemp("killed"), java_options=SHORT_LIVED, dies_with_us=True)
    own.start()
    yield own
    own.remove()


@asynccontextmanager
async def graph_on(server: LocalNeo4j) -> AsyncIterator[World]:
    """Run a graph over that server."""
    settings = Neo4jConfig(uri=server.uri, user=USER, password=SecretStr(server.password))
    clock = Clock()
    app = await build_on(settings, clock=clock)
    await app.start()
    try:
        async with serving(app.registrations, ready=app.ready) as live:
            yield World(app, live, Path("unused"), clock)
    finally:
        await app.close()


async def until_acknowledged(
    home: Calls, request: memory_pb2.AddMemoryRequest, codes: Counter[str]
) -> str:
    """Send the same request until it is acknowledged; count how each call ended."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                added = await home.memory.AddMemory(request, timeout=60)
                codes[ACKNOWLEDGED] += 1
                return added.memory.id
            except grpc.aio.AioRpcError as error:
                codes[from_rpc_error(error).code.name] += 1
                await asyncio.sleep(PAUSE)


async def keep_writing(
    home: Calls, writer: int, stop: asyncio.Event, codes: Counter[str]
) -> list[str]:
    """Write memories one after the other; return the ids that were acknowledged."""
    ids: list[str] = []
    while not stop.is_set():
        memory = type_pb2.Memory(content=f"Fact {len(ids)} of {writer}")
        request = memory_pb2.AddMemoryRequest(request_id=f"{writer}-{len(ids)}", memory=memory)
        ids.append(await until_acknowledged(home, request, codes))
    return ids


async def until_more(codes: Counter[str], code: str, more: int) -> None:
    """Wait until so many more calls ended with the code."""
    enough = codes[code] + more
    async with asyncio.timeout(PATIENCE):
        while codes[code] < enough:  # noqa: ASYNC110 - callers count, not we
            await asyncio.sleep(0.1)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_retries_with_the_same_request_id_apply_once(server: LocalNeo4j) -> None:
    """W1 M5 Callers get UNAVAILABLE meanwhile, go on by themselves, and each fact is there once."""
    codes: Counter[str] = Counter()
    async with graph_on(server) as live:
        home, stop = live.calls(), asyncio.Event()
        writers = [
            asyncio.create_task(keep_writing(home, number, stop, codes))
            for number in range(WRITERS)
        ]
        for _ in range(KILLS):
            await until_more(codes, ACKNOWLEDGED, EACH)
            await asyncio.to_thread(server.kill)
            await until_more(codes, "UNAVAILABLE", 1)
            assert not await live.app.ready()
            await asyncio.to_thread(server.start)
        await until_more(codes, ACKNOWLEDGED, EACH)
        stop.set()
        written = [memory_id for ids in await asyncio.gather(*writers) for memory_id in ids]
        changes = await home.changes()
        lines = await home.export()

        assert await live.app.ready()
    assert codes.keys() == {ACKNOWLEDGED, "UNAVAILABLE"}
    assert len(written) >= (KILLS + 1) * EACH
    assert len(written) == len(set(written)) == len(lines) == codes[ACKNOWLEDGED]
    assert sorted(change.item_id for change in changes) == sorted(written)
    assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
