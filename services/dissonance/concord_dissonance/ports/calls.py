"""Credentials, clocks and repeated ids of calls."""

import hashlib
from collections.abc import Callable
from typing import NewType

from concord_dissonance.domain.sides import Micros

PRINCIPAL = "dissonance"
"""Dissonance's principal and issuer: other services know its key by this name."""

Credential = NewType("Credential", str)
"""The value of a caller's own authorization header, unchanged."""


def repeated_id(*parts: object) -> str:
    """Return a request id that is the same whenever a request is repeated, and no other's."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


Clock = Callable[[], Micros]
