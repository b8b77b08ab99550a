"""Governance's own signatures: grants, and checkpoints of the log."""

from __future__ import annotations

import json
import secrets
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256

import rfc8785
from concord_attestation.checkpoint import Checkpoint, sign_checkpoint
from concord_attestation.consent import GRANT_TYPE
from concord_attestation.instants import format_time
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from concord_governance.domain.proposals import Json, Revision

NONCE_BYTES = 32


class GrantKey:
    """Signs grants: DSSE over RFC 8785 JSON."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = key.public_key().public_bytes_raw()

    def grant(
        self, decision_id: str, revision: Revision, consents: Mapping[str, bytes], expire_time: int
    ) -> bytes:
        """Return the signed grant for a revision, carrying the consents by slot."""
        payload: dict[str, Json] = {
            "version": 3,
            "space": revision.space,
            "decision_id": decision_id,
            "proposal_id": revision.proposal_id,
            "revision": revision.revision,
            "proposal_digest": revision.digest,
            "action_digest": revision.action_digest,
            "etags": dict(revision.etags),
            "policy_digest": revision.policy_digest,
            "consents": {slot: json.loads(envelope) for slot, envelope in consents.items()},
            "nonce": urlsafe_b64encode(secrets.token_bytes(NONCE_BYTES)).decode().rstrip("="),
            "expire_time": format_time(expire_time),
        }
        return self._signed_envelope(rfc8785.dumps(payload))

    def _signed_envelope(self, payload: bytes) -> bytes:
        head = f"DSSEv1 {len(GRANT_TYPE)} {GRANT_TYPE} {len(payload)} ".encode()
        signature = {
            "keyid": sha256(self.public_key).hexdigest(),
            "sig": b64encode(self._key.sign(head + payload)).decode(),
        }
        return rfc8785.dumps(
            {
                "payload": b64encode(payload).decode(),
                "payloadType": GRANT_TYPE,
                "signatures": [signature],
            }
        )


class LogKey:
    """Signs checkpoints: one log for each space, named under this instance's name."""

    def __init__(self, key: Ed25519PrivateKey, name: str) -> None:
        """`name`: begins every log's origin; without white space and plus signs."""
        self._key = key
        self._name = name

    @property
    def public_key(self) -> bytes:
        """Raw Ed25519 public key, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    def origin(self, space: str) -> str:
        """Return the log's name, the first line of its checkpoints; a space's name is encoded if it
        has letters that do not fit."""
        quoted = urlsafe_b64encode(space.encode()).decode().rstrip("=")
        plain = all(letter.isalnum() or letter in "._-" for letter in space)
        return f"{self._name}/{space if plain else '~' + quoted}"

    def checkpoint(self, space: str, size: int, root: bytes) -> str:
        """Return a signed checkpoint."""
        return sign_checkpoint(Checkpoint(self.origin(space), size, root), self._key)
