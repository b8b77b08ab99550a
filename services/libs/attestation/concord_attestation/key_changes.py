"""Verifies the statement that changes a slot's keys (V5): one is added, replaced or retired.

Nothing here reads a store or a clock. Every error in a check is a refusal (V2). The statement alone
changes nothing: both slots consent to the action that carries it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from concord_attestation.bounds import MAX_KEYS, MAX_LABEL_CHARACTERS
from concord_attestation.consent import (
    KEY_TYPE,
    REQUIRED_SLOTS,
    RETIRED_KEY,
    GenesisRecord,
    KeyInvalid,
    PrincipalKey,
    SlotKeys,
)
from concord_attestation.envelope import (
    Envelope,
    EnvelopeMalformed,
    from_base64url,
    parse_envelope,
    parse_payload,
)
from concord_attestation.keys import is_sound, key_id
from concord_attestation.payloads import KeyChangePayload, KeyPayload, shaped
from concord_attestation.visible import is_hidden

MAX_KEY_BYTES = 16_384
ADD, REPLACE, RETIRE = KEY_CHANGES = ("ADD", "REPLACE", "RETIRE")


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A verified change of a slot's keys."""

    slot: str
    holder: SlotKeys
    """The slot's principal and keys after the change."""
    retired: bytes = b""
    """The raw public key that counts no more; empty if one was added."""
    successors: tuple[bytes, ...] = ()
    """The raw public keys that a closed slot with the retired key may take instead."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The change that a statement asks for: `key` is the one that it is about."""

    change: str
    slot: str
    key: bytes
    replaced: bytes
    label: str


def verify_key_change(
    envelope_json: bytes, genesis: GenesisRecord, retired: Container[str] = ()
) -> KeyChange:
    """Return the change of a slot's keys, else raise KeyInvalid.

    `genesis` holds the current keys: a new one must differ from all of them, and from the
    `retired` ones (hex SHA-256), and sign the statement. A key is retired by a statement that
    another key of the slot signs, which still counts: so a slot keeps one. While a slot is closed,
    nothing is taken but a successor in a retired key's place.
    """
    envelope, payload = _read(envelope_json)
    if payload.space != genesis.space:
        raise KeyInvalid("space")
    if payload.slot not in REQUIRED_SLOTS:
        raise KeyInvalid("principal")
    holder = genesis.slot(payload.slot)
    if payload.principal != holder.principal:
        raise KeyInvalid("principal")
    wanted = _wanted(payload, holder)
    if wanted.change == RETIRE:
        return _retired(envelope, wanted, holder, genesis)
    _demand_new(envelope, wanted, genesis, retired)
    return _with_new(wanted, holder)


def _read(envelope_json: bytes) -> tuple[Envelope, KeyPayload | KeyChangePayload]:
    try:
        envelope = parse_envelope(envelope_json, KEY_TYPE, signers=1, max_bytes=MAX_KEY_BYTES)
        value = parse_payload(envelope)
        if isinstance(value, dict) and value.get("version") == 1:
            return envelope, shaped(value, KeyPayload)
        return envelope, shaped(value, KeyChangePayload)
    except EnvelopeMalformed as error:
        raise KeyInvalid("envelope", error.detail, error.field) from None


def _wanted(payload: KeyPayload | KeyChangePayload, holder: SlotKeys) -> _Wanted:
    """Return what a statement asks for; version 1 replaces the only key that a slot has."""
    key = _key(payload.public_key, "public_key")
    if isinstance(payload, KeyPayload):
        if len(holder.keys) > 1:
            raise KeyInvalid("unknown_key")
        return _Wanted(REPLACE, payload.slot, key, holder.keys[0].public_key, "")
    replaced = _key(payload.replaced_key, "replaced_key")
    if payload.change not in KEY_CHANGES:
        raise _ill_formed("change")
    if bool(replaced) != (payload.change == REPLACE):
        raise _ill_formed("replaced_key")
    _demand_label(payload.label, is_retired=payload.change == RETIRE)
    old = {ADD: b"", REPLACE: replaced, RETIRE: key}[payload.change]
    if old and old not in holder.public_keys:
        raise KeyInvalid("unknown_key")
    return _Wanted(payload.change, payload.slot, key, replaced, payload.label)


def _demand_label(label: str, *, is_retired: bool) -> None:
    """Demand a label that shows as it is for a new key, and none for one that goes."""
    shows = bool(label.strip()) and "\n" not in label and "\t" not in label
    fits = len(label) <= MAX_LABEL_CHARACTERS and not any(map(is_hidden, label))
    if label if is_retired else not (shows and fits):
        raise _ill_formed("label")


def _demand_new(
    envelope: Envelope, wanted: _Wanted, genesis: GenesisRecord, retired: Container[str]
) -> None:
    if not is_sound(wanted.key):
        raise KeyInvalid("key")
    known = {genesis.governance_key}.union(*(genesis.slot(n).public_keys for n in REQUIRED_SLOTS))
    if wanted.key in known:
        raise KeyInvalid("distinct")
    if not envelope.signed_by(wanted.key):
        raise KeyInvalid("signature")
    digest = key_id(wanted.key)
    if digest in retired:
        raise KeyInvalid(RETIRED_KEY)
    if genesis.closed_slots:
        replaced = [k for k in genesis.slot(wanted.slot).keys if k.public_key == wanted.replaced]
        if not any(digest in key.successors for key in replaced):
            raise KeyInvalid(RETIRED_KEY)


def _with_new(wanted: _Wanted, holder: SlotKeys) -> KeyChange:
    new = PrincipalKey(wanted.key, wanted.label)
    if wanted.change == ADD:
        if len(holder.keys) >= MAX_KEYS:
            raise KeyInvalid("key_count")
        return KeyChange(wanted.slot, replace(holder, keys=(*holder.keys, new)))
    keys = tuple(new if key.public_key == wanted.replaced else key for key in holder.keys)
    return KeyChange(wanted.slot, replace(holder, keys=keys), wanted.replaced, (wanted.key,))


def _retired(
    envelope: Envelope, wanted: _Wanted, holder: SlotKeys, genesis: GenesisRecord
) -> KeyChange:
    if genesis.closed_slots:
        raise KeyInvalid(RETIRED_KEY)
    rest = tuple(key for key in holder.keys if key.public_key != wanted.key)
    counting = _counting(rest)
    if not counting:
        raise KeyInvalid("last_key")
    if not any(map(envelope.signed_by, counting)):
        raise KeyInvalid("signature")
    return KeyChange(wanted.slot, replace(holder, keys=rest), wanted.key, counting)


def _counting(keys: Sequence[PrincipalKey]) -> tuple[bytes, ...]:
    return tuple(key.public_key for key in keys if not key.is_retired)


def _key(text: str, field: str) -> bytes:
    try:
        return from_base64url(text)
    except ValueError:
        raise _ill_formed(field) from None


def _ill_formed(field: str) -> KeyInvalid:
    return KeyInvalid("envelope", "fields", field)
