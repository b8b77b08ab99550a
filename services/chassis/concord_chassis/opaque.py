"""Opaque tokens for clients: checksummed, bound to what made them, never secret.

A token says where to go on, not who may: the space comes from the credential on every call. So a
checksum against damage is enough, and no key has to be shared between replicas.
"""

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import grpc
from google.protobuf.message import Message

from concord_chassis.failure import Failure, FieldViolation

_CHECK_BYTES = 8
_PAGE_FIELDS = ("page_token", "page_size")


class Damaged(ValueError):
    """The text is no token, or not whole."""


def seal(data: bytes) -> str:
    """Return base64url text with a checksum in it."""
    check = hashlib.sha256(data).digest()[:_CHECK_BYTES]
    return urlsafe_b64encode(check + data).rstrip(b"=").decode()


def unseal(text: str) -> bytes:
    """Return what was sealed. Raises `Damaged`."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError as error:
        raise Damaged("not base64url") from error
    data = raw[_CHECK_BYTES:]
    if seal(data) != text:
        raise Damaged("not whole")
    return data


def page_token(query: Message, cursor: Any) -> str:
    """Return the token for the page of `query` after `cursor`, a JSON value."""
    return seal(json.dumps([_query_digest(query), cursor], separators=(",", ":")).encode())


def page_cursor(query: Message) -> Any:
    """Return the cursor in the query's `page_token`; None on the first page.

    Raises `Failure` (PAGE_TOKEN_INVALID) for a damaged token or one of another query.
    """
    text: str = getattr(query, "page_token")  # noqa: B009 - a field of every paged request
    if not text:
        return None
    try:
        digest, cursor = json.loads(unseal(text))
    except ValueError:
        digest, cursor = "", None
    if digest != _query_digest(query):
        raise Failure(
            grpc.StatusCode.INVALID_ARGUMENT,
            "ERROR_REASON_PAGE_TOKEN_INVALID",
            "The page token was not made by this query.",
            violations=[FieldViolation("page_token", "was not made by this query")],
        )
    return cursor


def _query_digest(query: Message) -> str:
    rest = type(query)()
    rest.CopyFrom(query)
    for name in _PAGE_FIELDS:
        rest.ClearField(name)
    named = query.DESCRIPTOR.full_name.encode() + b"\0" + rest.SerializeToString(deterministic=True)
    return hashlib.sha256(named).hexdigest()[:32]
