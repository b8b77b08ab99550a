"""A signer written from SIGNING.md alone: it imports nothing of Concord's, and no JSON library but
the standard one."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode, urlsafe_b64encode
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def media_type(name: str) -> str:
    """Return the type of a statement."""
    return f"application/vnd.concord.{name}.v1+json"


def canonical(value: Any) -> bytes:
    """Return the RFC 8785 form of JSON without fractions: all that a signer has to write."""
    return json.dumps(_sorted(value), ensure_ascii=False, separators=(",", ":")).encode()


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value, key=_utf_16)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _utf_16(name: str) -> bytes:
    return name.encode("utf-16-be")


def digest(data: bytes) -> str:
    """Return a hex SHA-256."""
    return hashlib.sha256(data).hexdigest()


def text(data: bytes) -> str:
    """Return a nonce's or a key's spelling inside a statement."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def public(key: Ed25519PrivateKey) -> bytes:
    """Return a raw public key."""
    return key.public_key().public_bytes_raw()


def signed(name: str, statement: dict[str, Any], *keys: Ed25519PrivateKey) -> bytes:
    """Return the envelope of a statement."""
    payload, kind = canonical(statement), media_type(name)
    encoded = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    return canonical(
        {
            "payload": b64encode(payload).decode(),
            "payloadType": kind,
            "signatures": [
                {"keyid": digest(public(key)), "sig": b64encode(key.sign(encoded)).decode()}
                for key in keys
            ],
        }
    )
