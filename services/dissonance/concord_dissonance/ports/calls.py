"""Who calls, and when: what every port's methods take."""

from collections.abc import Callable
from typing import NewType

from concord_dissonance.domain.sides import Micros

PRINCIPAL = "dissonance"
"""Dissonance's principal and issuer: other services know its key by this name."""

Credential = NewType("Credential", str)
"""A caller's own authorization, as it came."""

Shown = NewType("Shown", object)
"""A message of graph's contract that passes through as it is."""

Clock = Callable[[], Micros]
