"""Opaque tokens for clients: with a checksum, bound to their query, not secret.

A page token holds the place where the next page begins, but grants no access: the space comes from
the credential of each call. So a checksum against damage is enough, and replicas need no shared
key.
"""

import hashlib
import json
import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import Message

from concord_chassis.call.failure import Failure, FieldViolation
from concord_chassis.call.identity import caller

_CHECK_BYTES = 8
_PAGE_FIELDS = ("page_token", "page_size")
_INT64 = 2**63

Shape: TypeAlias = type[str] | type[int] | type[float] | tuple["Shape", ...]
"""The shape of a cursor: `str`, `int` (64 bits, signed), `float` (finite; whole numbers, too), or a
tuple for a list of as many members with these shapes."""


class Damaged(ValueError):
    """The text is not a sealed token, or its checksum is wrong."""


def seal(data: bytes) -> str:
    """Returns the data with a checksum as base64url text without padding."""
    check = hashlib.sha256(data).digest()[:_CHECK_BYTES]
    return urlsafe_b64encode(check + data).rstrip(b"=").decode()


def unseal(text: str) -> bytes:
    """Returns the data of a sealed text. Raises `Damaged`."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError as error:
        raise Damaged("not base64url") from error
    data = raw[_CHECK_BYTES:]
    if seal(data) != text:
        raise Damaged("not whole")
    return data


def page_token(query: Message, cursor: Any) -> str:
    """Returns the token for the page of `query` after `cursor`, a JSON value."""
    return seal(json.dumps([_query_digest(query), cursor], separators=(",", ":")).encode())


def page_cursor(query: Message, shape: Shape | None = None) -> Any:
    """Returns the cursor in the query's `page_token`; None on the first page.

    `shape` is the shape of this method's cursors; None accepts any. It is checked because a
    checksum is no signature: anybody can make a token with any cursor.

    Raises `Failure` (PAGE_TOKEN_INVALID) for a damaged token, a token of another query or space, or
    a cursor of another shape.
    """
    text: str = getattr(query, "page_token")  # noqa: B009 - a field of every paged request
    if not text:
        return None
    try:
        digest, cursor = json.loads(unseal(text))
    except (ValueError, TypeError, RecursionError):
        digest, cursor = "", None
    if digest != _query_digest(query) or not (shape is None or _fits(cursor, shape)):
        raise Failure(
            grpc.StatusCode.INVALID_ARGUMENT,
            "ERROR_REASON_PAGE_TOKEN_INVALID",
            "The page token was not made by this query.",
            violations=[FieldViolation("page_token", "was not made by this query")],
        )
    return cursor


def _fits(value: Any, shape: Shape) -> bool:
    if isinstance(shape, tuple):
        return (
            isinstance(value, list) and len(value) == len(shape) and all(map(_fits, value, shape))
        )
    if shape is float and type(value) is float:
        return math.isfinite(value)
    if shape in (int, float):
        return type(value) is int and -_INT64 <= value < _INT64
    return isinstance(value, str)


def _query_digest(query: Message) -> str:
    rest = type(query)()
    rest.CopyFrom(query)
    for name in _PAGE_FIELDS:
        rest.ClearField(name)
    query_bytes = rest.SerializeToString(deterministic=True)
    named = f"{_space()}\0{query.DESCRIPTOR.full_name}\0".encode() + query_bytes
    return hashlib.sha256(named).hexdigest()[:32]


def _space() -> str:
    """Returns the caller's space, or "": an equal request for another space is another query."""
    try:
        return caller().space
    except LookupError:
        return ""
