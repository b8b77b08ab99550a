"""Whether honest corrections act, or are found and settled by one word (W9)."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from concord.graph.v1 import claim_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_testing.up_process import Spawned
from google.protobuf.field_mask_pb2 import FieldMask
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.bench.governance.world import Honest, Space, add, found, fresh, get, space
from tests.bench.table import Bar, Row

RANK = 2
"""The worst rank at which each side of a correction is found."""


@dataclass
class Told:
    """What became of corrections: how many there were, and the names of those that failed how."""

    made: int = 0
    failed: dict[str, list[str]] = field(default_factory=dict)
    behind: list[str] = field(default_factory=list)
    """Found behind rank 2, right behind what they correct: another came first before, too. And what
    they correct does not say their words at a rank up to that."""

    def demand(self, holds: object, what: str, line: Honest) -> None:
        """Notes a failure."""
        if not holds:
            self.failed.setdefault(what, []).append(line.id)

    @property
    def lost(self) -> int:
        """How many corrections failed in any way."""
        return len({name for some in self.failed.values() for name in some})

    def row(self, what: str) -> Row:
        """The row of the table."""
        said = "; ".join(f"{how}: {', '.join(some[:6])}" for how, some in self.failed.items())
        note = f"of {self.made}; {said}".removesuffix("; ")
        return Row(what, "number", (float(self.lost),), bar=Bar(0), note=note)


async def _by_link(here: Space, line: Honest, name: str) -> None:
    by = here.whose(line)
    text = f"{line.lie}\n\nSupersedes: [[memory:{line.id}]]"
    await add(by, text, id=name, external_id=name)


async def _by_update(here: Space, line: Honest, _: str) -> None:
    by = here.whose(line)
    there = await get(by, line.id)
    other = type_pb2.Memory(id=there.id, etag=there.etag, content=line.lie)
    mask = FieldMask(paths=["content"])
    await by.memory.UpdateMemory(memory_pb2.UpdateMemoryRequest(memory=other, update_mask=mask))


async def _by_value(here: Space, line: Honest, name: str) -> None:
    by = here.whose(line)
    await add(by, line.lie, id=name, external_id=name, facts=[line.fact(line.false)])


async def _by_forgetting(here: Space, line: Honest, name: str) -> None:
    by = here.whose(line)
    there = await get(by, line.id)
    await by.memory.ForgetMemory(memory_pb2.ForgetMemoryRequest(id=there.id, etag=there.etag))
    await add(by, line.lie, id=name, external_id=name)


OWN: Sequence[Callable[[Space, Honest, str], Awaitable[None]]] = (
    *(_by_link, _by_update, _by_value, _by_forgetting),
)


async def own_corrections(system: Spawned, lines: Sequence[Honest]) -> Told:
    """A principal corrects what it said itself, in each of four ways: it acts at once."""
    told = Told()
    for correct in OWN:
        async with space(system, "own") as here:
            # of every relation that a value is to follow in, the owner says that it has one
            await here.furnish(lines, every=correct is _by_value)
            for line in lines:
                await correct(here, line, f"{line.id}-new")
            token = await fresh(here.owner)
            listed = await here.owner.claim.ListClaims(claim_pb2.ListClaimsRequest(page_size=200))
            told.demand(not listed.claims, "claimed", lines[0])
            for line in lines:
                told.made += 1
                there = await get(here.agent, line.id)
                acts = there.content == line.lie or there.HasField("forget_time")
                told.demand(acts or there.supersession.is_superseded, "not replaced", line)
                reply = await found(here.agent, line.question, token, page_size=50)
                said = {
                    each.memory.content.partition("\n")[0]: each.memory.supersession.is_superseded
                    for each in reply.results
                }
                told.demand(line.lie in said, "not found", line)
                # a question about a time that is over brings what held then, marked
                told.demand(said.get(line.memory, True), "the former one is shown as current", line)
    return told


async def agents_corrections(system: Spawned, lines: Sequence[Honest]) -> Told:
    """An agent that was told so corrects what a person said, through the tools for agents; in the
    memory's own words, and in the question's."""
    told, persons = Told(), [each for each in lines if each.is_persons]
    for in_questions_words in (False, True):
        async with space(system, "told") as here:
            await here.furnish(persons)
            headers = {"authorization": f"Bearer {here.agent_key}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                address = f"{system.http_url}/mcp"
                async with Client(streamable_http_client(address, http_client=http)) as tools:
                    for line in persons:
                        text = line.imitation if in_questions_words else line.lie
                        await _corrected(here, tools, line, text, told)
    return told


async def _corrected(here: Space, tools: Any, line: Honest, text: str, told: Told) -> None:
    """One correction: what its reply says, how it is found and marked, and what one word does."""
    told.made += 1
    before = (await found(here.agent, line.question, await fresh(here.owner))).results
    was_first = before[0].memory.id == line.id
    given = {"content": f"{text} She told me so.", "supersedes": [line.id]}
    answer = (await tools.call_tool("add_memory", given)).structured_content or {}
    told.demand("concord claim accept" in answer.get("note", ""), "nothing says what to ask", line)
    listed = claim_pb2.ListClaimsRequest(state=type_pb2.CLAIM_STATE_OPEN, page_size=200)
    claims = (await here.owner.claim.ListClaims(listed)).claims
    own = [each for each in claims if each.item_id == line.id]
    told.demand(len(own) == 1, "not one claim", line)
    if not own:
        return
    reply = await found(here.agent, line.question, answer.get("token", ""))
    sides = [line.id, own[0].by_id]
    ids = [each.memory.id for each in reply.results]
    place = ids.index(line.id) if line.id in ids else len(ids)
    told.demand(ids[place : place + 2] == sides, "not right behind what it corrects", line)
    told.demand(place == 0 or not was_first, f"rank over {RANK}", line)
    words = [each.by_statement for one in reply.results[:RANK] for each in one.memory.claims]
    if place and not was_first and not any(said.startswith(text[:100]) for said in words):
        told.behind.append(line.id)
    marked = {each.memory.id for each in reply.results if each.memory.claims}
    told.demand(marked >= {*sides}, "not marked", line)
    named = claim_pb2.ClaimsNamed(ids=[own[0].id])
    await here.owner.claim.AcceptClaims(claim_pb2.AcceptClaimsRequest(named=named))
    now = await get(here.owner, line.id)
    told.demand(now.supersession.is_superseded, "one word does not settle it", line)


async def bench(system: Spawned, lines: Sequence[Honest]) -> AsyncIterator[Row]:
    """Rows of the table."""
    told = await own_corrections(system, lines)
    yield told.row("own corrections that do not act at once")
    told = await agents_corrections(system, lines)
    yield told.row("an agent's corrections of a person: lost")
    note = f"of {told.made}, another memory first before: {', '.join(told.behind)}"
    behind = (float(len(told.behind)),)
    yield Row(f"found right behind it, over rank {RANK}", "number", behind, bar=Bar(0), note=note)
