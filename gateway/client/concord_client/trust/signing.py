"""The statements that a principal signs: DSSE envelopes over RFC 8785 JSON, Ed25519 keys.

Graph checks every envelope by code of its own, and this module shares none with it. Keys never
leave the calling process.
"""

import json
import secrets
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from concord_client.trust.digests import Json, etags_digest

CONSENT_TYPE = "application/vnd.concord.consent.v1+json"
REJECTION_TYPE = "application/vnd.concord.rejection.v1+json"
REVOCATION_TYPE = "application/vnd.concord.revocation.v1+json"
KEY_TYPE = "application/vnd.concord.key.v1+json"
GENESIS_TYPE = "application/vnd.concord.genesis.v1+json"
RESTORE_TYPE = "application/vnd.concord.restore.v1+json"
DELETION_TYPE = "application/vnd.concord.space-deletion.v1+json"

AGENT = "AGENT"
HUMAN = "HUMAN"

ADD = "ADD"
REPLACE = "REPLACE"
RETIRE = "RETIRE"

NONCE_BYTES = 32


@dataclass(frozen=True, slots=True)
class Signer:
    """A principal with its own private key."""

    principal: str
    """ASCII letters, digits and `._@:+/-`, 1 to 128 characters."""
    key: Ed25519PrivateKey

    @property
    def public_key(self) -> bytes:
        """The raw public key, 32 bytes."""
        return public_bytes(self.key)


def generate_key() -> Ed25519PrivateKey:
    """Make a new private key from the system's randomness."""
    return Ed25519PrivateKey.generate()


def public_bytes(key: Ed25519PrivateKey) -> bytes:
    """Return the raw public key, 32 bytes."""
    return key.public_key().public_bytes_raw()


def genesis_payload(
    *,
    space: str,
    agent: tuple[str, bytes],
    human: tuple[str, bytes],
    governance_key: bytes,
    create_time: datetime | None = None,
) -> bytes:
    """Return the bytes that both slots sign; `agent` and `human`: principal and public key."""
    slots = {
        name: {"principal": principal, "public_key": _base64url(public_key)}
        for name, (principal, public_key) in ((AGENT, agent), (HUMAN, human))
    }
    return rfc8785.dumps(
        {
            "version": 1,
            "space": space,
            "slots": slots,
            "governance_key": _base64url(governance_key),
            "create_time": format_time(create_time or datetime.now(UTC)),
        }
    )


def sign_genesis(
    *,
    space: str,
    agent: Signer,
    human: Signer,
    governance_key: bytes,
    create_time: datetime | None = None,
) -> bytes:
    """Return a space's genesis record (JSON), signed by both slots; `governance_key` is public.

    If the two keys are on different machines, each slot signs `genesis_payload` with
    `sign_envelope`, and `join_signatures` joins the envelopes.
    """
    payload = genesis_payload(
        space=space,
        agent=(agent.principal, agent.public_key),
        human=(human.principal, human.public_key),
        governance_key=governance_key,
        create_time=create_time,
    )
    return sign_envelope(GENESIS_TYPE, payload, [agent.key, human.key])


def sign_consent(
    *,
    slot: str,
    signer: Signer,
    space: str,
    proposal_id: str,
    revision: int,
    proposal_digest: str,
    action_digest: str,
    etags: Mapping[str, str],
    policy_digest: str,
    expire_time: datetime,
    nonce: bytes | None = None,
) -> bytes:
    """Return `signer`'s consent (JSON) to one revision of a proposal.

    `slot` is AGENT or HUMAN; `etags` maps each affected item's id to its etag, "" for one that
    must not exist. The digests are hex SHA-256, the proposal's over its canonical bytes. Without
    a `nonce` 32 random bytes are drawn.
    """
    payload = consent_payload(
        slot=slot,
        principal=signer.principal,
        space=space,
        proposal_id=proposal_id,
        revision=revision,
        proposal_digest=proposal_digest,
        action_digest=action_digest,
        etags=etags,
        policy_digest=policy_digest,
        expire_time=expire_time,
        nonce=nonce,
    )
    return sign_envelope(CONSENT_TYPE, payload, [signer.key])


def consent_payload(
    *,
    slot: str,
    principal: str,
    space: str,
    proposal_id: str,
    revision: int,
    proposal_digest: str,
    action_digest: str,
    etags: Mapping[str, str],
    policy_digest: str,
    expire_time: datetime,
    nonce: bytes | None = None,
) -> bytes:
    """Return the exact bytes that a consent signs, so that they can be shown before."""
    return rfc8785.dumps(
        {
            "version": 3,
            "space": space,
            "slot": slot,
            "principal": principal,
            "proposal_id": proposal_id,
            "revision": revision,
            "proposal_digest": proposal_digest,
            "action_digest": action_digest,
            "etags_digest": etags_digest(etags),
            "policy_digest": policy_digest,
            "nonce": _nonce(nonce),
            "expire_time": format_time(expire_time),
        }
    )


def sign_rejection(
    *,
    slot: str,
    signer: Signer,
    space: str,
    proposal_id: str,
    revision: int,
    reason: str,
    nonce: bytes | None = None,
) -> bytes:
    """Return `signer`'s rejection (JSON) of a proposal's revision; `reason` has 1 to 1,000
    characters."""
    about = (slot, signer, space, proposal_id, revision)
    return _sign_answer(REJECTION_TYPE, about, reason, _nonce(nonce))


def sign_revocation(
    *, slot: str, signer: Signer, space: str, proposal_id: str, revision: int, consent: bytes
) -> bytes:
    """Return `signer`'s revocation (JSON) of its own consent, named by the consent's nonce."""
    nonce = json.loads(payload_of(consent))["nonce"]
    about = (slot, signer, space, proposal_id, revision)
    return _sign_answer(REVOCATION_TYPE, about, "", nonce)


