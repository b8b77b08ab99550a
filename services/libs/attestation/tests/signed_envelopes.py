"""Keys, and envelopes that tests sign with code of their own: exact bytes, also wrong ones."""

from base64 import b64decode, b64encode, urlsafe_b64encode
from hashlib import sha256
from typing import Any  # payload fields of any JSON type, on purpose also wrong ones

import rfc8785
from concord_attestation.consent import GenesisRecord, SlotKeys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Payload = dict[str, Any]

AGENT, HUMAN, GOVERNANCE, STRANGER, THERE, NEXT = (
    Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in range(1, 7)
)
NOW = 1_800_000_000_000_000  # 2027-01-15T08:00:00Z
LATER = "2027-01-15T09:00:00.000000Z"
DIGEST = sha256(b"x").hexdigest()
IDENTITY_POINT = b"\x01" + bytes(31)
ANYBODYS_SIGNATURE: Payload = {
    "keyid": sha256(IDENTITY_POINT).hexdigest(),
    "sig": b64encode(IDENTITY_POINT + bytes(32)).decode(),
}
"""Signs everything for the identity point, as anybody can: R is the identity, S is zero."""


def raw(key: Ed25519PrivateKey) -> bytes:
    """Return the raw public key."""
    return key.public_key().public_bytes_raw()


def url(data: bytes) -> str:
    """Spell bytes as base64url without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def signature(kind: str, payload: bytes, key: Ed25519PrivateKey) -> Payload:
    """Sign the bytes that DSSE defines (PAE)."""
    signed = b"DSSEv1 %d %b %d %b" % (len(kind), kind.encode(), len(payload), payload)
    return {"keyid": sha256(raw(key)).hexdigest(), "sig": b64encode(key.sign(signed)).decode()}


def seal(kind: str, payload: bytes, *keys: Ed25519PrivateKey) -> Payload:
    """Put exact bytes into an envelope."""
    signatures = [signature(kind, payload, key) for key in keys]
    return {
        "payload": b64encode(payload).decode(),
        "payloadType": kind,
        "signatures": signatures,
    }


def sealed(kind: str, payload: Payload, *keys: Ed25519PrivateKey) -> Payload:
    """Put the canonical form of a payload into an envelope."""
    return seal(kind, rfc8785.dumps(payload), *keys)


def respelled(envelope: Payload, old: str, new: str, *keys: Ed25519PrivateKey) -> Payload:
    """Sign another spelling of the same payload."""
    text = b64decode(envelope["payload"]).decode()
    assert old in text
    return seal(envelope["payloadType"], text.replace(old, new, 1).encode(), *keys)


GENESIS = GenesisRecord(
    space="home",
    agent=SlotKeys.of("agent-1", raw(AGENT)),
    human=SlotKeys.of("anna", raw(HUMAN)),
    governance_key=raw(GOVERNANCE),
    digest=DIGEST,
)
