"""What is executed dies after each commit of graph and ledger, and is begun again (V6, A1)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_client.trust import signing
from dying import die
from governed_steps import RARE, key_change, keys_of, said
from governed_world import (
    AGENT,
    CONSTITUTIVE,
    HUMAN,
    STATUS,
    Party,
    World,
    edge_action,
    eventually,
    request_id,
)
from older_graph import Copies
from writing import salt, to_add

PENDING, EXECUTED = STATUS.PROPOSAL_STATUS_PENDING, STATUS.PROPOSAL_STATUS_EXECUTED
APPROVED, UNDONE = STATUS.PROPOSAL_STATUS_APPROVED, STATUS.PROPOSAL_STATUS_UNDONE
DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
MOST_COMMITS = 30
Asks = Callable[[Party], Awaitable[Any]]


@dataclass
class Deed:
    """One thing that is asked for, again and again until it is answered.

    `is_there` tells whether its effect is in graph, `is_told` whether the log and the ledger say
    so; `after` looks at what else must be when it is done.
    """

    ask: Asks
    is_there: Callable[[Party], Awaitable[bool]]
    is_told: Callable[[Party], Awaitable[bool]]
    after: Callable[[World, Party], Awaitable[None]] | None = None


async def executed(
    party: Party,
    proposal: proposal_pb2.Proposal,
    is_there: Callable[[Party], Awaitable[bool]],
    after: Callable[[World, Party], Awaitable[None]] | None = None,
) -> Deed:
    """Return the last consent that a proposal waits for, as a deed."""
    missing = AGENT
    if proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_BILATERAL:
        await party.approve(proposal, AGENT)
        missing = HUMAN
    request = proposal_pb2.ApproveProposalRequest(
        request_id=request_id(),
        proposal_id=proposal.id,
        consent=party.consent(proposal, missing),
    )

    async def is_told(asker: Party) -> bool:
        status = (await asker.get(proposal)).status
        told = await leaves(asker, proposal.id)
        done = [leaf["action"] for leaf in told].count("SMF_EXECUTE")
        assert status in (PENDING, EXECUTED), (await asker.get(proposal)).failure_reason
        assert done == (status == EXECUTED)
        return bool(done)

    return Deed(lambda asker: asker.proposals.ApproveProposal(request), is_there, is_told, after)


async def leaves(party: Party, proposal_id: str) -> list[dict[str, Any]]:
    """Return what the log tells of a proposal."""
    told = [json.loads(line) for line in (await party.export_log())[1:]]
    return [leaf for leaf in told if leaf["proposal"]["id"] == proposal_id]


async def a_change(party: Party) -> Deed:
    """Both agree on something."""
    name = salt()

    async def is_there(asker: Party) -> bool:
        return await asker.edge("agent", "VALUES", name) is not None

    return await executed(party, await party.propose(edge_action(target=name)), is_there)


async def a_change_by_the_agent(party: Party) -> Deed:
    """The agent decides alone."""
    name = salt()

    async def is_there(asker: Party) -> bool:
        return await asker.edge("agent", "VALUES", name) is not None

    action = edge_action(target=name, edge_type=DESCRIPTIVE)
    return await executed(party, await party.propose(action), is_there)


async def an_undo(party: Party) -> Deed:
    """Both take back what they agreed on; the original is marked with it."""
    name = salt()
    done = await party.decide(await party.propose(edge_action(target=name)))

    async def is_there(asker: Party) -> bool:
        gone = await asker.edge("agent", "VALUES", name) is None
        told = [leaf["action"] for leaf in await leaves(asker, done.id)].count("SMF_UNDO")
        assert told == ((await asker.get(done)).status == UNDONE) == gone
        return gone

    return await executed(party, await party.undo(done), is_there)


async def a_key(party: Party) -> Deed:
    """The human gets another key: what comes after is signed with it."""
    change, new = await key_change(party, HUMAN)

    async def is_there(asker: Party) -> bool:
        return signing.public_bytes(new.key) in await keys_of(asker)

    async def after(_: World, asker: Party) -> None:
        asker.human = new

    return await executed(party, change, is_there, after)


async def an_erasure(party: Party) -> Deed:
    """Both have erased what they had agreed on: no word of it is left, and graph is told so."""
    memory = type_pb2.Memory(
        id=f"m/{request_id()}", content=f"The {RARE} tea.", edge_type=CONSTITUTIVE
    )
    await party.decide(await party.propose(to_add(memory)))
    found = await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory.id))
    erase = memory_pb2.EraseMemoryRequest(
        request_id=salt(), id=memory.id, etag=found.memory.etag, reason="asked to"
    )
    proposal = await party.propose(erase)

    async def receipt(asker: Party) -> memory_pb2.GetEraseReceiptResponse:
        asked = memory_pb2.GetEraseReceiptRequest(memory_id=memory.id)
        return await asker.memory.GetEraseReceipt(asked)

    async def is_there(asker: Party) -> bool:
        return (await receipt(asker)).status == type_pb2.LOOKUP_STATUS_FOUND

    async def after(live: World, asker: Party) -> None:
        await eventually(lambda: receipt(asker), lambda it: it.receipt.HasField("complete_time"))
        assert said(live.folder) == []

    return await executed(party, proposal, is_there, after)


async def a_revocation(party: Party) -> Deed:
    """The agent takes its consent back: graph burns its nonce. It may consent anew."""
    name = salt()
    proposal = await party.propose(edge_action(target=name))
    consent = party.consent(proposal, AGENT)
    await party.approve(proposal, AGENT, consent)
    envelope = party.revocation(proposal, AGENT, consent)
    request = proposal_pb2.RevokeConsentRequest(
        request_id=request_id(), proposal_id=proposal.id, revocation=envelope
    )

    async def is_there(asker: Party) -> bool:
        return [each.revoked for each in (await asker.get(proposal)).consents] == [True]

    async def is_told(asker: Party) -> bool:
        told = [leaf["action"] for leaf in await leaves(asker, proposal.id)].count("SMF_REVOKE")
        assert told <= 1
        return bool(told)

    async def after(_: World, asker: Party) -> None:
        assert (await asker.approve(proposal, HUMAN)).status == PENDING
        assert await asker.edge("agent", "VALUES", name) is None
        assert (await asker.approve(proposal, AGENT)).status == EXECUTED
        assert await asker.edge("agent", "VALUES", name) is not None

    return Deed(lambda asker: asker.proposals.RevokeConsent(request), is_there, is_told, after)


DEEDS = (a_change, a_change_by_the_agent, an_undo, a_key, an_erasure, a_revocation)


async def settled(live: World, party: Party) -> None:
    """Wait until every decision has its end and the log tells of all that graph did."""

    async def is_settled() -> bool:
        open_ones = await party.proposals.ListProposals(
            proposal_pb2.ListProposalsRequest(statuses=[APPROVED])
        )
        graph = live.app._graph
        *_, newest = [each async for each in graph.changes(party.space, 0)]
        told = await live.app._follower.wait_for(party.space, newest.epoch, newest.seq)
        return told and not open_ones.proposals

    await eventually(is_settled)


async def demand_whole(live: World, party: Party, deed: Deed) -> bool:
    """Demand that a deed's effect is there with its entry, or neither; return whether it is."""
    await settled(live, party)
    there = await deed.is_there(party)

    assert await deed.is_told(party) == there
    await party.verified()
    return there


