"""DSSE envelopes, read strictly: one spelling of every byte, or none.

https://github.com/secure-systems-lab/dsse defines the envelope and what is signed (PAE).
"""

import json
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord_attestation.bounds import FEWEST_NONCE_BYTES
from concord_attestation.keys import is_sound, key_id, verifies

ENVELOPE_DETAILS = (
    *("size", "json", "envelope_fields", "payload_type", "signature_count", "base64", "canonical"),
    *("version", "fields"),
)
"""The defects of an envelope, in the order of the checks: its bytes are too many, or are no JSON
(UTF-8, no name twice, no NaN); its members are not those of an envelope; it has another type or
another number of signers; its base64 is not canonical; its statement is not in the RFC 8785 form,
has an unknown version, or has other fields than its version."""


class EnvelopeMalformed(ValueError):
    """The envelope or its statement does not have the form of its type.

    `detail` is one of ENVELOPE_DETAILS; `field` is the field of the contract that is missing or
    ill-typed, "" for other defects.
    """

    def __init__(self, detail: str, field: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.field = field


class StrictModel(BaseModel):
    """A shape without unknown fields and without conversions."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _SignatureForm(StrictModel):
    keyid: str = Field(pattern=r"^[0-9a-f]{64}$")
    sig: str = Field(max_length=88)


class EnvelopeForm(StrictModel):
    """The JSON of an envelope, before decoding and verification."""

    payload: str
    payloadType: str  # noqa: N815 - DSSE's own spelling
    signatures: list[_SignatureForm] = Field(min_length=1, max_length=8)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A decoded envelope, not trusted before `signed_by` has returned True."""

    payload_type: str
    payload: bytes
    signatures: tuple[tuple[str, bytes], ...]
    """Key id and signature, each key id once."""

    def signed_by(self, public_key: bytes) -> bool:
        """Return whether the key is sound and the one signature that names it verifies."""
        signature = dict(self.signatures).get(key_id(public_key))
        if signature is None or not is_sound(public_key):
            return False
        return verifies(public_key, signature, self._encoded())

    def _encoded(self) -> bytes:
        kind = self.payload_type.encode()
        return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(self.payload), self.payload)


def parse_envelope(
    envelope_json: bytes, payload_type: str, *, signers: int, max_bytes: int
) -> Envelope:
    """Read an envelope from its JSON; EnvelopeMalformed unless it has type and signer count."""
    form = parse_form(envelope_json, max_bytes=max_bytes)
    return open_envelope(form, payload_type, signers=signers)


def parse_form(envelope_json: bytes, *, max_bytes: int) -> EnvelopeForm:
    """Read the members of an envelope; EnvelopeMalformed for other ones, or too many bytes."""
    if len(envelope_json) > max_bytes:
        raise EnvelopeMalformed("size")
    try:
        return EnvelopeForm.model_validate(parse_json(envelope_json))
    except ValidationError as error:
        raise EnvelopeMalformed("envelope_fields", field_of(error)) from None


def field_of(error: ValidationError) -> str:
    """Return the first field that is missing or ill-typed; "" when a field is unknown.

    The name of an unknown field, or of one within a map, is the caller's own word: it is not
    repeated.
    """
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = first["loc"]
    unknown = first["type"] == "extra_forbidden" and len(place) == 1
    return "" if unknown or not place else str(place[0])


def open_envelope(form: EnvelopeForm, payload_type: str, *, signers: int) -> Envelope:
    """Decode an envelope of `payload_type` with `signers` signatures of different keys."""
    if form.payloadType != payload_type:
        raise EnvelopeMalformed("payload_type")
    if len(form.signatures) != signers:
        raise EnvelopeMalformed("signature_count")
    signatures = tuple((item.keyid, _from_base64(item.sig)) for item in form.signatures)
    if len(dict(signatures)) != signers:
        raise EnvelopeMalformed("signature_count")
    return Envelope(payload_type, _from_base64(form.payload), signatures)


def parse_payload(envelope: Envelope) -> object:
    """Read the statement; EnvelopeMalformed unless the payload's bytes are its RFC 8785 form."""
    value = parse_json(envelope.payload)
    try:
        canonical = rfc8785.dumps(value)  # type: ignore[arg-type] # parsed JSON is what it takes
    except (ValueError, RecursionError):
        raise EnvelopeMalformed("canonical") from None
    if canonical != envelope.payload:
        raise EnvelopeMalformed("canonical")
    return value


def parse_json(text: bytes) -> object:
    """Read UTF-8 JSON; EnvelopeMalformed for duplicate keys, NaN, infinities and depth."""
    try:
        return json.loads(
            text.decode("utf-8"), object_pairs_hook=_without_duplicates, parse_constant=_no_constant
        )
    except (ValueError, RecursionError):
        raise EnvelopeMalformed("json") from None


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    items = dict(pairs)
    if len(items) != len(pairs):
        raise EnvelopeMalformed("json")
    return items


def _no_constant(_: str) -> object:
    raise EnvelopeMalformed("json")


def _from_base64(text: str) -> bytes:
    """Decode standard base64 with padding, if it is the canonical encoding of its bytes."""
    try:
        decoded = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        raise EnvelopeMalformed("base64") from None
    if b64encode(decoded).decode() != text:
        raise EnvelopeMalformed("base64")
    return decoded


_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


def from_base64url(text: str) -> bytes:
    """Decode base64url without padding, if it is the canonical encoding of its bytes."""
    if not _BASE64URL.fullmatch(text):
        raise EnvelopeMalformed("base64")
    padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    return _from_base64(padded)


def is_nonce(text: str) -> bool:
    """Return whether a text is base64url of enough bytes for a nonce."""
    try:
        return len(from_base64url(text)) >= FEWEST_NONCE_BYTES
    except EnvelopeMalformed:
        return False
