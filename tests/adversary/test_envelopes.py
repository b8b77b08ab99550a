"""Each check of a consent, proven by a forgery that this check alone refuses (V5, V6)."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from concord_client.trust import signing
from governed_steps import revoke, reword
from governed_world import (
    AGENT,
    HOUR,
    HUMAN,
    STATUS,
    Party,
    World,
    edge_action,
    reason_of,
    refused,
    request_id,
)
from writing import action_of, salt, to_change_key, to_upsert_node

DIGEST = "0" * 64
Forgery = Callable[[Party, proposal_pb2.Proposal], bytes]


def _said(**changed: Any) -> Forgery:
    return lambda party, proposal: party.consent(proposal, HUMAN, **changed)


def _touched(change: Callable[[dict[str, Any]], None]) -> Forgery:
    def forge(party: Party, proposal: proposal_pb2.Proposal) -> bytes:
        envelope = json.loads(party.consent(proposal, HUMAN))
        change(envelope)
        return json.dumps(envelope).encode()

    return forge


def _cut(envelope: dict[str, Any]) -> None:
    envelope["payload"] = envelope["payload"][:-8]


def _flip(envelope: dict[str, Any]) -> None:
    signature = bytearray(base64.b64decode(envelope["signatures"][0]["sig"]))
    signature[0] ^= 1
    envelope["signatures"][0]["sig"] = base64.b64encode(signature).decode()


FORGERIES: dict[str, tuple[Forgery, str]] = {
    "the agent signs for the human": (
        lambda party, proposal: party.consent(proposal, HUMAN, signer=party.agent),
        "signature",
    ),
    "the agent's key under the human's name": (
        lambda party, proposal: party.consent(
            proposal, HUMAN, signer=signing.Signer("ada", party.agent.key)
        ),
        "signature",
    ),
    "an alias of the human": (
        lambda party, proposal: party.consent(
            proposal, HUMAN, signer=signing.Signer("Ada", party.human.key)
        ),
        "principal",
    ),
    "a key of nobody": (
        lambda party, proposal: party.consent(
            proposal, HUMAN, signer=signing.Signer("ada", signing.generate_key())
        ),
        "signature",
    ),
    "another space": (_said(space="two"), "space"),
    "another proposal": (_said(proposal_id="another"), "proposal"),
    "another revision": (_said(revision=2), "proposal"),
    "other words": (_said(proposal_digest=DIGEST), "proposal_digest"),
    "another action": (_said(action_digest=DIGEST), "action_digest"),
    "other etags": (_said(etags={}), "etags"),
    "other rules": (_said(policy_digest=DIGEST), "policy_digest"),
    "expired": (_said(hours=0), "expiry"),
    "a guessable nonce": (_said(nonce=b"1"), "nonce"),
    "a truncated payload": (_touched(_cut), "envelope"),
    "a flipped signature": (_touched(_flip), "signature"),
    "no envelope": (lambda *_: b"{}", "envelope"),
    "a rejection for a consent": (
        lambda party, proposal: signing.sign_rejection(
            slot=HUMAN,
            signer=party.human,
            space="one",
            proposal_id=proposal.id,
            revision=1,
            reason="no",
        ),
        "envelope",
    ),
}


async def test_a_forged_consent_is_refused_by_its_check(party: Party) -> None:
    """V6 Replayed, swapped, truncated, self-signed: refused with the check, audited, no effect."""
    proposal = await party.propose(edge_action())
    given = party.consent(proposal, AGENT)
    await party.approve(proposal, AGENT, given)
    before = await party.state()
    for name, (forge, check) in (FORGERIES | {"given": (lambda *_: given, "nonce")}).items():
        count = len(await party.actions())
        failure = await refused(party.approve(proposal, HUMAN, forge(party, proposal)))

        assert reason_of(failure) == ("CONSENT_INVALID", check), name
        assert before == await party.state(), name
        (newest, *_) = await party.entries()
        assert (newest.blocked, newest.proposal_id) == (True, proposal.id), name
        assert (await party.actions())[count:] == ["CONSENT_REFUSED"], name
    assert (await party.approve(proposal, HUMAN)).status == STATUS.PROPOSAL_STATUS_EXECUTED


@pytest.mark.parametrize("word", ["framing", "trigger", "proposer"])
async def test_words_changed_after_the_first_consent_are_refused(
    word: str, party: Party, live: World
) -> None:
    """V3 V6 Both consents name the words: other ones before the second are refused."""
    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT)
    before = await party.state()

    reword(live.folder / "ledger.db", proposal.id, word)
    shown = await party.get(proposal)
    after = await party.approve(shown, HUMAN)

    assert shown.action_digest == proposal.action_digest
    assert shown.digest != proposal.digest
    assert after.status == STATUS.PROPOSAL_STATUS_FAILED
    assert after.failure_reason == "ERROR_REASON_CONSENT_INVALID"
    assert (after.failed_slot, after.failed_check) == (type_pb2.SLOT_AGENT, "proposal_digest")
    # graph's own entry of what it refused comes before or behind
    told = [json.loads(line) for line in (await party.export_log())[1:]]
    (failed,) = [leaf for leaf in told if leaf["action"] == "SMF_FAIL"]
    assert failed["properties"]["check"] == "AGENT proposal_digest"
    assert before == await party.state()


async def test_one_slot_twice_is_not_both(party: Party) -> None:
    """V6 Two consents of one slot count once: the decision asks for each required slot."""
    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT)

    again = await party.approve(proposal, AGENT)

    assert again.status == STATUS.PROPOSAL_STATUS_PENDING
    assert [each.slot for each in again.consents] == [type_pb2.SLOT_AGENT]


async def test_a_consent_that_ran_out_does_not_decide(live: World, party: Party) -> None:
    """V6 Consents expire: the other slot's answer finds the first one gone."""
    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT, party.consent(proposal, AGENT, hours=1))
    live.clock.pass_(2 * HOUR)

    after = await party.approve(proposal, HUMAN)

    assert after.status == STATUS.PROPOSAL_STATUS_PENDING
    assert await party.edge("agent", "VALUES", "honesty") is None


