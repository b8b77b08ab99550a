"""Verifies a space's principals: its genesis record (V5).

Nothing here reads a store or a clock. Every error in a check is a refusal (V2).
"""

from __future__ import annotations

import re
from hashlib import sha256

from concord_attestation.consent import (
    GENESIS_TYPE,
    REQUIRED_SLOTS,
    GenesisInvalid,
    GenesisRecord,
    SlotKeys,
)
from concord_attestation.envelope import EnvelopeMalformed, from_base64url, parse_envelope
from concord_attestation.instants import parse_time
from concord_attestation.keys import is_sound
from concord_attestation.payloads import GenesisPayload, SlotPayload, read_payload

MAX_GENESIS_BYTES = 16_384
PRINCIPAL_PATTERN = r"[A-Za-z0-9](?:[A-Za-z0-9._@:+/-]{0,126}[A-Za-z0-9])?"
"""ASCII only, so that no two principals look alike; compared without case."""

_PRINCIPAL = re.compile(PRINCIPAL_PATTERN)


def verify_genesis(envelope_json: bytes, space: str) -> GenesisRecord:
    """Return the genesis that both slots signed for `space`, else raise GenesisInvalid.

    The record must have well-formed, different principals, sound and different keys (governance's
    too), and exactly one signature of each slot's own key over its bytes.
    """
    try:
        envelope = parse_envelope(
            envelope_json,
            GENESIS_TYPE,
            signers=len(REQUIRED_SLOTS),
            max_bytes=MAX_GENESIS_BYTES,
        )
        payload = read_payload(envelope, GenesisPayload)
        parse_time(payload.create_time)
        record = GenesisRecord(
            space=payload.space,
            agent=_slot_key(payload.slots.AGENT),
            human=_slot_key(payload.slots.HUMAN),
            governance_key=from_base64url(payload.governance_key),
            digest=sha256(envelope.payload).hexdigest(),
        )
    except EnvelopeMalformed as error:
        raise GenesisInvalid("envelope", error.detail, error.field) from None
    except ValueError:
        raise GenesisInvalid("envelope", "fields", "create_time") from None
    _check_genesis(record, space)
    if not all(map(envelope.signed_by, _keys(record))):
        raise GenesisInvalid("signature")
    return record


def _slot_key(payload: SlotPayload) -> SlotKeys:
    return SlotKeys.of(payload.principal, from_base64url(payload.public_key))


def _keys(record: GenesisRecord) -> list[bytes]:
    """Return the one key of each slot."""
    return [key for name in REQUIRED_SLOTS for key in record.slot(name).public_keys]


def _check_genesis(record: GenesisRecord, space: str) -> None:
    slots = [record.slot(name) for name in REQUIRED_SLOTS]
    keys = [record.governance_key, *_keys(record)]
    if record.space != space:
        raise GenesisInvalid("space")
    if not all(_PRINCIPAL.fullmatch(slot.principal) for slot in slots):
        raise GenesisInvalid("principal")
    if not all(map(is_sound, keys)):
        raise GenesisInvalid("key")
    if len(set(keys)) != len(keys):
        raise GenesisInvalid("distinct")
    if len({slot.principal.casefold() for slot in slots}) != len(slots):
        raise GenesisInvalid("distinct")
