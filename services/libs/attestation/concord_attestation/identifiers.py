"""Ids that sort by their time of creation: UUID version 7 (RFC 9562), and their short form."""

from __future__ import annotations

import base64
import re
import secrets
import uuid

_LONG = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_SHORT = re.compile(r"(?<![\w-])_[A-Za-z0-9_-]{21}(?![\w-])")
_FIRST = "A"
"""The first character of the base64 of every UUIDv7 before the year 2109."""


def new_id(now: int) -> str:
    """Return a UUIDv7 for an instant in microseconds since 1970."""
    milliseconds, rest = divmod(now, 1000)
    # RFC 9562, 6.2 method 3: the fraction of the millisecond leads the random part
    fraction = (rest << 12) // 1000
    value = (milliseconds << 80) | (0x7 << 76) | (fraction << 64)
    value |= (0b10 << 62) | secrets.randbits(62)
    return str(uuid.UUID(int=value))


def short_ids(text: str) -> str:
    """The text with each UUIDv7 in 22 characters instead of 36: "_" and its base64url.

    No id of a caller begins with "_", so nothing else looks like one.
    """
    return _LONG.sub(_shortened, text)


def full_ids(text: str) -> str:
    """The text with each id of `short_ids` written in full again."""
    return _SHORT.sub(_lengthened, text)


def _shortened(found: re.Match[str]) -> str:
    written = base64.urlsafe_b64encode(uuid.UUID(found[0]).bytes).decode()
    return f"_{written[1:22]}" if written[0] == _FIRST else found[0]


def _lengthened(found: re.Match[str]) -> str:
    full = str(uuid.UUID(bytes=base64.urlsafe_b64decode(f"{_FIRST}{found[0][1:]}==")))
    return full if short_ids(full) == found[0] else found[0]
