"""Whoever has a key that was replaced, and restores a backup of before, signs nothing (V5, V6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from concord.governance.v1 import principal_pb2
from concord.type.v1 import type_pb2
from concord_attestation.keys import key_id
from concord_client.trust import signing
from concord_client.trust.audit.log import LogInvalid
from concord_governance.usecases import decision_guards
from governed_steps import asked_with
from governed_world import AGENT, HUMAN, STATUS, Party, edge_action, reason_of, refused
from restored_stores import (
    Since,
    change,
    change_to,
    changed_since,
    known_of,
    restorable,
    restored,
)

EXECUTED, FAILED = STATUS.PROPOSAL_STATUS_EXECUTED, STATUS.PROPOSAL_STATUS_FAILED
REFUSED = ("CONSENT_INVALID", "retired_key")


@pytest.fixture
async def since(tmp_path: Path) -> Since:
    """A system in which the human's key was changed twice after the backup."""
    return await changed_since(tmp_path, [HUMAN, HUMAN])


async def test_a_retired_key_signs_nothing_after_a_restore(since: Since) -> None:
    """V5 V6 W7 Consent, rejection and revocation by it are refused by name, at governance and at
    graph; what the agent alone decides goes on, and the restore says which slot is closed."""
    assert since.restored.closed_slots == (("one", HUMAN),)
    async with since.scene.world() as live:
        party = since.party(live)
        proposal = await party.propose(edge_action(target="power"))
        consent = party.consent(proposal, AGENT)
        await party.approve(proposal, AGENT, consent)
        for signer in (since.retired[HUMAN], since.between[HUMAN], since.newest[HUMAN]):
            signed = party.consent(proposal, HUMAN, signer=signer)
            assert reason_of(await refused(party.approve(proposal, HUMAN, signed))) == REFUSED
        assert reason_of(await refused(party.reject(proposal, HUMAN))) == REFUSED
        revocation = party.revocation(proposal, HUMAN, party.consent(proposal, HUMAN))
        call = party.governed.RevokeConsent(asked_with(revocation))
        assert reason_of(await refused(call)) == REFUSED
        alone = edge_action(target="tea", edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE)
        assert (await party.decide(await party.propose(alone))).status == EXECUTED
        assert await party.edge("agent", "VALUES", "power") is None
        await party.verified()


async def test_graph_itself_refuses_a_grant_by_a_retired_key(
    since: Since, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 No server's key suffices: governance that takes the consent and signs the grant changes
    nothing."""
    monkeypatch.setattr(decision_guards, "keys_for", lambda _, genesis: genesis.changing_key())
    async with since.scene.world() as live:
        party = since.party(live)
        done = await party.decide(await party.propose(edge_action(target="power")))

        assert done.status == FAILED
        assert await party.edge("agent", "VALUES", "power") is None
        await party.verified()


async def test_a_retired_key_makes_itself_no_other(since: Since) -> None:
    """V5 V6 A closed slot takes the key that counted last, and neither one of its holder's own, nor
    the one between, nor a new key of the slot that is open."""
    async with since.scene.world() as live:
        party = since.party(live)
        own = signing.Signer("ada", signing.generate_key())
        agents = signing.Signer("agent", signing.generate_key())
        for slot, key in ((HUMAN, own), (HUMAN, since.between[HUMAN]), (AGENT, agents)):
            reason = reason_of(await refused(change_to(party, slot, key)))
            assert reason == ("KEY_INVALID", "retired_key")


async def test_the_newer_key_opens_the_slot(since: Since) -> None:
    """V5 V6 W7 Proven by itself and consented to by both, it counts again, and the log keeps every
    rule: then it signs, and the retired one is any other key."""
    newest = since.newest[HUMAN]
    async with since.scene.world() as live:
        party = since.party(live)
        shown = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
        agent, human = shown.slots
        assert list(agent.successor_digests) == []
        assert list(human.successor_digests) == [key_id(signing.public_bytes(newest.key))]
        again = await party.decide(await change_to(party, HUMAN, newest))
        assert again.status == EXECUTED
        shown = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
        assert not shown.slots[1].successor_digests

        proposal = await party.propose(edge_action(target="honesty"))
        await party.approve(proposal, AGENT)
        failure = await refused(party.approve(proposal, HUMAN))
        assert reason_of(failure) == ("CONSENT_INVALID", "signature")
        party.human = newest
        assert (await party.approve(proposal, HUMAN)).status == EXECUTED
        assert (await party.verified()).executed == 2


async def test_both_slots_open_again_one_after_the_other(tmp_path: Path) -> None:
    """V5 V6 With both closed, each change to a successor takes both retired keys, and nothing else
    is signed before the second."""
    since = await changed_since(tmp_path, [AGENT, HUMAN])
    assert since.restored.closed_slots == (("one", AGENT), ("one", HUMAN))
    async with since.scene.world() as live:
        party = since.party(live)
        assert (await party.decide(await change_to(party, AGENT, since.newest[AGENT]))).status == (
            EXECUTED
        )
        party.agent = since.newest[AGENT]
        proposal = await party.propose(edge_action(target="honesty"))
        await party.approve(proposal, AGENT)
        assert reason_of(await refused(party.approve(proposal, HUMAN))) == REFUSED
        assert (await party.decide(await change_to(party, HUMAN, since.newest[HUMAN]))).status == (
            EXECUTED
        )
        party.human = since.newest[HUMAN]
        assert (await party.approve(proposal, HUMAN)).status == EXECUTED
        assert (await party.verified()).executed == 3


async def test_a_restored_store_tells_the_next_one(since: Since) -> None:
    """V5 W7 Restored once more, by the receipts of a restored store alone: it was told of the
    changes, and none of them is in its own record."""
    again = restorable(since.scene, since.backup, "again")

    assert (await restored(again, [known_of(since.scene.folder)])).closed_slots == (("one", HUMAN),)


async def test_a_replaced_key_does_not_come_back(party: Party) -> None:
    """V5 Without a restore, too: receipts say of it that it was replaced."""
    first = party.human
    await change(party, HUMAN)
    failure = await refused(change_to(party, HUMAN, first))

    assert reason_of(failure) == ("KEY_INVALID", "retired_key")


async def test_without_receipts_a_kept_checkpoint_alone_tells(since: Since) -> None:
    """V5 A2 What the restore does not stop (decision 0009): nobody told the system of the changes,
    so the retired key signs. A client that kept a checkpoint of then refuses the log."""
    untold = restorable(since.scene, since.backup, "untold")
    assert (await restored(untold, [])).closed_slots == ()
    async with untold.world() as live:
        party = since.party(live)
        assert (await party.decide(await party.propose(edge_action()))).status == EXECUTED
        await party.verified()
        with pytest.raises(LogInvalid):
            await party.verified(checkpoint=since.checkpoint)
