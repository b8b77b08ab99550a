"""Verifies grants, consents and other answers. Every error is a refusal (V2, V6).

Nothing here reads a store or a clock: the caller compares etags, burns nonces and passes the
time, all in the transaction of the effect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeVar

from concord_attestation.bounds import MAX_ENVELOPE_BYTES, MAX_GRANT_BYTES
from concord_attestation.consent import (
    CONSENT_TYPE,
    GRANT_TYPE,
    REQUIRED_SLOTS,
    RETIRED_KEY,
    REVOCATION_TYPE,
    Answer,
    Consent,
    ConsentInvalid,
    GenesisRecord,
    Grant,
    GrantInvalid,
    SlotKeys,
    Terms,
)
from concord_attestation.digest import etags_digest
from concord_attestation.envelope import (
    Envelope,
    EnvelopeForm,
    EnvelopeMalformed,
    StrictModel,
    is_nonce,
    open_envelope,
    parse_envelope,
    parse_form,
    parse_payload,
)
from concord_attestation.instants import expiry_problem, parse_time
from concord_attestation.payloads import (
    AnswerPayload,
    ConsentPayload,
    GrantPayload,
    read_payload,
    shaped,
)

_Payload = TypeVar("_Payload", bound=StrictModel)
_SHA256 = re.compile(r"[0-9a-f]{64}")


def verify_grant(
    envelope_json: bytes, *, genesis: GenesisRecord, space: str, action_digest: str, now_us: int
) -> Grant:
    """Return the grant for the action of this digest, else raise GrantInvalid or ConsentInvalid.

    `genesis` holds the current keys, `now_us` is the store's time in microseconds since 1970.
    Governance's signature is checked first, then, for each required slot, one consent by a
    key of that slot over the same proposal revision, action, etags, policy and space.
    """
    payload = _read_grant(envelope_json, genesis)
    if payload.space != space or genesis.space != space:
        raise GrantInvalid("space")
    if payload.action_digest != action_digest or not _SHA256.fullmatch(action_digest):
        raise GrantInvalid("action_digest")
    if problem := expiry_problem(payload.expire_time, now_us):
        raise GrantInvalid("expiry", problem)
    if not is_nonce(payload.nonce):
        raise GrantInvalid("nonce")
    consents = _verify_consents(payload, genesis, now_us)
    if payload.nonce in {consent.nonce for consent in consents}:
        raise GrantInvalid("nonce")
    return Grant(
        space=space,
        decision_id=payload.decision_id,
        proposal_id=payload.proposal_id,
        revision=payload.revision,
        proposal_digest=payload.proposal_digest,
        action_digest=action_digest,
        etags=payload.etags,
        policy_digest=payload.policy_digest,
        nonce=payload.nonce,
        expire_time=parse_time(payload.expire_time),
        consents=consents,
    )


def verify_consent(
    envelope_json: bytes, *, genesis: GenesisRecord, terms: Terms, now_us: int
) -> Consent:
    """Return one slot's consent to exactly these terms, else raise ConsentInvalid.

    `genesis` holds the current keys, `now_us` is the time in microseconds since 1970.
    """
    unverified = _opened(envelope_json)
    slot, holder = unverified.slot, genesis.slot(unverified.slot)
    payload, key = _verified_consent(unverified, holder)
    _check_same_decision(payload, terms, slot)
    if problem := expiry_problem(payload.expire_time, now_us):
        raise ConsentInvalid(slot, "expiry", problem)
    if not is_nonce(payload.nonce):
        raise ConsentInvalid(slot, "nonce")
    return Consent(slot, holder.principal, payload.nonce, parse_time(payload.expire_time), key)


def verify_answer(
    envelope_json: bytes,
    payload_type: str,
    *,
    genesis: GenesisRecord,
    space: str,
    proposal_id: str,
    revision: int,
) -> Answer:
    """Return a slot's rejection or revocation (by `payload_type`), else raise ConsentInvalid."""
    unverified = _opened(envelope_json)
    slot = unverified.slot
    payload = _read_answer(unverified, payload_type, genesis)
    if payload.space != space:
        raise ConsentInvalid(slot, "space")
    if (payload.proposal_id, payload.revision) != (proposal_id, revision):
        raise ConsentInvalid(slot, "proposal")
    return _answer(payload)


def verify_revocation(envelope_json: bytes, genesis: GenesisRecord) -> Answer:
    """Return a slot's revocation of its consent to any proposal.

    Raises:
        ConsentInvalid: the revocation names no slot of the space, or its key has not signed it.
    """
    return _answer(_read_answer(_opened(envelope_json), REVOCATION_TYPE, genesis))


def read_revocation(envelope_json: bytes) -> Answer:
    """Return a revocation unverified: for a caller who has it from its verifier.

    Raises:
        ConsentInvalid: the envelope is no revocation.
    """
    return _answer(_opened(envelope_json).read(REVOCATION_TYPE, AnswerPayload))


def _answer(payload: AnswerPayload) -> Answer:
    return Answer(
        slot=payload.slot,
        principal=payload.principal,
        proposal_id=payload.proposal_id,
        revision=payload.revision,
        reason=payload.reason,
        nonce=payload.nonce,
    )


def _read_answer(
    unverified: _Unverified, payload_type: str, genesis: GenesisRecord
) -> AnswerPayload:
    slot, holder = unverified.slot, genesis.slot(unverified.slot)
    payload = unverified.read(payload_type, AnswerPayload)
    _signing_key(unverified, holder)
    if payload.slot != slot or payload.principal != holder.principal:
        raise ConsentInvalid(slot, "principal")
    if payload.space != genesis.space:
        raise ConsentInvalid(slot, "space")
    if not is_nonce(payload.nonce):
        raise ConsentInvalid(slot, "nonce")
    return payload


