"""A revocation is told by graph, whoever asked for it, once and in its place (V6, A1, A2)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from concord.governance.v1 import proposal_pb2
from concord.type.v1 import type_pb2
from concord.type.v1.type_pb2 import SLOT_AGENT, SLOT_HUMAN
from concord_governance.adapters.graph.client import GraphClient
from concord_governance.domain.errors import GraphUnavailable
from concord_governance.ports.graph import FeedMessage
from concord_governance.usecases.graph_feed import GraphFollower
from governed_steps import asked_with, ended, key_change, lost, never, revocations, revoke
from governed_world import (
    AGENT,
    HUMAN,
    STATUS,
    Party,
    edge_action,
    reason_of,
    refused,
    request_id,
)
from imported_world import moved

PENDING, EXECUTED = STATUS.PROPOSAL_STATUS_PENDING, STATUS.PROPOSAL_STATUS_EXECUTED
FAILED = STATUS.PROPOSAL_STATUS_FAILED
DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
CONSENT_INVALID = ("CONSENT_INVALID", "nonce")


async def given(party: Party, slot: str, **fields: Any) -> tuple[proposal_pb2.Proposal, bytes]:
    """Propose something and give one slot's consent to it."""
    proposal = await party.propose(edge_action(**fields))
    consent = party.consent(proposal, slot)
    return await party.approve(proposal, slot, consent), consent


@asynccontextmanager
async def unfollowed() -> AsyncIterator[None]:
    """Let nothing of graph's reach the log."""

    async def held(_self: GraphFollower, _news: FeedMessage) -> None:
        raise GraphUnavailable("held")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GraphFollower, "apply", held)
        yield


async def test_a_revocation_is_told_once_in_graphs_order(party: Party) -> None:
    """V6 A1 What governance had graph burn is one entry: graph's own, with the signed envelope."""
    proposal, consent = await given(party, AGENT)
    envelope = party.revocation(proposal, AGENT, consent)

    after = await revoke(party, proposal, AGENT, consent)

    (told,) = await revocations(party)
    assert [each.revoked for each in after.consents] == [True]
    assert json.dumps(told["properties"]["envelope"], sort_keys=True) == json.dumps(
        json.loads(envelope), sort_keys=True
    )
    assert (told["actor"], told["principal"]) == (AGENT, "agent")
    assert told["properties"]["graph_seq"] > 3
    assert told["properties"]["caller"] == "governance"
    await party.verified()


async def test_what_is_revoked_at_graph_itself_is_in_the_log(party: Party) -> None:
    """V6 A1 Graph's own door: the log tells of it, and the consent is gone in the ledger, too."""
    proposal, consent = await given(party, AGENT)

    await party.governed.RevokeConsent(asked_with(party.revocation(proposal, AGENT, consent)))
    (told,) = await revocations(party)

    assert (told["proposal"]["id"], told["properties"]["caller"]) == (proposal.id, "agent")
    assert [each.revoked for each in (await party.get(proposal)).consents] == [True]
    again = await refused(revoke(party, proposal, AGENT, consent))
    assert reason_of(again) == CONSENT_INVALID
    assert (await party.approve(proposal, HUMAN)).status == PENDING
    assert (await party.approve(proposal, AGENT)).status == EXECUTED
    assert len(await revocations(party)) == 1
    assert (await party.verified()).executed == 1


