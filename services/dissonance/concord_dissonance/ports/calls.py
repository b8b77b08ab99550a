"""Credentials, clocks and messages that all ports use."""

from collections.abc import Callable
from typing import NewType

from concord_dissonance.domain.sides import Micros

PRINCIPAL = "dissonance"
"""Dissonance's principal and issuer: other services know its key by this name."""

Credential = NewType("Credential", str)
"""The value of a caller's own authorization header, unchanged."""

Shown = NewType("Shown", object)
"""A message of graph's contract that dissonance passes on unchanged."""

Clock = Callable[[], Micros]
