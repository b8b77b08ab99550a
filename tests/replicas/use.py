"""What agents do with replicas, and what must hold afterwards."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2, search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.channel import connect
from concord_chassis.identity import Caller, TokenIssuer
from concord_chassis.key_files import read_private_key

from tests.composed import mixed_load
from tests.composed.mixed_load import Space
from tests.composed.using import answered, asked_again
from tests.e2e.running_system import fresh_spaces
from tests.replicas.replicated import Replica, System

QUIET_WITHIN = 120.0
"""Seconds until both indexes have followed, and decisions of before have their end."""


@asynccontextmanager
async def under_load(system: System) -> AsyncIterator[Space]:
    """A space in which writers, both parties and searches go on; checked when they have ended."""
    stop = asyncio.Event()
    async with mixed_load.governed_space(await fresh_spaces(system.secrets)) as space:
        async with asyncio.TaskGroup() as group:
            for work in (mixed_load.remember, mixed_load.decide, mixed_load.ask, fresh):
                group.create_task(work(space, stop))
            yield space
            stop.set()
        async with asyncio.timeout(QUIET_WITHIN):
            await mixed_load.nothing_under_way(space)
            for replica in system.replicas["search"]:
                await until_equal(system, replica, space)
        await mixed_load.nothing_lost(space)
        await nothing_doubled(space)
        executed = await mixed_load.nothing_unauthorised(space)
        print(
            f"{len(space.memories)} memories and {len(space.values)} values acknowledged, "
            f"{executed} executed in the one log, {space.searches} searches; asked again after "
            f"the client's own retries: {dict(asked_again)}; refused: {dict(space.refused)}"
        )


async def fresh(space: Space, stop: asyncio.Event) -> None:
    """Write one memory, and search for it with the token of that write: any search replica waits
    until it has it. Send each write once more: any graph knows its request id."""
    number = 0
    while not stop.is_set():
        number += 1
        name = f"{space.name}-fresh-{number}"
        memory = type_pb2.Memory(id=name, content=f"The bicycle number {number} is blue.")
        request = memory_pb2.AddMemoryRequest(request_id=name, memory=memory)
        made = await answered(lambda: space.agent.stubs.memory.AddMemory(request))  # noqa: B023 - awaited
        again = await answered(lambda: space.agent.stubs.memory.AddMemory(request))  # noqa: B023 - awaited
        assert (again.memory.id, again.token) == (made.memory.id, made.token)
        space.memories[name] = memory.content
        query = search_pb2.SearchRequest(
            query=f"bicycle number {number}",
            consistency=type_pb2.Consistency(at_least_as_fresh=made.token),
        )
        found = await answered(lambda: space.agent.stubs.search.Search(query))  # noqa: B023 - awaited
        assert name in [each.memory.id for each in found.results]


async def until_equal(system: System, replica: Replica, space: Space) -> None:
    """Return once one search replica's own index equals graph."""
    issuer = TokenIssuer(read_private_key(system.secrets / "keys" / "gateway.pem"), "gateway")
    token = issuer.mint(Caller(space.name, "owner", frozenset({"search:admin"}), "HUMAN"))
    async with connect(replica.address, token=lambda: token) as channel:
        index = search_pb2_grpc.IndexServiceStub(channel)
        request = search_pb2.ReconcileIndexRequest()
        while not (await index.ReconcileIndex(request)).agrees:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.2)


async def nothing_doubled(space: Space) -> None:
    """Check that every memory is there once: as many as were acknowledged, each in one revision."""
    listed = Counter[str]()
    request = memory_pb2.ListMemoriesRequest(page_size=200)
    while True:
        page = await answered(lambda: space.agent.stubs.memory.ListMemories(request))
        listed.update(each.id for each in page.memories)
        request.page_token = page.next_page_token
        if not request.page_token:
            break
    assert set(listed.values()) <= {1}
    # A write whose reply was lost as the load ended may be there too: at most one a writer.
    assert set(space.memories) <= set(listed)
    assert len(listed) <= len(space.memories) + 2
