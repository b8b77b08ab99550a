"""Settling what is descriptive before the genesis, where nobody can sign (V5, decision 0090)."""

import json
from typing import Any

import pytest
from concord.governance.v1 import audit_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_governance.adapters.graph.client import GraphClient
from concord_governance.usecases.graph_feed import GraphFollower
from governed_world import AGENT, STATUS, Party, World, edge_action, refused
from settling import APPROVE, DESCRIPTIVE, REJECT, plain, settle


async def test_an_access_key_approves_what_is_descriptive_before_the_genesis(live: World) -> None:
    """V5 One call decides and executes; the log names who settled it, and how, and verifies."""
    party = live.party()
    owner = _speaking_for(live, "ada", "HUMAN")
    proposal = await plain(party)

    done = await settle(party, proposal, stub=owner)

    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert list(done.resolved_by) == ["ada"]
    assert await party.edge("agent", "VALUES", "tea") is not None
    assert await party.actions() == ["SMF_PROPOSE", "SMF_SETTLE", "SMF_EXECUTE"]
    _, settled, _ = await party.entries()
    assert (settled.actor, settled.principal) == (type_pb2.PRINCIPAL_KIND_HUMAN, "ada")
    assert _told(settled)["settlement"] == "APPROVE"
    assert settled.proposal_id == proposal.id
    assert (await party.verified()).executed == 1


async def test_an_access_key_rejects_with_a_reason_before_the_genesis(live: World) -> None:
    """V5 V7 A rejection says why, changes no item, and the log and the proposal keep its words."""
    party = live.party()
    proposal = await plain(party)

    without = await refused(settle(party, proposal, REJECT))
    done = await settle(party, proposal, REJECT, reason="It is coffee.")

    assert without.reason == "ERROR_REASON_FIELD_INVALID"
    assert done.status == STATUS.PROPOSAL_STATUS_REJECTED
    assert (list(done.resolved_by), done.resolution) == (["agent"], "It is coffee.")
    assert await party.edge("agent", "VALUES", "tea") is None
    newest, *_ = await party.entries()
    assert (_told(newest)["settlement"], newest.reason) == ("REJECT", "It is coffee.")
    assert (await party.verified()).executed == 0


async def test_what_was_settled_is_undone_by_settling(live: World) -> None:
    """V8 An undo is itself proposed and settled; after its retention it is not."""
    party = live.party()
    done = await settle(party, await plain(party))
    undo = await party.undo(done)

    assert (await settle(party, undo)).status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert await party.edge("agent", "VALUES", "tea") is None
    assert (await party.get(done)).status == STATUS.PROPOSAL_STATUS_UNDONE
    assert (await party.verified()).undone == 1


async def test_the_log_of_before_the_genesis_verifies_after_it(live: World) -> None:
    """V5 A2 The genesis ends the short way, and what was settled before stays verifiable."""
    party = live.party()
    await settle(party, await plain(party))
    await party.enrol()
    later = await party.propose(edge_action(target="toast", edge_type=DESCRIPTIVE))

    failure = await refused(settle(party, later))
    done = await party.approve(later, AGENT)

    assert failure.reason == "ERROR_REASON_GENESIS_EXISTS"
    assert "concord approve" in failure.message
    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (await party.verified()).executed == 2


async def test_a_repeated_request_settles_once(live: World) -> None:
    """G3 The same request gets the same proposal, and the log has one settlement."""
    party = live.party()
    proposal = await plain(party)

    await settle(party, proposal, request_id="settled-once")
    done = await settle(party, proposal, request_id="settled-once")

    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (await party.actions()).count("SMF_SETTLE") == 1


async def test_a_key_without_govern_settles_nothing(live: World) -> None:
    """V5 W7 Who may propose may not settle; the attempt is told."""
    party = live.party()
    proposal = await plain(party)
    writer = _speaking_for(live, "writer", "AGENT", {"proposals:write", "governance:read"})

    failure = await refused(settle(party, proposal, stub=writer))

    assert failure.reason == "ERROR_REASON_PERMISSION_MISSING"
    assert (await party.get(proposal)).status == STATUS.PROPOSAL_STATUS_PENDING
    newest, *_ = await party.entries()
    assert (newest.principal, newest.blocked, newest.proposal_id) == ("writer", True, proposal.id)


def _speaking_for(live: World, principal: str, kind: str, scopes: set[str] | None = None) -> Any:
    """Return the proposals of the space for another access key."""
    named = live.channel(principal, kind)
    if scopes is not None:
        named = live.governance.channel(Caller("one", principal, frozenset(scopes), kind))
    return type(live.party().proposals)(named)


def _told(entry: audit_pb2.AuditEntry) -> Any:
    return json.loads(entry.leaf)["properties"]


async def test_what_is_constitutive_waits_for_the_genesis(live: World) -> None:
    """V5 The refusal names the genesis and its command, is told, and neither way is open."""
    party = live.party()
    proposal = await party.propose(edge_action())

    for settlement in (APPROVE, REJECT):
        failure = await refused(settle(party, proposal, settlement, reason="We agree."))

        assert failure.reason == "ERROR_REASON_GENESIS_MISSING"
        assert "concord principal enrol" in failure.message
        newest, *_ = await party.entries()
        assert (newest.blocked, newest.reason) == (True, failure.reason)
    assert (await party.get(proposal)).status == STATUS.PROPOSAL_STATUS_PENDING


async def test_a_genesis_that_the_log_has_not_learnt_ends_the_short_way(
    live: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V5 Graph has the genesis before the log: from then on no key settles."""
    party = live.party()
    proposal = await plain(party)

    async def late(*_: object) -> None:
        """Keep graph's news from the log."""

    monkeypatch.setattr(GraphFollower, "apply", late)
    monkeypatch.setattr(Party, "entries", _as_after_a_genesis)
    await party.enrol()

    failure = await refused(settle(party, proposal))

    assert failure.reason == "ERROR_REASON_GENESIS_EXISTS"


async def test_a_genesis_between_both_reads_ends_the_short_way(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V5 A genesis after graph was asked is found in the log, in the transaction that decides."""
    proposal = await plain(party)

    async def before(*_: object) -> None:
        return None

    monkeypatch.setattr(GraphClient, "principal_keys", before)

    failure = await refused(settle(party, proposal))

    assert failure.reason == "ERROR_REASON_GENESIS_EXISTS"


async def _as_after_a_genesis(*_: object, **__: object) -> list[None]:
    return [None] * 3
