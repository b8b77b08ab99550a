"""Verifies restore grants, which let an export be imported (spec G15). Every error refuses."""

from dataclasses import replace

from concord_attestation.consent import (
    REQUIRED_SLOTS,
    RESTORE_TYPE,
    GenesisRecord,
    RestoreGrant,
    RestoreInvalid,
)
from concord_attestation.envelope import (
    Envelope,
    EnvelopeMalformed,
    from_base64url,
    is_nonce,
    open_envelope,
    parse_form,
)
from concord_attestation.instants import expiry_problem
from concord_attestation.keys import is_sound
from concord_attestation.payloads import RestorePayload, read_payload

MAX_RESTORE_BYTES = 16_384


def verify_restore(
    envelope_json: bytes, *, genesis: GenesisRecord, space: str, export_digest: str, now_us: int
) -> RestoreGrant:
    """Return the grant for importing this export into this space, else raise RestoreInvalid.

    `genesis` is the imported one, with its own keys. The grant needs exactly one signature of each
    of them and, if a slot has another key since, of that key, too: a reader of a log knows the
    genesis alone, and the holder of an old key must not move a space by it. `now_us` is the store's
    time in microseconds since 1970.
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
        return envelope, read_payload(envelope, RestorePayload)
    except EnvelopeMalformed as error:
        raise RestoreInvalid("envelope", error.detail, error.field) from None


def _present_keys(payload: RestorePayload, genesis: GenesisRecord) -> GenesisRecord:
    """Return the genesis with the current keys, as the grant names them."""
    present = replace(
        genesis,
        agent=replace(genesis.agent, public_key=_key(payload.keys.AGENT)),
        human=replace(genesis.human, public_key=_key(payload.keys.HUMAN)),
        governance_key=_key(payload.governance_key),
    )
    keys = {present.governance_key, *_keys(present)}
    if len(keys) != len(REQUIRED_SLOTS) + 1 or present.governance_key in _keys(genesis):
        raise RestoreInvalid("distinct")
    return present


def _demand_signed(envelope: Envelope, genesis: GenesisRecord, present: GenesisRecord) -> None:
    keys = {*_keys(genesis), *_keys(present)}
    enough = len(_keys(genesis)) == len(REQUIRED_SLOTS)
    if not enough or len(envelope.signatures) != len(keys):
        raise RestoreInvalid("signature")
    for key in keys:
        if not envelope.signed_by(key):
            raise RestoreInvalid("signature")


def _keys(record: GenesisRecord) -> set[bytes]:
    return {record.slot(slot).public_key for slot in REQUIRED_SLOTS}


def _key(text: str) -> bytes:
    """Return a public key; RestoreInvalid if the text is none, or a weak one."""
    try:
        key = from_base64url(text)
    except ValueError:
        raise RestoreInvalid("key") from None
    if not is_sound(key):
        raise RestoreInvalid("key")
    return key
