"""Containers of the composed system, killed one by one while it is used."""

import asyncio
from functools import partial

import pytest
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient
from concord_client.credentials import Target

from tests.composed.using import (
    BACK_WITHIN,
    CONTAINERS,
    add,
    answered,
    compose,
    health,
    system,
    until_serving,
)

pytestmark = pytest.mark.compose


@pytest.mark.parametrize("container", CONTAINERS)
async def test_a_killed_container_loses_nothing_and_comes_back(
    container: str,
) -> None:
    """Must hold: what was acknowledged stays, what was under way is done once, health tells the
    truth, and all serve again without a hand on any other container."""
    at = system()
    async with AsyncClient(Target(at.url, at.keys["default"])) as concord:
        before = await add(concord, f"{container}-before")
        writing = asyncio.create_task(add(concord, f"{container}-meanwhile"))
        await compose("kill", "--signal", "KILL", container)
        async with asyncio.timeout(BACK_WITHIN):
            while (seen := await health(at)) and all(seen.values()):  # noqa: ASYNC110
                await asyncio.sleep(0.1)

        await compose("start", container)
        await until_serving(at)

        meanwhile = await asyncio.wait_for(writing, BACK_WITHIN)
        after = await add(concord, f"{container}-after")
        fresh = type_pb2.Consistency(at_least_as_fresh=after.token)
        query = search_pb2.SearchRequest(query=f"room {container}-after", consistency=fresh)
        found = await answered(lambda: concord.search.Search(query))
        for made in (before, meanwhile, after):
            asked = memory_pb2.GetMemoryRequest(id=made.memory.id)
            kept = await answered(partial(concord.memory.GetMemory, asked))
            assert kept.memory.content == made.memory.content
            assert kept.memory.etag == made.memory.etag
        assert f"{container}-after" in [each.memory.id for each in found.results]
