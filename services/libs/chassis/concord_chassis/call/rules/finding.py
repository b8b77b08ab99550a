"""The type of every check of a value, and the findings that it appends."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_VIOLATIONS = 20
"""Most violations in the refusal of one message."""


@dataclass(slots=True)
class Finding:
    """A broken rule. `path` is relative to the checked value; "" is the value itself.

    The check of each enclosing field or item then puts its own name before the path.
    """

    path: str
    description: str

    def under(self, parent: str) -> None:
        """Puts `parent`, a field's name or an item's `[index]` or `[key]`, before the path."""
        if not self.path:
            self.path = parent
        elif self.path.startswith("["):
            self.path = parent + self.path
        else:
            self.path = f"{parent}.{self.path}"


# `Any`: the type of a field's value is known only at run time, from the descriptor.
Check = Callable[[Any, list[Finding]], None]
"""Checks one value and appends a finding for each broken rule; never raises for a bad value."""


def breach(out: list[Finding], description: str, path: str = "") -> None:
    """Appends a finding about the checked value itself, or about `path` within it."""
    out.append(Finding(path, description))