async def test_only_its_principal_revokes_a_consent(party: Party) -> None:
    """V6 Nobody takes back another's consent."""
    proposal = await party.propose(edge_action())
    consent = party.consent(proposal, AGENT)
    await party.approve(proposal, AGENT, consent)

    failure = await refused(revoke(party, proposal, HUMAN, consent))

    assert reason_of(failure) == ("CONSENT_INVALID", "nonce")


async def test_an_applied_consent_is_not_revoked(party: Party) -> None:
    """V6 What took effect stays."""
    proposal = await party.propose(edge_action())
    consent = party.consent(proposal, AGENT)
    await party.approve(proposal, AGENT, consent)
    await party.approve(proposal, HUMAN)

    failure = await refused(revoke(party, proposal, AGENT, consent))

    assert reason_of(failure) == ("PROPOSAL_STATE", "")
    assert await party.edge("agent", "VALUES", "honesty") is not None


async def test_a_slot_burns_no_other_slots_nonce(party: Party) -> None:
    """V6 A revocation that the agent signs takes back the agent's consent: naming the human's nonce
    at graph itself, with every server's key, it takes nothing back."""
    proposal = await party.propose(edge_action())
    consent = party.consent(proposal, HUMAN)
    await party.approve(proposal, HUMAN, consent)
    envelope = party.revocation(proposal, AGENT, consent)
    revocation = governed_pb2.RevokeConsentRequest(request_id=request_id(), revocation=envelope)
    await party.governed.RevokeConsent(revocation)

    done = await party.approve(proposal, AGENT)

    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    await party.verified()


async def test_a_key_changes_bilaterally(party: Party) -> None:
    """V5 A key is rotated by the old keys' consents and the new key's proof; then it counts."""
    new = signing.Signer("ada", signing.generate_key())
    changed = await party.decide(await party.propose(to_change_key(new)))
    assert changed.status == STATUS.PROPOSAL_STATUS_EXECUTED
    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT)

    failure = await refused(party.approve(proposal, HUMAN))
    assert reason_of(failure) == ("CONSENT_INVALID", "signature")

    party.human = new
    assert (await party.approve(proposal, HUMAN)).status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (await party.verified()).executed == 2


async def test_a_new_key_proves_itself(party: Party) -> None:
    """V5 Nobody is given a key that is not in its hands, nor the other slot's."""
    new = signing.generate_key()
    proof = json.loads(signing.sign_new_key(slot=HUMAN, principal="ada", space="one", key=new))
    _flip(proof)
    for envelope, check in (
        (json.dumps(proof).encode(), "signature"),
        (
            signing.sign_new_key(slot=HUMAN, principal="ada", space="one", key=party.agent.key),
            "distinct",
        ),
        (signing.sign_new_key(slot=HUMAN, principal="eve", space="one", key=new), "principal"),
        (signing.sign_new_key(slot=HUMAN, principal="ada", space="two", key=new), "space"),
    ):
        action = action_of(governed_pb2.ChangeKeyRequest(request_id=salt(), proof=envelope))

        failure = await refused(party.propose(action))

        assert reason_of(failure) == ("KEY_INVALID", check)


async def test_without_a_genesis_nobody_decides(live: World) -> None:
    """V5 Before the genesis nobody's consent counts, not even for what is descriptive."""
    party = live.party("two")
    proposal = await party.propose(edge_action(edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE))

    failure = await refused(party.approve(proposal, AGENT))

    assert failure.reason == "ERROR_REASON_GENESIS_MISSING"


async def test_a_clock_that_is_set_back_revives_no_consent(party: Party) -> None:
    """V6 SIGNING.md The time of a space only goes forward, in the log and in graph."""
    noted, changed = [await party.propose(edge_action(target=name)) for name in ("tea", "gin")]
    consents = {slot: party.consent(changed, slot, hours=1) for slot in (AGENT, HUMAN)}
    late = party.consent(noted, AGENT, hours=1)
    party.clock.pass_(2 * HOUR)
    node = type_pb2.Node(name="written then")
    await party.graph.UpsertNode(to_upsert_node(node))
    party.clock.pass_(-2 * HOUR)
    for slot, envelope in consents.items():  # the log has no entry of then
        done = await party.approve(changed, slot, envelope)
    party.clock.pass_(2 * HOUR)
    await party.propose(edge_action(target="ale"))
    party.clock.pass_(-2 * HOUR)

    failure = await refused(party.approve(noted, AGENT, late))

    assert (done.status, done.failed_check) == (STATUS.PROPOSAL_STATUS_FAILED, "expiry")
    assert failure.reason == "ERROR_REASON_CONSENT_INVALID"
    assert failure.metadata["check"] == "expiry"
