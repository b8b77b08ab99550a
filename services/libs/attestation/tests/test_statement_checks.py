"""Each check of a new key, a restore grant, an answer and a deletion, proven by a forgery."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from concord_attestation.consent import (
    REJECTION_TYPE,
    REVOCATION_TYPE,
    Answer,
    ConsentError,
    ConsentInvalid,
    DeletionInvalid,
    KeyInvalid,
    RestoreInvalid,
    SlotKeys,
)
from concord_attestation.deletion import verify_deletion
from concord_attestation.key_changes import KeyChange, verify_key_change
from concord_attestation.keys import key_id
from concord_attestation.restore import restored_governance_key
from concord_attestation.verify import (
    read_revocation,
    verify_consent,
    verify_revocation,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from signed_envelopes import (
    AGENT,
    ANYBODYS_SIGNATURE,
    DIGEST,
    GENESIS,
    GOVERNANCE,
    HUMAN,
    IDENTITY_POINT,
    NEXT,
    NOW,
    STRANGER,
    THERE,
    Payload,
    raw,
    url,
)
from statements import (
    CLOSED,
    TERMS,
    answer,
    check_answer,
    check_restore,
    consent,
    deletion,
    new_key,
    padded,
    restoring,
    sealed,
)


def low_order_key() -> bytes:
    """Prove to hold a key that anybody signs for."""
    envelope = json.loads(new_key(public_key=url(IDENTITY_POINT)))
    return json.dumps(envelope | {"signatures": [ANYBODYS_SIGNATURE]}).encode()


KEY_FORGERIES: dict[str, tuple[Callable[[], bytes], str]] = {
    "no JSON": (lambda: b"{", "envelope"),
    "too large": (lambda: padded(new_key(), 16_385), "envelope"),
    "another version": (lambda: new_key(version=2), "envelope"),
    "a key of other bytes": (lambda: new_key(public_key="?"), "envelope"),
    "another space's": (lambda: new_key(space="work"), "space"),
    "of no slot": (lambda: new_key(slot="OTHER"), "principal"),
    "of another principal": (lambda: new_key(principal="agent-1"), "principal"),
    "a key that anybody signs for": (low_order_key, "key"),
    "the same key": (lambda: new_key(HUMAN, public_key=url(raw(HUMAN))), "distinct"),
    "the other slot's key": (lambda: new_key(AGENT, public_key=url(raw(AGENT))), "distinct"),
    "governance's key": (
        lambda: new_key(GOVERNANCE, public_key=url(raw(GOVERNANCE))),
        "distinct",
    ),
    "signed by the old key": (lambda: new_key(HUMAN), "signature"),
    "a replaced key": (lambda: new_key(STRANGER, public_key=url(raw(STRANGER))), "retired_key"),
}
RETIRED = {key_id(raw(STRANGER))}


@pytest.mark.parametrize(("forge", "check"), KEY_FORGERIES.values(), ids=KEY_FORGERIES)
def test_a_forged_new_key_is_refused(forge: Callable[[], bytes], check: str) -> None:
    """V5 A new key is sound, its own, and in the hands of its slot's principal."""
    with pytest.raises(KeyInvalid) as caught:
        verify_key_change(forge(), GENESIS, RETIRED)

    assert caught.value.check == check
    assert caught.value.metadata["check"] == check


def test_a_new_key_holds() -> None:
    """V5 Each slot can have another key, and every check has a forgery."""
    told: Payload = {"slot": "AGENT", "principal": "agent-1"}

    assert verify_key_change(padded(new_key(), 16_384), GENESIS) == KeyChange(
        "HUMAN", SlotKeys.of("anna", raw(NEXT)), raw(HUMAN), (raw(NEXT),)
    )
    changed = verify_key_change(new_key(**told), GENESIS)
    assert (changed.slot, changed.holder) == ("AGENT", SlotKeys.of("agent-1", raw(NEXT)))


def test_a_closed_slot_takes_its_successor_alone() -> None:
    """V5 V6 Neither another key of its own, nor one of the slot that is open."""
    assert verify_key_change(new_key(), CLOSED, RETIRED).slot == "HUMAN"
    third = new_key(THERE, public_key=url(raw(THERE)))
    agents = new_key(slot="AGENT", principal="agent-1")
    for proof in (third, agents):
        verify_key_change(proof, GENESIS)
        with pytest.raises(KeyInvalid, match="retired_key"):
            verify_key_change(proof, CLOSED)
    assert CLOSED.closed_slots == ("HUMAN",)
    assert CLOSED.changing_key() == GENESIS


