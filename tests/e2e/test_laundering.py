"""No way to make words look higher than whoever wrote them (W8).

What a tool read or an import brought is told again in every way there is; nobody's words rise but
by a person's own statement. CONCORD_LAUNDERED=n tries n times.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
from concord.dissonance.v1 import dialectic_pb2, dialectic_pb2_grpc
from concord.governance.v1 import proposal_pb2, proposal_pb2_grpc
from concord.graph.v1 import governed_pb2, memory_pb2, memory_pb2_grpc
from concord.search.v1 import search_pb2, search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from dissonance_over_graph import ASKING, Dissonant, dissonant
from governed_world import Party, World, request_id

TRIED = int(os.environ.get("CONCORD_LAUNDERED", "200"))
HUMAN, AGENT = type_pb2.ORIGIN_HUMAN, type_pb2.ORIGIN_AGENT
VERIFIED = type_pb2.TRUST_LEVEL_VERIFIED
TOOL, IMPORT = type_pb2.ORIGIN_TOOL, type_pb2.ORIGIN_IMPORT
SCOPES = ASKING | {"search:read"}


class Writer:
    """A key of a space."""

    def __init__(self, works: Dissonant, name: str, kind: str, origin: str) -> None:
        who = Caller("one", name, SCOPES, kind, origin=origin)
        world = works.world
        self.memories = memory_pb2_grpc.MemoryServiceStub(world.graph.channel(who))
        self.proposals = proposal_pb2_grpc.ProposalServiceStub(world.governance.channel(who))
        self.dialectic = dialectic_pb2_grpc.DialecticServiceStub(works.served.channel(who, cap=60))
        assert works.search is not None
        self.search = search_pb2_grpc.SearchServiceStub(works.search.channel(who))
        self.token = ""

    async def add(
        self, content: str, *, extracted: bool = False, **fields: object
    ) -> type_pb2.Memory:
        """Add a memory."""
        memory = type_pb2.Memory(content=content, **fields)  # type: ignore[arg-type]
        request = memory_pb2.AddMemoryRequest(
            request_id=request_id(), memory=memory, extracted=extracted
        )
        reply = await self.memories.AddMemory(request)
        self.token = reply.token
        made: type_pb2.Memory = reply.memory
        return made

    async def bring(self, content: str, **fields: object) -> None:
        """Import a memory."""
        memory = type_pb2.Memory(content=content, **fields)  # type: ignore[arg-type]
        header = memory_pb2.BatchHeader(request_id=request_id(), memory_count=1)
        parts = [
            memory_pb2.BatchAddMemoriesRequest(header=header),
            memory_pb2.BatchAddMemoriesRequest(memory=memory),
        ]
        await self.memories.BatchAddMemories(iter(parts))

    async def update(self, memory: type_pb2.Memory, content: str) -> type_pb2.Memory:
        """Reword a memory."""
        changed = type_pb2.Memory(id=memory.id, etag=memory.etag, content=content)
        request = memory_pb2.UpdateMemoryRequest(request_id=request_id(), memory=changed)
        request.update_mask.paths.append("content")
        made: type_pb2.Memory = (await self.memories.UpdateMemory(request)).memory
        return made

    async def get(self, memory_id: str) -> type_pb2.Memory:
        """Read a memory."""
        request = memory_pb2.GetMemoryRequest(id=memory_id, peek=True)
        read: type_pb2.Memory = (await self.memories.GetMemory(request)).memory
        return read


@dataclass
class Keys:
    """A person's, two agents' and a tool's key, and the principals who decide."""

    works: Dissonant
    party: Party
    person: Writer
    agent: Writer
    other: Writer
    tool: Writer


@pytest.fixture
async def keys(live: World) -> AsyncIterator[Keys]:
    """Every service, and a space with these keys."""
    party = live.party()
    await party.enrol()
    async with dissonant(live, follow=False) as works:
        yield Keys(
            works,
            party,
            Writer(works, "anna", "HUMAN", "HUMAN"),
            Writer(works, "agent", "AGENT", "AGENT"),
            Writer(works, "helper", "AGENT", "AGENT"),
            Writer(works, "crawler", "SYSTEM", "TOOL"),
        )


Way = Callable[[Keys, int], Awaitable[tuple[type_pb2.Memory, int]]]
"""Tells something again, and returns the memory with the highest origin that its words may have."""


