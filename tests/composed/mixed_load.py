"""Agents write, decide and search in a space of their own; what must hold of it afterwards."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncConcord, Refused
from concord_client.client import AsyncClient
from concord_client.credentials import Target
from concord_client.trust import signing
from concord_client.trust.audit.log import Pinned, read_log
from concord_client.trust.audit.replay import Replay
from concord_client.trust.audit.store import differences
from concord_client.verbs import proposals
from concord_client.verbs.things import Slot
from concord_embedded import Running

from tests.composed.using import add, answered
from tests.e2e.running_system import enrol

SPACE = "default"
STATUS = proposal_pb2.ProposalStatus
ENDED = {STATUS.PROPOSAL_STATUS_EXECUTED, STATUS.PROPOSAL_STATUS_FAILED}
LAWFUL = ENDED | {STATUS.PROPOSAL_STATUS_PENDING}
"""What a proposal may be once nothing is under way."""


@dataclass
class Space:
    """One space with both its principals, and what was acknowledged to them."""

    name: str
    agent: AsyncConcord
    owner: AsyncClient
    signers: dict[Slot, signing.Signer]
    pinned: Pinned
    memories: dict[str, str] = field(default_factory=dict)
    """Content by id."""
    values: set[str] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    searches: int = 0


@asynccontextmanager
async def governed_space(running: Running) -> AsyncIterator[Space]:
    """A new space whose principals have enrolled."""
    signers: dict[Slot, signing.Signer] = {
        "AGENT": signing.Signer("helper", signing.generate_key()),
        "HUMAN": signing.Signer("ada", signing.generate_key()),
    }
    async with (
        AsyncConcord(AsyncClient(Target(running.url, running.keys[SPACE]))) as agent,
        AsyncClient(Target(running.url, running.owner_keys[SPACE])) as owner,
    ):
        name, pinned = await enrol(agent.stubs, running, SPACE, signers["AGENT"], signers["HUMAN"])
        yield Space(name, agent, owner, signers, pinned)


@asynccontextmanager
async def in_use(space: Space) -> AsyncIterator[None]:
    """Agents write, decide and search while the block runs."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for work in (remember, decide, ask):
            group.create_task(work(space, stop))
        yield
        stop.set()


async def demand_whole(space: Space, quiet_within: float) -> int:
    """Check a space that is not in use any more: nothing acknowledged is lost, nothing unauthorised
    is there, the index equals graph, and every proposal is in a lawful state. Return how many
    decisions were executed.
    """
    async with asyncio.timeout(quiet_within):
        await nothing_under_way(space)
    await nothing_lost(space)
    return await nothing_unauthorised(space)


async def remember(space: Space, stop: asyncio.Event) -> None:
    """Add one memory after the other."""
    number = 0
    while not stop.is_set():
        number += 1
        made = await add(space.agent.stubs, f"{space.name}-{number}")
        space.memories[made.memory.id] = made.memory.content


async def decide(space: Space, stop: asyncio.Event) -> None:
    """Let both principals agree on one value after the other."""
    number = 0
    while not stop.is_set():
        number += 1
        value = f"value {number}"
        try:
            await _agreed(space, value)
        except Refused as refused:  # e.g. what a lost reply had decided already
            space.refused[refused.reason] += 1


async def _agreed(space: Space, value: str) -> None:
    edge = {
        "source": {"name": "helper"},
        "relation": "VALUES",
        "target": {"name": value},
        "edge_type": "EDGE_TYPE_CONSTITUTIVE",
    }
    made = await _taken(space, proposals.propose({"upsert_edge": {"edge": edge}}), value)
    for slot, signer in space.signers.items():
        step = proposals.approve(made, signer, slot=slot, space=space.name)
        answer = await _taken(space, step, f"{value} {slot}")
    if answer.status == "EXECUTED":
        space.values.add(value)


async def _taken(space: Space, step: Any, request_id: str) -> Any:
    """Take a step until the system answers, always under one request id."""
    step.request.request_id = request_id
    return await answered(lambda: space.agent.take(step))


async def ask(space: Space, stop: asyncio.Event) -> None:
    """Search; what is found was written by somebody of this space."""
    while not stop.is_set():
        query = search_pb2.SearchRequest(query="Which lamp is green?")
        found = await answered(lambda: space.agent.stubs.search.Search(query))  # noqa: B023 - awaited
        assert all(each.memory.id.startswith(space.name) for each in found.results)
        space.searches += 1


async def nothing_under_way(space: Space) -> None:
    """Return once the index equals graph, and every proposal is in a lawful state."""
    while True:
        found = await answered(
            lambda: space.owner.index.ReconcileIndex(search_pb2.ReconcileIndexRequest())
        )
        waiting = await _statuses(space) - LAWFUL
        if found.agrees and not waiting:
            return
        await asyncio.sleep(1)


async def _statuses(space: Space) -> set[int]:
    """The statuses of all proposals."""
    statuses, request = set[int](), proposal_pb2.ListProposalsRequest(page_size=100)
    while True:
        found = await answered(lambda: space.agent.stubs.proposals.ListProposals(request))
        statuses |= {each.status for each in found.proposals}
        if not found.next_page_token:
            return statuses
        request.page_token = found.next_page_token


async def nothing_lost(space: Space) -> None:
    """Check that everything acknowledged is there as it was written."""
    for memory_id, content in space.memories.items():
        request = memory_pb2.GetMemoryRequest(id=memory_id)
        kept = await answered(lambda: space.agent.stubs.memory.GetMemory(request))  # noqa: B023 - awaited
        assert kept.memory.content == content
    helper = type_pb2.EdgeEnd(name="helper")
    for value in space.values:
        triple = graph_pb2.Triple(
            source=helper, relation="VALUES", target=type_pb2.EdgeEnd(name=value)
        )
        edge = graph_pb2.GetEdgeRequest(triple=triple)
        held = await answered(lambda: space.agent.stubs.graph.GetEdge(edge))  # noqa: B023 - awaited
        assert held.edge.edge_type == type_pb2.EDGE_TYPE_CONSTITUTIVE


async def nothing_unauthorised(space: Space) -> int:
    """Check the log offline, and the store against it; return how many decisions were executed."""
    parts = space.agent.stubs.audit.ExportAuditLog(audit_pb2.ExportAuditLogRequest())
    lines = b"".join([part.lines async for part in parts]).splitlines(keepends=True)
    found = Replay(read_log(lines, space.pinned), space.pinned).run()
    stored: list[governed_pb2.ConstitutiveItem] = []
    request = governed_pb2.GetConstitutiveDigestsRequest()
    while True:
        page = await space.agent.stubs.governed.GetConstitutiveDigests(request)
        stored += page.items
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert differences(found.constitutive, stored) == []
    return found.executed