def deletion_payload(*, space: str, genesis_digest: str, expire_time: datetime) -> bytes:
    """Return the bytes that both slots sign to have their space deleted for ever.

    `genesis_digest` is hex SHA-256 of the genesis record's signed bytes.
    """
    payload: dict[str, Json] = {
        "version": 1,
        "space": space,
        "genesis_digest": genesis_digest,
        "expire_time": format_time(expire_time),
    }
    return rfc8785.dumps(payload)


def sign_new_key(*, slot: str, principal: str, space: str, key: Ed25519PrivateKey) -> bytes:
    """Return the statement (JSON), in version 1, that a new key replaces a slot's only one."""
    payload: dict[str, Json] = {
        "version": 1,
        "space": space,
        "slot": slot,
        "principal": principal,
        "public_key": _base64url(public_bytes(key)),
    }
    return sign_envelope(KEY_TYPE, rfc8785.dumps(payload), [key])


def sign_key_change(
    *,
    change: str,
    slot: str,
    principal: str,
    space: str,
    key: Ed25519PrivateKey,
    other: bytes = b"",
    label: str = "",
) -> bytes:
    """Return the statement (JSON) that adds, replaces or retires a principal's key.

    `change` is ADD, REPLACE or RETIRE. `key` is the new one, with a `label` of 1 to 64 characters;
    to retire one, `key` is another of the slot's, without a label. `other` is the raw public key
    that is replaced or retired.
    """
    about = other if change == RETIRE else public_bytes(key)
    payload: dict[str, Json] = {
        "version": 2,
        "space": space,
        "slot": slot,
        "principal": principal,
        "change": change,
        "public_key": _base64url(about),
        "replaced_key": _base64url(other) if change == REPLACE else "",
        "label": label,
    }
    return sign_envelope(KEY_TYPE, rfc8785.dumps(payload), [key])


def _sign_answer(
    payload_type: str, about: tuple[str, Signer, str, str, int], reason: str, nonce: str
) -> bytes:
    slot, signer, space, proposal_id, revision = about
    payload: dict[str, Json] = {
        "version": 1,
        "space": space,
        "slot": slot,
        "principal": signer.principal,
        "proposal_id": proposal_id,
        "revision": revision,
        "reason": reason,
        "nonce": nonce,
    }
    return sign_envelope(payload_type, rfc8785.dumps(payload), [signer.key])


def restore_payload(
    *,
    space: str,
    genesis_digest: str,
    export_digest: str,
    constitutive_digest: str,
    keys: Mapping[str, bytes | Sequence[bytes]],
    governance_key: bytes,
    expire_time: datetime,
    nonce: bytes | None = None,
) -> bytes:
    """Return the bytes that both slots sign to have an export of their space imported.

    `export_digest` is the hex SHA-256 of the whole file, `genesis_digest` that of its genesis,
    `constitutive_digest` that of its constitutive items, and `keys` are the slots' keys in it: one
    each, or a list of them each. `governance_key` is that of the system that imports, which may
    grant from then on. Each slot signs with `sign_envelope` under RESTORE_TYPE, with its key in the
    genesis and, if that counts no more, with one of its present keys, too; `join_signatures` joins
    the envelopes.
    """
    return rfc8785.dumps(
        {
            "version": 3 if all(isinstance(key, bytes) for key in keys.values()) else 4,
            "space": space,
            "genesis_digest": genesis_digest,
            "export_digest": export_digest,
            "constitutive_digest": constitutive_digest,
            "keys": {
                slot: _base64url(key) if isinstance(key, bytes) else [*map(_base64url, key)]
                for slot, key in keys.items()
            },
            "governance_key": _base64url(governance_key),
            "nonce": _nonce(nonce),
            "expire_time": format_time(expire_time),
        }
    )


def genesis_digest(genesis: bytes) -> str:
    """Return the digest to pin: hex SHA-256 of the bytes that the slots signed."""
    return sha256(payload_of(genesis)).hexdigest()


def sign_envelope(payload_type: str, payload: bytes, keys: Sequence[Ed25519PrivateKey]) -> bytes:
    """Return a DSSE envelope (JSON) of these exact bytes with one signature per key."""
    head = f"DSSEv1 {len(payload_type.encode())} {payload_type} {len(payload)} "
    signed = head.encode() + payload
    signatures = [
        {
            "keyid": sha256(public_bytes(key)).hexdigest(),
            "sig": b64encode(key.sign(signed)).decode(),
        }
        for key in keys
    ]
    return rfc8785.dumps(
        {
            "payload": b64encode(payload).decode(),
            "payloadType": payload_type,
            "signatures": signatures,
        }
    )


def join_signatures(first: bytes, second: bytes) -> bytes:
    """Return one envelope with the signatures of both; ValueError unless both sign the same."""
    one, other = json.loads(first), json.loads(second)
    if (one["payload"], one["payloadType"]) != (other["payload"], other["payloadType"]):
        raise ValueError("the two envelopes sign different bytes")
    return rfc8785.dumps({**one, "signatures": one["signatures"] + other["signatures"]})


def format_time(time: datetime) -> str:
    """Write a time with a zone as RFC 3339 in UTC with microseconds; ValueError without a zone."""
    if time.tzinfo is None:
        raise ValueError("a time without a zone names no instant")
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def payload_of(envelope: bytes) -> bytes:
    """Return the bytes that an envelope signs. Raises ValueError, LookupError, TypeError."""
    return b64decode(json.loads(envelope)["payload"], validate=True)


def _nonce(given: bytes | None) -> str:
    return _base64url(secrets.token_bytes(NONCE_BYTES) if given is None else given)


def _base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
