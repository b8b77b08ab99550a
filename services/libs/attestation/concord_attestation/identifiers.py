"""Ids that sort by their time of creation: UUID version 7 (RFC 9562)."""

from __future__ import annotations

import secrets
import uuid


def new_id(now: int) -> str:
    """Return a UUIDv7 for an instant in microseconds since 1970."""
    milliseconds, rest = divmod(now, 1000)
    # RFC 9562, 6.2 method 3: the fraction of the millisecond leads the random part
    fraction = (rest << 12) // 1000
    value = (milliseconds << 80) | (0x7 << 76) | (fraction << 64)
    value |= (0b10 << 62) | secrets.randbits(62)
    return str(uuid.UUID(int=value))
