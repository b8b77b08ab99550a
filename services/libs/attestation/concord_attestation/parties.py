"""Verifies a space's principals: its genesis record, and the proof of a new key (V5).

Nothing here reads a store or a clock. Every error in a check is a refusal (V2).
"""

from __future__ import annotations

import re
from collections.abc import Container
from hashlib import sha256

from concord_attestation.consent import (
    GENESIS_TYPE,
    KEY_TYPE,
    REQUIRED_SLOTS,
    RETIRED_KEY,
    GenesisInvalid,
    GenesisRecord,
    KeyInvalid,
    SlotKey,
)
from concord_attestation.envelope import EnvelopeMalformed, from_base64url, parse_envelope
from concord_attestation.instants import parse_time
from concord_attestation.keys import is_sound, key_id
from concord_attestation.payloads import GenesisPayload, KeyPayload, SlotPayload, read_payload

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
    for name in REQUIRED_SLOTS:
        if not envelope.signed_by(record.slot(name).public_key):
            raise GenesisInvalid("signature")
    return record


def _slot_key(payload: SlotPayload) -> SlotKey:
    return SlotKey(payload.principal, from_base64url(payload.public_key))


def _check_genesis(record: GenesisRecord, space: str) -> None:
    slots = [record.slot(name) for name in REQUIRED_SLOTS]
    keys = [record.governance_key, *(slot.public_key for slot in slots)]
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


def verify_new_key(
    envelope_json: bytes, genesis: GenesisRecord, retired: Container[str] = ()
) -> tuple[str, SlotKey]:
    """Return a slot and its principal's new key, else raise KeyInvalid.

    `genesis` holds the current keys: the new one must differ from all of them, and from the
    `retired` ones (hex SHA-256). While a slot is closed, none is taken but its successor.
    """
    try:
        envelope = parse_envelope(envelope_json, KEY_TYPE, signers=1, max_bytes=MAX_GENESIS_BYTES)
        payload = read_payload(envelope, KeyPayload)
        public_key = from_base64url(payload.public_key)
    except EnvelopeMalformed as error:
        raise KeyInvalid("envelope", error.detail, error.field) from None
    if payload.space != genesis.space:
        raise KeyInvalid("space")
    if payload.slot not in REQUIRED_SLOTS:
        raise KeyInvalid("principal")
    if payload.principal != genesis.slot(payload.slot).principal:
        raise KeyInvalid("principal")
    if not is_sound(public_key):
        raise KeyInvalid("key")
    known = [genesis.slot(name).public_key for name in REQUIRED_SLOTS]
    if public_key in (*known, genesis.governance_key):
        raise KeyInvalid("distinct")
    if not envelope.signed_by(public_key):
        raise KeyInvalid("signature")
    digest = key_id(public_key)
    closed = bool(genesis.closed_slots)
    if digest in retired or (closed and digest not in genesis.slot(payload.slot).successors):
        raise KeyInvalid(RETIRED_KEY)
    return payload.slot, SlotKey(payload.principal, public_key)
