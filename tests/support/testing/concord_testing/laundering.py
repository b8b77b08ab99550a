"""Ways to tell again what a tool read or an import brought, and honest ways to say things (W8).

Each returns the memory, with the highest origin that its words may have, or ought to have.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from concord.dissonance.v1 import dialectic_pb2
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2, memory_pb2
from concord.type.v1 import type_pb2

HUMAN, AGENT = type_pb2.ORIGIN_HUMAN, type_pb2.ORIGIN_AGENT
TOOL, IMPORT = type_pb2.ORIGIN_TOOL, type_pb2.ORIGIN_IMPORT
VERIFIED = type_pb2.TRUST_LEVEL_VERIFIED


class Writer:
    """A key of a space, by the stubs of its services."""

    def __init__(self, memories: Any, proposals: Any, dialectic: Any, search: Any) -> None:
        self.memories = memories
        self.proposals = proposals
        self.dialectic = dialectic
        self.search = search
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
    """A person's, two agents' and a tool's key, and how an action is proposed and decided."""

    person: Writer
    agent: Writer
    other: Writer
    tool: Writer
    propose: Callable[[governed_pb2.GovernedAction], Awaitable[proposal_pb2.Proposal]]
    decide: Callable[[proposal_pb2.Proposal], Awaitable[object]]


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
    await keys.decide(await keys.propose(action))
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
    await keys.decide((await keys.agent.proposals.CreateProposal(create)).proposal)
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


def request_id() -> str:
    """A request id that was not used before."""
    return str(uuid4())