async def test_a_decision_on_what_graph_was_told_is_revoked_fails(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 A2 Decided, then revoked at graph itself: nothing is done, the decision is FAILED."""
    real = GraphClient.apply
    monkeypatch.setattr(GraphClient, "apply", never)
    proposal, consent = await given(party, AGENT)
    await party.approve(proposal, HUMAN)
    await party.governed.RevokeConsent(asked_with(party.revocation(proposal, AGENT, consent)))
    await revocations(party)
    monkeypatch.setattr(GraphClient, "apply", real)

    done = await ended(party, proposal)

    assert (done.status, done.failed_check) == (FAILED, "nonce")
    assert await party.edge("agent", "VALUES", "honesty") is None
    assert (await party.verified()).executed == 0


async def test_a_decision_made_before_the_log_heard_of_the_revocation_fails(party: Party) -> None:
    """V6 A2 The other slot answers while nothing of graph's reaches the log: graph has the last
    word, and the log tells a decision, its failure and the revocation that was the reason."""
    proposal, consent = await given(party, AGENT)
    async with unfollowed():
        await party.governed.RevokeConsent(asked_with(party.revocation(proposal, AGENT, consent)))
        done = await party.approve(proposal, HUMAN)
    await revocations(party)

    assert (done.status, done.failed_check) == (FAILED, "nonce")
    assert await party.edge("agent", "VALUES", "honesty") is None
    assert {each.slot: each.revoked for each in (await party.get(proposal)).consents} == {
        SLOT_AGENT: True,
        SLOT_HUMAN: False,
    }
    assert (await party.verified()).executed == 0


async def test_a_consent_that_was_revoked_before_it_came_never_counts(party: Party) -> None:
    """V6 A2 Its nonce is burnt: governance takes no such consent, and decides nothing by it."""
    proposal = await party.propose(edge_action())
    consent = party.consent(proposal, AGENT)
    await party.governed.RevokeConsent(asked_with(party.revocation(proposal, AGENT, consent)))
    await revocations(party)

    failure = await refused(party.approve(proposal, AGENT, consent))

    assert reason_of(failure) == CONSENT_INVALID
    assert (await party.decide(proposal)).status == EXECUTED
    assert (await party.verified()).executed == 1


async def test_a_revocation_of_nothing_that_counts_is_told_and_does_nothing(party: Party) -> None:
    """V6 A2 At graph itself anything can be taken back that its principal signs for: of what
    ended, of what the agent decided alone, of a proposal that is none. The log stays honest."""
    rejected, first = await given(party, AGENT)
    await party.reject(rejected, HUMAN)
    alone, second = await given(party, AGENT, target="tea", edge_type=DESCRIPTIVE)
    replaced, third = await given(party, AGENT, target="coffee")
    await party.approve(replaced, AGENT)
    nobody = party.revocation(alone, HUMAN, third, proposal_id="no proposal", revision=7)
    envelopes = [
        party.revocation(rejected, AGENT, first),
        party.revocation(alone, AGENT, second),
        party.revocation(replaced, AGENT, third),
        nobody,
    ]
    for envelope in envelopes:
        await party.governed.RevokeConsent(asked_with(envelope))

    told = await revocations(party, len(envelopes))

    assert [leaf["proposal"]["id"] for leaf in told] == [
        *(rejected.id, alone.id, replaced.id),
        "no proposal",
    ]
    assert [each.revoked for each in (await party.get(alone)).consents] == [False]
    assert (await party.approve(replaced, HUMAN)).status == EXECUTED
    assert (await party.verified()).executed == 2


async def test_what_the_agent_decided_alone_and_took_back_is_done_once_decided(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 A2 Graph checks no nonce for it, so that nobody could say what came first: its revocation
    at graph itself is told and changes nothing, and the log verifies."""
    real = GraphClient.apply
    monkeypatch.setattr(GraphClient, "apply", never)
    alone, consent = await given(party, AGENT, edge_type=DESCRIPTIVE)
    await party.governed.RevokeConsent(asked_with(party.revocation(alone, AGENT, consent)))
    await revocations(party)
    monkeypatch.setattr(GraphClient, "apply", real)

    assert (await ended(party, alone)).status == EXECUTED
    assert (await party.verified()).executed == 1


async def test_a_revocation_by_a_new_key_comes_before_its_change_is_told_as_done(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V5 V6 A2 Graph has the new key with its write, and takes a revocation by it before the ledger
    says EXECUTED: the log is in graph's order, and verifies."""
    proposal, consent = await given(party, HUMAN)
    change, new = await key_change(party, HUMAN)
    real = GraphClient.apply
    monkeypatch.setattr(GraphClient, "apply", lost(real))
    await party.decide(change)
    old, party.human = party.human, new
    envelope = party.revocation(proposal, HUMAN, consent)
    await party.governed.RevokeConsent(asked_with(envelope))
    await revocations(party)
    assert (await party.get(change)).status == STATUS.PROPOSAL_STATUS_APPROVED
    stale = party.revocation(change, HUMAN, consent, signer=old)
    failure = await refused(party.governed.RevokeConsent(asked_with(stale)))
    monkeypatch.setattr(GraphClient, "apply", real)

    assert reason_of(failure) == ("CONSENT_INVALID", "signature")
    assert (await ended(party, change)).status == EXECUTED
    assert (await party.verified()).executed == 1


async def test_a_moved_space_tells_no_revocation_of_the_old_place(
    tmp_path: Path, party: Party
) -> None:
    """V6 G15 A2 What was taken back elsewhere is in the log of that place; here its nonce is burnt
    and the log goes on after the import."""
    proposal, consent = await given(party, AGENT)
    await revoke(party, proposal, AGENT, consent)
    async with moved(tmp_path, party, party.clock) as (_, guest, _):
        envelope = guest.revocation(proposal, AGENT, consent)
        failure = await refused(guest.governed.RevokeConsent(asked_with(envelope)))
        here, fresh = await given(guest, AGENT)
        await revoke(guest, here, AGENT, fresh)

        (told,) = await revocations(guest)

        assert reason_of(failure) == CONSENT_INVALID
        assert told["proposal"]["id"] == here.id
        await guest.verified()


async def test_a_revocation_that_the_log_has_not_heard_of_is_no_reply(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 A1 Who asks is answered when the entry is there, and may ask again until then."""
    monkeypatch.setattr("concord_governance.usecases.graph_feed._REACH_SECONDS", 0.1)
    proposal, consent = await given(party, AGENT)
    envelope = party.revocation(proposal, AGENT, consent)
    request = proposal_pb2.RevokeConsentRequest(
        request_id=request_id(), proposal_id=proposal.id, revocation=envelope
    )
    async with unfollowed():
        failure = await refused(party.proposals.RevokeConsent(request))

    assert reason_of(failure) == ("UNAVAILABLE", "")
    await revocations(party)
    reply = await party.proposals.RevokeConsent(request)
    assert [each.revoked for each in reply.proposal.consents] == [True]
    other = proposal_pb2.RevokeConsentRequest(
        request_id=request.request_id, proposal_id="other", revocation=envelope
    )
    reused = await refused(party.proposals.RevokeConsent(other))
    assert reason_of(reused) == ("REQUEST_ID_REUSED", "")
