"""DSSE envelopes, read strictly: one spelling of every byte, or none.

https://github.com/secure-systems-lab/dsse defines the envelope and what is signed (PAE).
"""

import json
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord_attestation.keys import is_sound, key_id


class EnvelopeMalformed(ValueError):
    """The envelope or its payload is not what its type demands; says nothing more."""


class StrictModel(BaseModel):
    """A shape without unknown fields and without conversions."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _SignatureForm(StrictModel):
    keyid: str = Field(pattern=r"^[0-9a-f]{64}$")
    sig: str = Field(max_length=88)


class EnvelopeForm(StrictModel):
    """The JSON of an envelope, before anything in it is decoded or believed."""

    payload: str
    payloadType: str  # noqa: N815 - DSSE's own spelling
    signatures: list[_SignatureForm] = Field(min_length=1, max_length=8)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A decoded envelope. Nothing in it is believed until `signed_by` says so."""

    payload_type: str
    payload: bytes
    signatures: tuple[tuple[str, bytes], ...]
    """Key id and signature, each key id once."""

    def signed_by(self, public_key: bytes) -> bool:
        """Tell whether the one signature that names this key, a sound one, verifies under it."""
        signature = dict(self.signatures).get(key_id(public_key))
        if signature is None or not is_sound(public_key):
            return False
        try:
            Ed25519PublicKey.from_public_bytes(public_key).verify(signature, self._encoded())
        except (InvalidSignature, ValueError):
            return False
        return True

    def _encoded(self) -> bytes:
        kind = self.payload_type.encode()
        return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(self.payload), self.payload)


def parse_envelope(raw: bytes, payload_type: str, *, signers: int, max_bytes: int) -> Envelope:
    """Read an envelope from its JSON; EnvelopeMalformed unless it is exactly as demanded."""
    if len(raw) > max_bytes:
        raise EnvelopeMalformed
    try:
        form = EnvelopeForm.model_validate(parse_json(raw))
    except ValidationError:
        raise EnvelopeMalformed from None
    return open_envelope(form, payload_type, signers=signers)


def open_envelope(form: EnvelopeForm, payload_type: str, *, signers: int) -> Envelope:
    """Decode an envelope of `payload_type` with `signers` signatures of different keys."""
    if form.payloadType != payload_type or len(form.signatures) != signers:
        raise EnvelopeMalformed
    signatures = tuple((item.keyid, _from_base64(item.sig)) for item in form.signatures)
    if len(dict(signatures)) != signers:
        raise EnvelopeMalformed
    return Envelope(payload_type, _from_base64(form.payload), signatures)


def parse_payload(envelope: Envelope) -> object:
    """Read the payload's JSON; EnvelopeMalformed unless the bytes are its RFC 8785 form."""
    value = parse_json(envelope.payload)
    try:
        canonical = rfc8785.dumps(value)  # type: ignore[arg-type] # parsed JSON is what it takes
    except (ValueError, RecursionError):
        raise EnvelopeMalformed from None
    if canonical != envelope.payload:
        raise EnvelopeMalformed
    return value


def parse_json(raw: bytes) -> object:
    """Read UTF-8 JSON; EnvelopeMalformed for duplicate keys, NaN, infinities and depth."""
    try:
        return json.loads(
            raw.decode("utf-8"), object_pairs_hook=_without_duplicates, parse_constant=_no_constant
        )
    except (ValueError, RecursionError):
        raise EnvelopeMalformed from None


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    items = dict(pairs)
    if len(items) != len(pairs):
        raise EnvelopeMalformed
    return items


def _no_constant(_: str) -> object:
    raise EnvelopeMalformed


def _from_base64(text: str) -> bytes:
    """Decode standard base64 with padding, only in the one spelling of its bytes."""
    try:
        decoded = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        raise EnvelopeMalformed from None
    if b64encode(decoded).decode() != text:
        raise EnvelopeMalformed
    return decoded


_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


def from_base64url(text: str) -> bytes:
    """Decode base64url without padding, only in the one spelling of its bytes."""
    if not _BASE64URL.fullmatch(text):
        raise EnvelopeMalformed
    padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    return _from_base64(padded)