@dataclass(frozen=True, slots=True)
class _Unverified:
    """An envelope, its statement, and the slot that the statement names; none of it is verified."""

    envelope: Envelope
    statement: object
    slot: str

    def read(self, payload_type: str, shape: type[_Payload]) -> _Payload:
        """Return the statement in this shape; ConsentInvalid if it has another type or shape."""
        if self.envelope.payload_type != payload_type:
            raise ConsentInvalid(self.slot, "envelope", "payload_type")
        try:
            return shaped(self.statement, shape)
        except EnvelopeMalformed as error:
            raise ConsentInvalid(self.slot, "envelope", error.detail, error.field) from None


def _opened(envelope_json: bytes) -> _Unverified:
    """Open an envelope; ConsentInvalid unless its payload is RFC 8785 JSON that names a slot."""
    try:
        form = parse_form(envelope_json, max_bytes=MAX_ENVELOPE_BYTES)
        envelope = open_envelope(form, form.payloadType, signers=1)
        statement = parse_payload(envelope)
    except EnvelopeMalformed as error:
        raise ConsentInvalid("", "envelope", error.detail, error.field) from None
    slot = statement.get("slot") if isinstance(statement, dict) else None
    if slot not in REQUIRED_SLOTS:
        raise ConsentInvalid("", "principal")
    return _Unverified(envelope, statement, slot)


def _read_grant(envelope_json: bytes, genesis: GenesisRecord) -> GrantPayload:
    try:
        envelope = parse_envelope(envelope_json, GRANT_TYPE, signers=1, max_bytes=MAX_GRANT_BYTES)
        payload = read_payload(envelope, GrantPayload)
    except EnvelopeMalformed as error:
        raise GrantInvalid("envelope", error.detail, error.field) from None
    if not set(payload.consents) <= set(REQUIRED_SLOTS):
        raise GrantInvalid("envelope", "fields", "consents")
    for field in ("policy_digest", "proposal_digest"):
        if not _SHA256.fullmatch(getattr(payload, field)):
            raise GrantInvalid("envelope", "fields", field)
    if not envelope.signed_by(genesis.governance_key):
        raise GrantInvalid("governance_signature")
    return payload


def _verify_consents(
    grant: GrantPayload, genesis: GenesisRecord, now_us: int
) -> tuple[Consent, ...]:
    """Demand each required slot's consent: the loop is over the slots, not the given consents."""
    consents: list[Consent] = []
    keys = {genesis.governance_key}  # of governance and of the slots before, retired ones too
    for slot in REQUIRED_SLOTS:
        form = grant.consents.get(slot)
        if form is None:
            raise ConsentInvalid(slot, "missing")
        holder = genesis.slot(slot)
        payload, key = _read_consent(form, slot, holder)
        _check_same_decision(payload, grant, slot)
        if problem := expiry_problem(payload.expire_time, now_us):
            raise ConsentInvalid(slot, "expiry", problem)
        if not is_nonce(payload.nonce):
            raise ConsentInvalid(slot, "nonce")
        principals = {consent.principal.casefold() for consent in consents}
        if keys & holder.public_keys or holder.principal.casefold() in principals:
            raise ConsentInvalid(slot, "distinct")
        if payload.nonce in {consent.nonce for consent in consents}:
            raise ConsentInvalid(slot, "distinct")
        keys |= holder.public_keys
        expire_time = parse_time(payload.expire_time)
        consents.append(Consent(slot, holder.principal, payload.nonce, expire_time, key))
    return tuple(consents)


def _read_consent(form: EnvelopeForm, slot: str, holder: SlotKeys) -> tuple[ConsentPayload, bytes]:
    try:
        envelope = open_envelope(form, CONSENT_TYPE, signers=1)
        unverified = _Unverified(envelope, parse_payload(envelope), slot)
    except EnvelopeMalformed as error:
        raise ConsentInvalid(slot, "envelope", error.detail, error.field) from None
    return _verified_consent(unverified, holder)


def _verified_consent(unverified: _Unverified, holder: SlotKeys) -> tuple[ConsentPayload, bytes]:
    """Return the consent and the slot's key that signed it."""
    slot = unverified.slot
    payload = unverified.read(CONSENT_TYPE, ConsentPayload)
    key = _signing_key(unverified, holder)
    if payload.slot != slot or payload.principal != holder.principal:
        raise ConsentInvalid(slot, "principal")
    return payload, key


def _signing_key(unverified: _Unverified, holder: SlotKeys) -> bytes:
    """Return the slot's key that signed; ConsentInvalid if none did, or one that is retired."""
    if holder.is_closed:
        raise ConsentInvalid(unverified.slot, RETIRED_KEY)
    for key in holder.keys:
        if unverified.envelope.signed_by(key.public_key):
            if key.is_retired:
                raise ConsentInvalid(unverified.slot, RETIRED_KEY)
            return key.public_key
    raise ConsentInvalid(unverified.slot, "signature")


def _check_same_decision(consent: ConsentPayload, grant: GrantPayload | Terms, slot: str) -> None:
    proposal = (grant.proposal_id, grant.revision)
    if consent.space != grant.space:
        raise ConsentInvalid(slot, "space")
    if (consent.proposal_id, consent.revision) != proposal:
        raise ConsentInvalid(slot, "proposal")
    if consent.proposal_digest != grant.proposal_digest:
        raise ConsentInvalid(slot, "proposal_digest")
    if consent.action_digest != grant.action_digest:
        raise ConsentInvalid(slot, "action_digest")
    if consent.etags_digest != etags_digest(grant.etags):
        raise ConsentInvalid(slot, "etags")
    if consent.policy_digest != grant.policy_digest:
        raise ConsentInvalid(slot, "policy_digest")
