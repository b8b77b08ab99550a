"""Envelopes are judged by the keys that the log tells of at their place (V5, V6, A2)."""

from __future__ import annotations

import pytest
from concord.type.v1 import type_pb2
from concord_governance.adapters.graph.client import GraphClient
from concord_governance.ports.graph import PrincipalKeys
from governed_steps import follower_held, key_change
from governed_world import (
    AGENT,
    HUMAN,
    STATUS,
    Party,
    edge_action,
    reason_of,
    refused,
)

PENDING, EXECUTED = STATUS.PROPOSAL_STATUS_PENDING, STATUS.PROPOSAL_STATUS_EXECUTED


@pytest.mark.parametrize("by", ["the old key", "the new key"])
async def test_no_paper_is_taken_while_a_key_changes(by: str, party: Party) -> None:
    """V6 A2 Graph has the new key before the log tells of it: what came in between would stand
    before its key, or behind it, and the honest log would be refused for ever."""
    other = await party.propose(edge_action())
    change, new = await key_change(party, HUMAN)
    old = party.human
    signer = old if by == "the old key" else new
    async with follower_held(party, change):
        envelope = party.consent(other, HUMAN, signer=signer)
        failure = await refused(party.approve(other, HUMAN, envelope))
        assert reason_of(failure) == ("KEYS_CHANGING", "")
    party.human = new

    assert (await party.get(change)).status == EXECUTED
    assert (await party.decide(other)).status == EXECUTED
    assert (await party.verified()).executed == 2


async def test_keys_read_before_a_change_judge_nothing_after_it(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 A2 The keys come from graph, the envelope goes into the ledger: between the two a whole
    change of a key fits, and then the envelope is not judged by the old one."""
    other = await party.propose(edge_action())
    change, new = await key_change(party, HUMAN)
    real = GraphClient.principal_keys

    async def read_then_changed(self: GraphClient, space: str) -> PrincipalKeys | None:
        found = await real(self, space)
        monkeypatch.setattr(GraphClient, "principal_keys", real)
        await party.decide(change)
        return found

    monkeypatch.setattr(GraphClient, "principal_keys", read_then_changed)

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
    assert {each.slot: each.revoked for each in waiting.consents} == {
        type_pb2.SLOT_AGENT: True,
        type_pb2.SLOT_HUMAN: False,
    }
    assert (await party.approve(proposal, AGENT)).status == EXECUTED
    assert (await party.verified()).executed == 2
