"""Signed notes: a text with its signatures. https://c2sp.org/signed-note, Ed25519."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from concord_attestation.keys import verifies

MAX_NOTE_BYTES = 16_384
MAX_SIGNATURES = 16
_ED25519 = b"\x01"
_KEY_HASH_BYTES = 4
_SIGNATURE_LINE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/=]+)")


class NoteInvalid(ValueError):
    """A note is malformed ("form") or lacks the expected signature ("signature")."""


def sign_note(text: str, name: str, key: Ed25519PrivateKey) -> str:
    """Return the note of a text that ends with a line break, signed by the key of this name.

    Raises ValueError for a name that cannot name a key: empty, or with white space or a plus.
    """
    if not re.fullmatch(r"[^\s+]+", name):
        raise ValueError("the name of a key has no white space and no plus sign")
    public = key.public_key().public_bytes_raw()
    signed = _key_hash(name, public) + key.sign(text.encode())
    return f"{text}\n— {name} {b64encode(signed).decode()}\n"


def read_note(note: str, name: str, public_key: bytes) -> str:
    """Return the text of a note that the key of this name has signed.

    Signatures of others (witnesses) are allowed and not verified.

    Raises:
        NoteInvalid: "form" or "signature".
    """
    text, signatures = _split(note)
    key_hash = _key_hash(name, public_key)
    ours = [
        signed[_KEY_HASH_BYTES:]
        for signer, signed in signatures
        if signer == name and signed[:_KEY_HASH_BYTES] == key_hash
    ]
    if len(ours) != 1 or not verifies(public_key, ours[0], text.encode()):
        raise NoteInvalid("signature")
    return text


def from_base64(text: str) -> bytes:
    """Decode standard base64 with padding, if it is the canonical encoding of its bytes."""
    try:
        decoded = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        raise NoteInvalid("form") from None
    if b64encode(decoded).decode() != text:
        raise NoteInvalid("form")
    return decoded


def _split(note: str) -> tuple[str, Sequence[tuple[str, bytes]]]:
    if len(note.encode()) > MAX_NOTE_BYTES or not note.endswith("\n"):
        raise NoteInvalid("form")
    text, gap, tail = note.rpartition("\n\n")
    lines = tail.removesuffix("\n").split("\n")
    if not gap or len(lines) > MAX_SIGNATURES:
        raise NoteInvalid("form")
    signatures = []
    for line in lines:
        found = _SIGNATURE_LINE.fullmatch(line)
        if found is None:
            raise NoteInvalid("form")
        signatures.append((found[1], from_base64(found[2])))
    return text + "\n", signatures


def _key_hash(name: str, public_key: bytes) -> bytes:
    return sha256(name.encode() + b"\n" + _ED25519 + public_key).digest()[:_KEY_HASH_BYTES]
