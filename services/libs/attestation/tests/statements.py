"""A new key, a restore grant, an answer, a consent and a deletion that hold, and their checks."""

import json
from dataclasses import replace
from typing import Any

import signed_envelopes
from concord_attestation.consent import (
    CONSENT_TYPE,
    DELETION_TYPE,
    KEY_TYPE,
    REJECTION_TYPE,
    RESTORE_TYPE,
    Answer,
    GenesisRecord,
    PrincipalKey,
    SlotKeys,
    Terms,
)
from concord_attestation.digest import etags_digest
from concord_attestation.keys import key_id
from concord_attestation.restore import verify_restore
from concord_attestation.verify import (
    verify_answer,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from signed_envelopes import (
    AGENT,
    DIGEST,
    GENESIS,
    HUMAN,
    LATER,
    NEXT,
    NOW,
    THERE,
    Payload,
    raw,
    url,
)


def sealed(kind: str, payload: Payload, *keys: Ed25519PrivateKey) -> bytes:
    """Return the envelope of a statement."""
    return json.dumps(signed_envelopes.sealed(kind, payload, *keys)).encode()


def padded(envelope: bytes, size: int) -> bytes:
    """Return the same envelope in so many bytes."""
    return envelope.ljust(size)


def new_key(key: Ed25519PrivateKey = NEXT, **changed: object) -> bytes:
    """Return the proof of the human's next key."""
    told = {"version": 1, "space": "home", "slot": "HUMAN", "principal": "anna"}
    return sealed(KEY_TYPE, {**told, "public_key": url(raw(NEXT))} | changed, key)


CLOSED = replace(
    GENESIS, human=SlotKeys("anna", (PrincipalKey(raw(HUMAN), "", (key_id(raw(NEXT)),)),))
)
"""Restored from a backup of before the human's key was changed."""


def restoring(*keys: Ed25519PrivateKey, **changed: object) -> bytes:
    """Return a restore grant, signed by both slots unless others are named."""
    told = {
        "version": 3,
        "space": "home",
        "genesis_digest": DIGEST,
        "export_digest": DIGEST,
        "constitutive_digest": DIGEST,
        "keys": {"AGENT": url(raw(AGENT)), "HUMAN": url(raw(HUMAN))},
        "governance_key": url(raw(THERE)),
        "nonce": url(b"\x07" * 16),
        "expire_time": LATER,
    }
    return sealed(RESTORE_TYPE, told | changed, *(keys or (AGENT, HUMAN)))


def check_restore(grant: bytes, genesis: GenesisRecord = GENESIS, **changed: Any) -> Any:
    """Verify a restore grant as graph does, with some arguments replaced."""
    told: Payload = {"space": "home", "export_digest": DIGEST, "now_us": NOW} | changed
    return verify_restore(grant, genesis=genesis, **told)


def answer(kind: str = REJECTION_TYPE, key: Ed25519PrivateKey = HUMAN, **changed: Any) -> bytes:
    """Return the human's answer to a proposal."""
    told = {
        **{"version": 1, "space": "home", "slot": "HUMAN", "principal": "anna"},
        **{"proposal_id": "p-1", "revision": 2, "reason": "no", "nonce": url(b"\x05" * 16)},
    }
    return sealed(kind, told | changed, key)


def check_answer(envelope: bytes, genesis: GenesisRecord = GENESIS, **changed: Any) -> Answer:
    """Verify an answer as governance does, with some arguments replaced."""
    told: Payload = {"space": "home", "proposal_id": "p-1", "revision": 2} | changed
    return verify_answer(envelope, REJECTION_TYPE, genesis=genesis, **told)


def consent(key: Ed25519PrivateKey = HUMAN, **changed: Any) -> bytes:
    """Return the human's consent, signed by this key."""
    told = {
        **{"version": 3, "space": "home", "slot": "HUMAN", "principal": "anna"},
        **{"proposal_id": "p-1", "revision": 2, "nonce": url(b"\x05" * 16)},
        **dict.fromkeys(("proposal_digest", "action_digest", "policy_digest"), DIGEST),
        **{"etags_digest": etags_digest({"a": "b"}), "expire_time": LATER},
    }
    return sealed(CONSENT_TYPE, told | changed, key)


TERMS = Terms("home", "p-1", 2, DIGEST, DIGEST, {"a": "b"}, DIGEST)


def deletion(*keys: Ed25519PrivateKey, **changed: Any) -> bytes:
    """Return the statement that the space is to be deleted, by both slots unless others sign."""
    told = {"version": 1, "space": "home", "genesis_digest": DIGEST, "expire_time": LATER}
    return sealed(DELETION_TYPE, told | changed, *(keys or (AGENT, HUMAN)))
