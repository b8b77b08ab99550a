"""Statements that tests sign for others: governance's grants, and both slots' deletion at once."""

import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import datetime

import rfc8785
from concord_client.trust.digests import Json
from concord_client.trust.signing import (
    DELETION_TYPE,
    NONCE_BYTES,
    Signer,
    deletion_payload,
    format_time,
    sign_envelope,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

GRANT_TYPE = "application/vnd.concord.grant.v1+json"


def sign_deletion(
    *, space: str, agent: Signer, human: Signer, genesis_digest: str, expire_time: datetime
) -> bytes:
    """Return both slots' signed statement (JSON) that deletes a space with a genesis.

    If the two keys are on different machines, each slot signs `deletion_payload` with
    `sign_envelope`, and `join_signatures` joins the envelopes.
    """
    payload = deletion_payload(space=space, genesis_digest=genesis_digest, expire_time=expire_time)
    return sign_envelope(DELETION_TYPE, payload, [agent.key, human.key])


def sign_grant(
    *,
    governance: Ed25519PrivateKey,
    space: str,
    decision_id: str,
    proposal_id: str,
    revision: int,
    proposal_digest: str,
    action_digest: str,
    etags: Mapping[str, str],
    policy_digest: str,
    consents: Mapping[str, bytes],
    expire_time: datetime,
    nonce: bytes | None = None,
) -> bytes:
    """Return governance's grant (JSON), with the consents of `sign_consent` by slot.

    The other arguments are those of the consents; `decision_id` makes the change idempotent.
    """
    drawn = secrets.token_bytes(NONCE_BYTES) if nonce is None else nonce
    payload: dict[str, Json] = {
        "version": 3,
        "space": space,
        "decision_id": decision_id,
        "proposal_id": proposal_id,
        "revision": revision,
        "proposal_digest": proposal_digest,
        "action_digest": action_digest,
        "etags": dict(etags),
        "policy_digest": policy_digest,
        "consents": {slot: json.loads(consent) for slot, consent in consents.items()},
        "nonce": urlsafe_b64encode(drawn).rstrip(b"=").decode(),
        "expire_time": format_time(expire_time),
    }
    return sign_envelope(GRANT_TYPE, rfc8785.dumps(payload), [governance])
