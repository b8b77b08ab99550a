"""Papers are judged by the keys that the log tells of at their place (V5, V6, A2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from concord.governance.v1 import principal_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2
from concord_attestation.consent import GenesisRecord
from concord_client.trust import signing
from concord_governance.ports import FeedMessage
from concord_governance.usecases.decisions import Decisions
from concord_governance.usecases.graph_feed import GraphFollower
from governed_world import (
    AGENT,
    HUMAN,
    STATUS,
    Party,
    edge_action,
    eventually,
    reason_of,
    refused,
    salt,
)

PENDING, EXECUTED = STATUS.PROPOSAL_STATUS_PENDING, STATUS.PROPOSAL_STATUS_EXECUTED


async def key_change(party: Party, slot: str) -> tuple[proposal_pb2.Proposal, signing.Signer]:
    """Propose another key for a slot; return the proposal and who signs by the new key."""
    principal, key = party.signer(slot).principal, signing.generate_key()
    proof = signing.sign_new_key(slot=slot, principal=principal, space=party.space, key=key)
    change = governed_pb2.ChangeKeyRequest(request_id=salt(), proof=proof)
    proposal = await party.propose(governed_pb2.GovernedAction(change_key=change))
    return proposal, signing.Signer(principal, key)


async def keys_of(party: Party) -> list[bytes]:
    """Return the slots' keys as graph has them."""
    known = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    return [slot.public_key for slot in known.slots]


@asynccontextmanager
async def follower_held(party: Party, proposal: proposal_pb2.Proposal) -> AsyncIterator[None]:
    """Decide while nothing of graph's reaches the log; within, graph has done it."""
    real, told = GraphFollower.apply, asyncio.Event()
    before = await keys_of(party)

    async def held(self: GraphFollower, news: FeedMessage) -> None:
        await told.wait()
        await real(self, news)

    with pytest.MonkeyPatch.context() as patch:
        await party.approve(proposal, AGENT)
        patch.setattr(GraphFollower, "apply", held)
        deciding = asyncio.create_task(party.approve(proposal, HUMAN))
        try:
            await eventually(lambda: keys_of(party), lambda now: now != before)
            yield
        finally:
            told.set()
            await deciding


@pytest.mark.parametrize("by", ["the old key", "the new key"])
async def test_no_paper_is_taken_while_a_key_changes(by: str, party: Party) -> None:
    """V6 A2 Graph has the new key before the log tells of it: what came in between would stand
    before its key, or behind it, and the honest log would be refused for ever."""
    other = await party.propose(edge_action())
    change, new = await key_change(party, HUMAN)
    old = party.human
    signer = old if by == "the old key" else new
    async with follower_held(party, change):
        paper = party.consent(other, HUMAN, signer=signer)
        failure = await refused(party.approve(other, HUMAN, paper))
        assert reason_of(failure) == ("KEYS_CHANGING", "")
    party.human = new

    assert (await party.get(change)).status == EXECUTED
    assert (await party.decide(other)).status == EXECUTED
    assert (await party.verified()).executed == 2


async def test_keys_read_before_a_change_judge_nothing_after_it(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 A2 The keys come from graph, the paper goes into the ledger: between the two a whole
    change of a key fits, and then the paper is not judged by the old one."""
    other = await party.propose(edge_action())
    change, new = await key_change(party, HUMAN)
    real = Decisions._genesis

    async def read_then_changed(self: Decisions, space: str) -> GenesisRecord:
        found = await real(self, space)
        monkeypatch.setattr(Decisions, "_genesis", real)
        await party.decide(change)
        return found

    monkeypatch.setattr(Decisions, "_genesis", read_then_changed)

    failure = await refused(party.approve(other, HUMAN))

    assert reason_of(failure) == ("KEYS_CHANGING", "")
    party.human = new
    assert (await party.decide(other)).status == EXECUTED
    assert (await party.verified()).executed == 2


async def test_a_consent_goes_with_its_key(party: Party) -> None:
    """V6 The decision re-checks everything: a key is changed because somebody else may have it, so
    what it signed is no consent any more, and nothing is decided by it."""
    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT)
    change, new = await key_change(party, AGENT)
    assert (await party.decide(change)).status == EXECUTED
    party.agent = new

    waiting = await party.approve(proposal, HUMAN)

    assert waiting.status == PENDING
    assert {each.slot: each.revoked for each in waiting.consents} == {AGENT: True, HUMAN: False}
    assert (await party.approve(proposal, AGENT)).status == EXECUTED
    assert (await party.verified()).executed == 2