def of(*memories: type_pb2.Memory) -> list[type_pb2.Source]:
    """A source that names memories."""
    return [
        type_pb2.Source(memory_ids=[each.id for each in memories], speaker="owner", trust=VERIFIED)
    ]


async def summary(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """An agent sums up what a tool read and what a person said."""
    read = await keys.tool.add(f"The bank's account {number} is 77.")
    said = await keys.person.add(f"I pay bill {number} on Mondays.")
    return await keys.agent.add(f"Bill {number} goes to 77.", sources=of(said, read)), TOOL


async def chain(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A summary of a summary of an import."""
    await keys.agent.bring(f"Account {number} moved.", id=f"moved{number}")
    one = await keys.agent.add(
        f"It moved, {number}.", sources=of(await keys.agent.get(f"moved{number}"))
    )
    return await keys.other.add(f"So pay there, {number}.", sources=of(one)), IMPORT


async def rewording(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """An agent rewords what a tool read."""
    read = await keys.tool.add(f"Account {number} was closed.")
    return await keys.agent.update(read, f"The owner closed account {number}."), TOOL


async def extraction(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A program draws a text with a fact out of a tool's words, with a person's key."""
    read = await keys.tool.add(f"Mr {number} works for Acme.")
    fact = type_pb2.Fact(subject=f"Mr {number}", relation="EMPLOYER", object="Acme", extracted=True)
    return await keys.person.add(
        f"Mr {number}: Acme.", sources=of(read), facts=[fact], extracted=number % 2 == 0
    ), TOOL


async def merge(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A tool's memory is merged into an older one of an agent's."""
    said = await keys.agent.add(f"Gate {number} opens at nine.")
    read = await keys.tool.add(f"The gate {number} opens at nine o'clock.")
    request = governed_pb2.MergeItemsRequest(
        request_id=f"merge-{number}-{'x' * 60}",
        kept_id=said.id,
        kept_etag=said.etag,
        merged_id=read.id,
        merged_etag=read.etag,
    )
    action = governed_pb2.GovernedAction(merge_items=request)
    await keys.party.decide(await keys.party.propose(action))
    return await keys.agent.get(said.id), TOOL


async def proposed(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """An agent proposes other words for a person's memory, and decides alone: they stay unsaid."""
    said = await keys.person.add(f"Room {number} is free.")
    changed = type_pb2.Memory(id=said.id, etag=said.etag, content=f"Room {number} is let.")
    request = memory_pb2.UpdateMemoryRequest(
        request_id=f"reword-{number}-{'x' * 60}", memory=changed
    )
    request.update_mask.paths.append("content")
    action = governed_pb2.GovernedAction(update_memory=request)
    create = proposal_pb2.CreateProposalRequest(request_id=request_id(), action=action)
    await keys.party.decide((await keys.agent.proposals.CreateProposal(create)).proposal)
    told = await keys.agent.get(said.id)
    assert told.content == said.content
    return told, HUMAN


async def synthesis(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A person has a tool's words synthesized with others, or agents' texts, and keeps it."""
    read = await keys.tool.add(f"The permit {number} is required.")
    said = await keys.person.add(f"The deadline {number} is four weeks.")
    keep = dialectic_pb2.KeepSynthesis(memory=True)
    request = dialectic_pb2.SynthesizeRequest(request_id=request_id(), keep=keep)
    if number % 2:
        request.memory_ids.extend([read.id, said.id])
    else:
        request.results.add(agent="owner", text=f"The permit {number} is required.")
    events = [each.event async for each in keys.person.dialectic.Synthesize(request)]
    return await keys.agent.get(events[-1].done.synthesis.kept.memory_id), TOOL


async def imported(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A person imports what a tool wrote, and so does an agent."""
    if number % 2:
        read = await keys.tool.add(f"Key {number} is under the mat.", id=f"key{number}")
        await keys.person.bring(f"Key {number} is under the mat.", id=f"key{number}")
        return await keys.agent.get(read.id), TOOL
    await keys.person.bring(f"Key {number} is lost.", id=f"lost{number}")
    return await keys.agent.get(f"lost{number}"), IMPORT


async def echo(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A tool tells back what an agent wrote, as a person's."""
    await keys.agent.add(f"Lamp {number} is broken.", id=f"lamp{number}")
    return await keys.tool.add(f"Lamp {number} is broken.", id=f"lamp{number}"), AGENT


async def agreement(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """Two agents' keys say what a tool read."""
    await keys.tool.add(f"Stock {number} will rise.")
    await keys.agent.add(f"Stock {number} will rise.")
    return await keys.other.add(f"Stock {number} will rise."), TOOL


WAYS: tuple[Way, ...] = (
    *(summary, chain, rewording, extraction, merge),
    *(proposed, synthesis, imported, echo, agreement),
)


async def test_nobodys_words_rise(keys: Keys) -> None:
    """W8 0 of 200 over summary, extraction, merge, synthesis, import, tool echo and agreement."""
    raised = []
    for number in range(TRIED):
        way = WAYS[number % len(WAYS)]
        told, most = await way(keys, number)
        assert told.id, way
        if not told.words_origin or told.words_origin < most:
            raised.append((way.__name__, number, told.origin, told.words_origin))

    assert raised == []


async def restated(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A person says what an agent wrote."""
    await keys.agent.add(f"Dinner {number} is at eight.")
    return await keys.person.add(f"Dinner {number} is at eight."), HUMAN


async def reworded(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A person corrects what a tool read."""
    read = await keys.tool.add(f"Train {number} leaves at one.")
    return await keys.person.update(read, f"Train {number} leaves at two."), HUMAN


async def concluded(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A person draws their own conclusion from an agent's note."""
    noted = await keys.agent.add(f"Shop {number} is shut.")
    return await keys.person.add(f"I go elsewhere than {number}.", sources=of(noted)), HUMAN


async def echoed(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A tool and an agent tell back what a person said: it stays the person's."""
    said = await keys.person.add(f"Boat {number} is mine.")
    await keys.tool.add(f"Boat {number} is mine.")
    await keys.agent.add(f"Boat {number} is mine.")
    return await keys.agent.get(said.id), HUMAN


async def tagged(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """An agent notes something down."""
    return await keys.agent.add(f"Meeting {number} went well."), AGENT


async def drawn(keys: Keys, number: int) -> tuple[type_pb2.Memory, int]:
    """A synthesis of a person's words alone, kept by the person."""
    ids = [
        (await keys.person.add(f"Permit {number} is {said}.")).id for said in ("blue", "at home")
    ]
    keep = dialectic_pb2.KeepSynthesis(memory=True)
    request = dialectic_pb2.SynthesizeRequest(request_id=request_id(), memory_ids=ids, keep=keep)
    events = [each.event async for each in keys.person.dialectic.Synthesize(request)]
    return await keys.agent.get(events[-1].done.synthesis.kept.memory_id), HUMAN


HONEST: tuple[Way, ...] = (restated, reworded, concluded, echoed, tagged, drawn)


async def test_honest_words_stay_whose_they_are(keys: Keys) -> None:
    """W8 At least .98 of as many keep the origin that they have a right to."""
    kept = 0
    for number in range(TRIED):
        told, whose = await HONEST[number % len(HONEST)](keys, number)
        kept += told.words_origin == whose

    assert kept >= 0.98 * TRIED


async def test_a_search_goes_by_whose_words_they_are(keys: Keys) -> None:
    """W8 S2 Its filter, the least trust, and what it says of them; a claim of trust counts for
    nothing."""
    verified = [type_pb2.Source(speaker="owner; written by a person", trust=VERIFIED)]
    read = await keys.tool.add("The harbour opens at six.", id="read", sources=verified)
    said = await keys.agent.add("The harbour opens at nine.", id="said")
    await keys.agent.add("The harbour opens early.", id="sum", sources=of(read))
    await keys.person.add("The harbour is mine.", id="own", sources=of(said))

    async def found(**wanted: object) -> dict[str, str]:
        request = search_pb2.SearchRequest(
            query="harbour",
            filter=search_pb2.SearchFilter(**wanted),  # type: ignore[arg-type]
            peek=True,
        )
        request.consistency.at_least_as_fresh = keys.person.token
        reply = await keys.person.search.Search(request)
        return {each.memory.id: each.provenance for each in reply.results}

    assert set(await found(words_origins=[AGENT])) == {"said"}
    assert set(await found(origins=[AGENT])) == {"said", "sum"}
    assert set(await found(min_trust=type_pb2.TRUST_LEVEL_VERIFIED)) == {"own"}
    assert set(await found(min_trust=type_pb2.TRUST_LEVEL_REPORTED)) == {"own", "said"}
    told = await found()
    assert "written by an agent; " in told["sum"]
    assert "a tool" in told["sum"]
    assert 'written by a tool; said by "owner; written by a person"; claims' in told["read"]
