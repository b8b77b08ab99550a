"""Credentials and clocks that all ports use."""

from collections.abc import Callable
from typing import NewType

from concord_dissonance.domain.sides import Micros

PRINCIPAL = "dissonance"
"""Dissonance's principal and issuer: other services know its key by this name."""

Credential = NewType("Credential", str)
"""The value of a caller's own authorization header, unchanged."""

Clock = Callable[[], Micros]