@pytest.mark.parametrize("prepare", DEEDS, ids=lambda deed: deed.__name__)
async def test_what_dies_after_any_commit_is_whole_after_it(
    prepare: Callable[[Party], Awaitable[Deed]], tmp_path: Path
) -> None:
    """V6 V8 A1 M4 Must hold: the system dies after its first commit for a deed, after its second,
    and so on to its last; begun again there is no effect without its entry, none is told without
    its effect, and asking once more comes to the end, once."""
    scene, deed, outcomes, alive = Copies(tmp_path), None, [], False
    for commits in range(MOST_COMMITS):
        async with AsyncExitStack() as life:
            patch = life.enter_context(pytest.MonkeyPatch.context())  # to the end of the system
            live, party = await life.enter_async_context(scene.enrolled())
            if deed is not None:
                outcomes.append(await demand_whole(live, party, deed))
                await deed.ask(party)
                assert await demand_whole(live, party, deed)
                if deed.after is not None:
                    await deed.after(live, party)
            if alive:
                break
            deed = await prepare(party)
            await settled(live, party)
            death = die(live, patch, commits)
            try:
                await deed.ask(party)
                alive = not death.came
            except grpc.aio.AioRpcError:
                assert death.came
    else:
        raise AssertionError("it never came to its end")

    assert outcomes[0] is False
    assert outcomes == sorted(outcomes)
    assert len(outcomes) > 3
