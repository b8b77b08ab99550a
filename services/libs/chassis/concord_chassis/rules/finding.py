"""What a check has found, and the shape that every check has."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_VIOLATIONS = 20


@dataclass(slots=True)
class Finding:
    """A breach: `path` is relative to where the check stands, each parent puts itself before."""

    path: str
    description: str

    def under(self, parent: str) -> None:
        """Moves the finding below the field or item named `parent`."""
        if not self.path:
            self.path = parent
        elif self.path.startswith("["):
            self.path = parent + self.path
        else:
            self.path = f"{parent}.{self.path}"


# Only the descriptor knows, at run time, of what type a field's value is.
Check = Callable[[Any, list[Finding]], None]
"""Looks at one value and appends what breaks a rule; never raises for a bad value."""


def breach(out: list[Finding], description: str, path: str = "") -> None:
    """Appends a finding about the value itself, or about `path` below it."""
    out.append(Finding(path, description))
