"""What agents do with replicas, and what must hold afterwards."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import NamedTuple

import grpc
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2, memory_pb2, relation_pb2, space_pb2
from concord.search.v1 import search_pb2, search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller, TokenIssuer
from concord_chassis.channel.channel import connect
from concord_chassis.server.key_files import read_private_key
from concord_dissonance.ports.actions import conflict_of
from neo4j import GraphDatabase

from tests.composed import mixed_load
from tests.composed.mixed_load import Space
from tests.composed.using import answered, asked_again
from tests.e2e.running_system import fresh_spaces
from tests.replicas.replicated import Replica, System

QUIET_WITHIN = 120.0
"""Seconds until both indexes have followed, and decisions of before have their end."""


@asynccontextmanager
async def under_load(system: System) -> AsyncIterator[Space]:
    """A space in which writers, both principals and searches go on; checked when they ended."""
    stop = asyncio.Event()
    async with mixed_load.governed_space(await fresh_spaces(system.secrets)) as space:
        async with asyncio.TaskGroup() as group:
            for work in (mixed_load.remember, mixed_load.decide, mixed_load.ask, fresh):
                group.create_task(work(space, stop))
            yield space
            stop.set()
        async with asyncio.timeout(QUIET_WITHIN):
            await mixed_load.nothing_under_way(space)
            await until_equal(system, space)
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


async def until_equal(system: System, space: Space) -> None:
    """Return once the index equals graph, which the search that writes it says."""
    issuer = TokenIssuer(read_private_key(system.secrets / "keys" / "gateway.pem"), "gateway")
    token = issuer.mint(Caller(space.name, "owner", frozenset({"search:admin"}), "HUMAN"))
    request = search_pb2.ReconcileIndexRequest()
    while True:
        for replica in system.replicas["search"]:
            async with connect(replica.address, token=lambda: token) as channel:
                index = search_pb2_grpc.IndexServiceStub(channel)
                with suppress(grpc.aio.AioRpcError):  # another replica writes
                    if (await index.ReconcileIndex(request)).agrees:
                        return
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


class Following(NamedTuple):
    """Dissonance's lease of a space, as the store has it; `until` in microseconds since 1970."""

    holder: str
    number: int
    until: int


def following(system: System, space: str) -> Following:
    """Who follows a space. Read from the store: to ask graph for a lease may take it."""
    told = system.replicas["graph"][0].environ
    who = (told["NEO4J_USER"], told["NEO4J_PASSWORD"])
    query = (
        "MATCH (l:ConcordLease {space: $space, owner: 'dissonance', name: 'follow'})"
        " RETURN l.holder, l.number, l.until"
    )
    with GraphDatabase.driver(told["NEO4J_URI"], auth=who) as driver:
        (found,), _, _ = driver.execute_query(query, space=space)
    return Following(*found.values())


@contextmanager
def suspended(replica: Replica) -> Iterator[None]:
    """One process does nothing for the length of the block, and loses nothing."""
    assert replica.process is not None
    replica.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        replica.process.send_signal(signal.SIGCONT)


async def contradict(space: Space, place: str) -> None:
    """Write a memory, and a reflection whose fact contradicts that of the memory."""
    declare = relation_pb2.DeclareRelationRequest(
        request_id="opens", name="OPENS_ON", functional=True
    )
    declare.temporal_class = relation_pb2.TEMPORAL_CLASS_ETERNAL
    await answered(lambda: space.agent.stubs.relation.DeclareRelation(declare))
    kinds = type_pb2.MEMORY_KIND_FACT, type_pb2.MEMORY_KIND_REFLECTION
    for kind, day in zip(kinds, ("Sunday", "Monday"), strict=True):
        fact = type_pb2.Fact(subject=place, relation="OPENS_ON", object=day)
        memory = type_pb2.Memory(content=f"{place}: {day}", kind=kind, facts=[fact])
        request = memory_pb2.AddMemoryRequest(request_id=f"{place} {day}", memory=memory)
        await answered(lambda: space.agent.stubs.memory.AddMemory(request))  # noqa: B023 - awaited


async def until_recorded(space: Space, count: int) -> None:
    """Return once so many conflicts stand."""
    request = conflict_pb2.ListConflictsRequest()
    async with asyncio.timeout(QUIET_WITHIN):
        while True:
            found = await answered(lambda: space.agent.stubs.conflict.ListConflicts(request))
            if len(found.conflicts) >= count:
                return
            await asyncio.sleep(0.2)


async def until_proposed(space: Space, count: int) -> Counter[str]:
    """How many proposals each conflict has, once so many conflicts have one."""
    request = proposal_pb2.ListProposalsRequest(page_size=100)
    async with asyncio.timeout(QUIET_WITHIN):
        while True:
            made = await answered(lambda: space.agent.stubs.proposals.ListProposals(request))
            named = (conflict_of(each.action)[0] for each in made.proposals)
            found = Counter(each for each in named if each)
            if len(found) >= count:
                return found
            await asyncio.sleep(0.2)


async def conflicts_written(space: Space) -> Counter[str]:
    """How often each conflict was written, by the space's record of operations."""
    request = space_pb2.ListOperationsRequest(page_size=500)
    made = (await space.agent.stubs.space.ListOperations(request)).operations
    return Counter(each.item_id for each in made if each.item_kind == type_pb2.ITEM_KIND_CONFLICT)
