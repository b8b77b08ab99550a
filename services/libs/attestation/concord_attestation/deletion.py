"""Decides whether a space that has a genesis may be deleted (spec W7). Every error refuses.

The statement is a DSSE envelope of type DELETION_TYPE with exactly one signature of each slot,
by a key of it that counts. Its payload is the RFC 8785 JSON of {"version": 1, "space",
"genesis_digest" (hex SHA-256 of the genesis record's signed bytes), "expire_time" (RFC 3339 UTC
with microseconds)}. There is no nonce: a space is deleted once, and its name is never used again.
"""

from __future__ import annotations

from concord_attestation.consent import (
    DELETION_TYPE,
    REQUIRED_SLOTS,
    RETIRED_KEY,
    DeletionInvalid,
    GenesisRecord,
)
from concord_attestation.envelope import EnvelopeMalformed, parse_envelope
from concord_attestation.instants import expiry_problem
from concord_attestation.payloads import DeletionPayload, read_payload

MAX_DELETION_BYTES = 16_384


def verify_deletion(statement: bytes, genesis: GenesisRecord, now_us: int | None) -> None:
    """Demand that both slots signed for the deletion of the space of `genesis`.

    `genesis` holds the current keys. `now_us` is the time in microseconds since 1970; None: the
    expiry was checked before, when the deletion was decided.

    Raises:
        DeletionInvalid: a check failed.
    """
    if not statement:
        raise DeletionInvalid("missing")
    try:
        envelope = parse_envelope(
            statement, DELETION_TYPE, signers=len(REQUIRED_SLOTS), max_bytes=MAX_DELETION_BYTES
        )
        payload = read_payload(envelope, DeletionPayload)
    except EnvelopeMalformed as error:
        raise DeletionInvalid("envelope", error.detail, error.field) from None
    if payload.space != genesis.space:
        raise DeletionInvalid("space")
    if payload.genesis_digest != genesis.digest:
        raise DeletionInvalid("genesis")
    if now_us is not None and (problem := expiry_problem(payload.expire_time, now_us)):
        raise DeletionInvalid("expiry", problem)
    if genesis.closed_slots:
        raise DeletionInvalid(RETIRED_KEY)
    for slot in REQUIRED_SLOTS:
        signers = [key for key in genesis.slot(slot).keys if envelope.signed_by(key.public_key)]
        if not signers:
            raise DeletionInvalid("signature")
        if all(key.is_retired for key in signers):
            raise DeletionInvalid(RETIRED_KEY)
