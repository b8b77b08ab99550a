"""Decides whether an export may be imported: a restore grant (spec G15). Every error refuses."""

from concord_attestation.consent import (
    REQUIRED_SLOTS,
    RESTORE_TYPE,
    GenesisRecord,
    RestoreGrant,
    RestoreInvalid,
)
from concord_attestation.envelope import from_base64url, parse_envelope
from concord_attestation.instants import parse_time
from concord_attestation.payloads import RestorePayload, read_payload
from concord_attestation.verify import FEWEST_NONCE_BYTES

MAX_RESTORE_BYTES = 16_384


def verify_restore(
    grant_json: bytes, *, genesis: GenesisRecord, space: str, export_digest: str, now_us: int
) -> RestoreGrant:
    """Return the grant for importing this export into this space, else raise RestoreInvalid.

    `genesis` is the imported one, with its keys as they stood when the export was made. Demanded
    is exactly one signature of each slot's own key. `now_us` is the store's time in microseconds
    since 1970.
    """
    payload = _signed_by_both(grant_json, genesis)
    if payload.space != space or genesis.space != space:
        raise RestoreInvalid("space")
    if payload.genesis_digest != genesis.digest:
        raise RestoreInvalid("genesis")
    if payload.export_digest != export_digest:
        raise RestoreInvalid("export")
    if _is_over(payload.expire_time, now_us):
        raise RestoreInvalid("expiry")
    if not _is_nonce(payload.nonce):
        raise RestoreInvalid("nonce")
    return RestoreGrant(space, export_digest, payload.nonce)


def _signed_by_both(grant_json: bytes, genesis: GenesisRecord) -> RestorePayload:
    try:
        envelope = parse_envelope(
            grant_json, RESTORE_TYPE, signers=len(REQUIRED_SLOTS), max_bytes=MAX_RESTORE_BYTES
        )
        payload = read_payload(envelope, RestorePayload)
    except ValueError:
        raise RestoreInvalid("envelope") from None
    keys = {genesis.slot(slot).public_key for slot in REQUIRED_SLOTS}
    if len(keys) != len(REQUIRED_SLOTS):
        raise RestoreInvalid("signature")
    for key in keys:
        if not envelope.signed_by(key):
            raise RestoreInvalid("signature")
    return payload


def _is_over(expire_time: str, now_us: int) -> bool:
    """Tell whether the time is over, or no time: what cannot be read refuses."""
    try:
        return parse_time(expire_time) <= now_us
    except ValueError:
        return True


def _is_nonce(text: str) -> bool:
    try:
        return len(from_base64url(text)) >= FEWEST_NONCE_BYTES
    except ValueError:
        return False
