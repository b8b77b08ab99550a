"""Verifies restore grants, which let an export be imported (spec G15). Every error refuses."""

from collections.abc import Sequence
from dataclasses import replace

from concord_attestation.consent import (
    REQUIRED_SLOTS,
    RESTORE_TYPE,
    GenesisRecord,
    RestoreGrant,
    RestoreInvalid,
    SlotKeys,
)
from concord_attestation.envelope import (
    Envelope,
    EnvelopeMalformed,
    from_base64url,
    is_nonce,
    open_envelope,
    parse_form,
    parse_payload,
)
from concord_attestation.instants import expiry_problem
from concord_attestation.keys import is_sound
from concord_attestation.payloads import ManyKeysRestorePayload, RestorePayload, shaped

MAX_RESTORE_BYTES = 16_384
MANY_KEYS = 4
"""The version of a grant for a space of which a slot has several keys."""


def verify_restore(
    envelope_json: bytes, *, genesis: GenesisRecord, space: str, export_digest: str, now_us: int
) -> RestoreGrant:
    """Return the grant for importing this export into this space, else raise RestoreInvalid.

    `genesis` is the imported one, with its own keys. The grant needs exactly one signature of each
    of them and, if a slot has other keys instead since, of one of those, too: a reader of a log
    knows the genesis alone, and the holder of an old key must not move a space by it. `now_us` is
    the store's time in microseconds since 1970.
    """
    envelope, payload = _opened(envelope_json)
    present = _present_keys(payload, genesis)
    _demand_signed(envelope, genesis, present)
    if payload.space != space or genesis.space != space:
        raise RestoreInvalid("space")
    if payload.genesis_digest != genesis.digest:
        raise RestoreInvalid("genesis")
    if payload.export_digest != export_digest:
        raise RestoreInvalid("export")
    if problem := expiry_problem(payload.expire_time, now_us):
        raise RestoreInvalid("expiry", problem)
    if not is_nonce(payload.nonce):
        raise RestoreInvalid("nonce")
    return RestoreGrant(space, export_digest, payload.nonce, present, payload.constitutive_digest)


def restored_governance_key(envelope_json: bytes) -> bytes:
    """Return the governance key of a grant that was verified before.

    Raises:
        RestoreInvalid: the envelope is no restore grant.
    """
    return _key(_opened(envelope_json)[1].governance_key)


def _opened(envelope_json: bytes) -> tuple[Envelope, RestorePayload]:
    try:
        form = parse_form(envelope_json, max_bytes=MAX_RESTORE_BYTES)
        envelope = open_envelope(form, RESTORE_TYPE, signers=len(form.signatures))
        value = parse_payload(envelope)
        several = isinstance(value, dict) and value.get("version") == MANY_KEYS
        return envelope, shaped(value, ManyKeysRestorePayload if several else RestorePayload)
    except EnvelopeMalformed as error:
        raise RestoreInvalid("envelope", error.detail, error.field) from None


def _present_keys(payload: RestorePayload, genesis: GenesisRecord) -> GenesisRecord:
    """Return the genesis with the current keys, as the grant names them."""
    present = replace(
        genesis,
        agent=_named(genesis.agent.principal, payload.keys.AGENT),
        human=_named(genesis.human.principal, payload.keys.HUMAN),
        governance_key=_key(payload.governance_key),
    )
    named = [key.public_key for slot in REQUIRED_SLOTS for key in present.slot(slot).keys]
    keys = {present.governance_key, *named}
    if len(keys) != len(named) + 1 or present.governance_key in _keys(genesis):
        raise RestoreInvalid("distinct")
    former = (genesis.agent.public_keys, genesis.human.public_keys)
    if former[0] & present.human.public_keys or former[1] & present.agent.public_keys:
        raise RestoreInvalid("distinct")
    return present


def _named(principal: str, keys: str | Sequence[str]) -> SlotKeys:
    """Return a slot's keys; version 3 of the statement names the only one."""
    return SlotKeys.of(principal, *map(_key, [keys] if isinstance(keys, str) else keys))


def _demand_signed(envelope: Envelope, genesis: GenesisRecord, present: GenesisRecord) -> None:
    """Demand each slot's key of the genesis and, if that counts no more, one of its present keys.

    Any other signature is refused: a slot's second key stands for nobody.
    """
    count = 0
    for slot in REQUIRED_SLOTS:
        first, now = genesis.slot(slot).public_keys, present.slot(slot).public_keys
        signers = set(filter(envelope.signed_by, first | now))
        count += len(signers)
        needed = 1 if first & now else 2
        if not first <= signers or not signers & now or len(signers) != needed:
            raise RestoreInvalid("signature")
    if len(_keys(genesis)) != len(REQUIRED_SLOTS) or len(envelope.signatures) != count:
        raise RestoreInvalid("signature")


def _keys(record: GenesisRecord) -> set[bytes]:
    return set().union(*(record.slot(slot).public_keys for slot in REQUIRED_SLOTS))


def _key(text: str) -> bytes:
    """Return a public key; RestoreInvalid if the text is none, or a weak one."""
    try:
        key = from_base64url(text)
    except ValueError:
        raise RestoreInvalid("key") from None
    if not is_sound(key):
        raise RestoreInvalid("key")
    return key