def test_a_closed_slot_deletes_no_space() -> None:
    """W7 The deletion takes both slots' signatures, and a retired key's is none."""
    verify_deletion(deletion(), CLOSED.changing_key(), NOW)
    with pytest.raises(DeletionInvalid, match="retired_key"):
        verify_deletion(deletion(), CLOSED, NOW)


def changed_key() -> dict[str, str]:
    """Return the keys after the human's was changed."""
    return {"AGENT": url(raw(AGENT)), "HUMAN": url(raw(NEXT))}


def restored(*keys: Ed25519PrivateKey, **changed: object) -> Callable[[], object]:
    """Return the check of a restore grant with some fields changed."""
    return lambda: check_restore(restoring(*keys, **changed))


SAME_KEYS = dict.fromkeys(changed_key(), url(raw(HUMAN)))
RESTORE_FORGERIES: dict[str, tuple[Callable[[], object], str]] = {
    "no JSON": (lambda: check_restore(b"{"), "envelope"),
    "too large": (lambda: check_restore(padded(restoring(), 16_385)), "envelope"),
    "an older version": (restored(version=1), "envelope"),
    "the former name": (restored(version=2), "envelope"),
    "a newer version": (restored(version=4), "envelope"),
    "no key": (restored(governance_key="?"), "key"),
    "a key that anybody signs for": (restored(governance_key=url(IDENTITY_POINT)), "key"),
    "the human's key in both slots": (restored(keys=SAME_KEYS), "distinct"),
    "governance is a slot's former key": (
        restored(AGENT, HUMAN, NEXT, keys=changed_key(), governance_key=url(raw(HUMAN))),
        "distinct",
    ),
    "governance is a slot": (restored(governance_key=url(raw(AGENT))), "distinct"),
    "one slot alone": (restored(AGENT), "signature"),
    "a stranger for the human": (restored(AGENT, STRANGER), "signature"),
    "a third signature": (restored(AGENT, HUMAN, STRANGER), "signature"),
    "without the present key": (restored(keys=changed_key()), "signature"),
    "without the genesis' key": (restored(AGENT, NEXT, keys=changed_key()), "signature"),
    "a genesis of one key": (
        lambda: check_restore(
            restoring(AGENT, HUMAN, NEXT), replace(GENESIS, human=SlotKeys.of("anna", raw(AGENT)))
        ),
        "distinct",
    ),
    "another space's": (restored(space="work"), "space"),
    "into another space": (lambda: check_restore(restoring(), space="work"), "space"),
    "another space's genesis": (
        lambda: check_restore(restoring(), replace(GENESIS, space="work")),
        "space",
    ),
    "another genesis": (restored(genesis_digest="0" * 64), "genesis"),
    "another export": (restored(export_digest="0" * 64), "export"),
    "over": (lambda: check_restore(restoring(), now_us=NOW + 3_600_000_000), "expiry"),
    "a time in another form": (restored(expire_time="2027-01-15T09:00Z"), "expiry"),
    "a short nonce": (restored(nonce=url(b"\x07" * 15)), "nonce"),
    "no nonce": (restored(nonce="?"), "nonce"),
}


@pytest.mark.parametrize(("forge", "check"), RESTORE_FORGERIES.values(), ids=RESTORE_FORGERIES)
def test_a_forged_restore_grant_is_refused(forge: Callable[[], object], check: str) -> None:
    """V5 G15 Both principals, their present keys too, this export, this genesis, this space, once
    and in time."""
    with pytest.raises(RestoreInvalid) as caught:
        forge()

    assert caught.value.check == check


def test_a_restore_grant_holds() -> None:
    """G15 Until the last microsecond, and with a changed key."""
    last = NOW + 3_600_000_000 - 1
    assert check_restore(padded(restoring(), 16_384), now_us=last).constitutive_digest == DIGEST
    found = check_restore(restoring(AGENT, HUMAN, NEXT, keys=changed_key()))
    assert (found.genesis.human.public_keys, found.nonce) == ({raw(NEXT)}, url(b"\x07" * 16))
    assert found.genesis.governance_key == raw(THERE)
    assert found.action_digest == DIGEST
    assert restored_governance_key(restoring()) == raw(THERE)
    with pytest.raises(RestoreInvalid):
        restored_governance_key(b"{}")


ANSWER_FORGERIES: dict[str, tuple[Callable[[], object], str, str]] = {
    "no JSON": (lambda: check_answer(b"{"), "", "envelope"),
    "too large": (lambda: check_answer(padded(answer(), 65_537)), "", "envelope"),
    "no object": (lambda: check_answer(sealed(REJECTION_TYPE, [], HUMAN)), "", "principal"),  # type: ignore[arg-type] # the point
    "of no slot": (lambda: check_answer(answer(slot="OTHER")), "", "principal"),
    "another type": (lambda: check_answer(answer(REVOCATION_TYPE)), "HUMAN", "envelope"),
    "another version": (lambda: check_answer(answer(version=2)), "HUMAN", "envelope"),
    "a stranger's": (lambda: check_answer(answer(key=STRANGER)), "HUMAN", "signature"),
    "by another name": (lambda: check_answer(answer(principal="agent-1")), "HUMAN", "principal"),
    "for another space": (lambda: check_answer(answer(space="work")), "HUMAN", "space"),
    "asked in another space": (lambda: check_answer(answer(), space="work"), "HUMAN", "space"),
    "of another proposal": (lambda: check_answer(answer(proposal_id="p")), "HUMAN", "proposal"),
    "of another revision": (lambda: check_answer(answer(revision=3)), "HUMAN", "proposal"),
    "a short nonce": (lambda: check_answer(answer(nonce="AAAA")), "HUMAN", "nonce"),
}


@pytest.mark.parametrize(
    ("forge", "slot", "check"), ANSWER_FORGERIES.values(), ids=ANSWER_FORGERIES
)
def test_a_forged_answer_is_refused(forge: Callable[[], object], slot: str, check: str) -> None:
    """V6 V7 A rejection or revocation is one slot's own, of this proposal's revision."""
    with pytest.raises(ConsentInvalid) as caught:
        forge()

    assert (caught.value.slot, caught.value.check) == (slot, check)


def test_an_answer_holds() -> None:
    """V6 V7 A verified answer has the signed fields, for every reader."""
    told = Answer("HUMAN", "anna", "p-1", 2, "no", url(b"\x05" * 16))

    assert check_answer(padded(answer(), 65_536)) == told
    assert verify_revocation(answer(REVOCATION_TYPE), GENESIS) == told
    assert read_revocation(answer(REVOCATION_TYPE, STRANGER)) == told
    with pytest.raises(ConsentInvalid):
        verify_revocation(answer(REVOCATION_TYPE, STRANGER), GENESIS)
    with pytest.raises(ConsentInvalid):
        read_revocation(answer())


@pytest.mark.parametrize(
    ("changed", "now_us", "check", "detail"),
    [
        ({}, NOW + 3_600_000_000, "expiry", "passed"),
        ({"expire_time": "soon"}, NOW, "expiry", "format"),
        ({"nonce": "AAAA"}, NOW, "nonce", ""),
        ({"revision": 3}, NOW, "proposal", ""),
        ({"hint": 1}, NOW, "envelope", "fields"),
    ],
)
def test_one_consent_is_checked_as_in_a_grant(
    changed: Payload, now_us: int, check: str, detail: str
) -> None:
    """V6 Governance takes the consents that graph takes, and names the defect of all others."""
    assert verify_consent(consent(), genesis=GENESIS, terms=TERMS, now_us=NOW).slot == "HUMAN"
    with pytest.raises(ConsentInvalid) as caught:
        verify_consent(consent(**changed), genesis=GENESIS, terms=TERMS, now_us=now_us)

    assert (caught.value.check, caught.value.detail) == (check, detail)


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        (b"", "missing"),
        (b"{", "envelope"),
        (deletion(AGENT), "envelope"),
        (padded(deletion(), 16_385), "envelope"),
        (deletion(version=2), "envelope"),
        (deletion(space="work"), "space"),
        (deletion(genesis_digest="0" * 64), "genesis"),
        (deletion(expire_time="2027-01-15T08:00:00.000000Z"), "expiry"),
        (deletion(expire_time="soon"), "expiry"),
        (deletion(AGENT, STRANGER), "signature"),
    ],
)
def test_a_forged_deletion_is_refused(statement: bytes, check: str) -> None:
    """W7 Both slots, this space, this genesis, in time."""
    verify_deletion(padded(deletion(), 16_384), GENESIS, NOW)
    verify_deletion(deletion(expire_time="2027-01-15T08:00:00.000000Z"), GENESIS, None)
    with pytest.raises(ConsentError) as caught:
        verify_deletion(statement, GENESIS, NOW)

    assert getattr(caught.value, "check", "") == check
