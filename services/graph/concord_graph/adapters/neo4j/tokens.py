"""Names that callers choose and that Neo4j keeps as tokens: labels, relationship types, keys.

A token is never freed, and there is room for 65,536 relationship types in all. So a store takes
callers' names only up to a bound. Beyond it, items are stored under a general name; their own names
are in their properties, which are the ones that reads use.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_LABELS = 50_000
MOST_TYPES = 50_000
MOST_KEYS = 100_000
GENERAL_TYPE = "RELATION"

_KEY = re.compile(r"[^\W\d]\w{0,63}")
_LARGEST = 2**63 - 1


@dataclass(slots=True)
class Tokens:
    """The callers' names that are tokens of this store, as far as this process knows."""

    labels: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)

    def label(self, name: str) -> list[str]:
        """Return the label to show beside `Entity`: the node's own, or none."""
        return [name] if _admitted(self.labels, name, MOST_LABELS) else []

    def type(self, relation: str) -> str:
        """Return the relationship type that shows a relation."""
        return relation if _admitted(self.types, relation, MOST_TYPES) else GENERAL_TYPE

    def shown(self, properties: Mapping[str, Any], taken: Collection[str]) -> dict[str, Any]:
        """Return those of a caller's properties that Neo4j can hold as its own, for people to read.

        `taken`: the property names that Concord uses itself. The JSON text beside has all of them.
        """
        return {
            key: value
            for key, value in properties.items()
            if key not in taken
            and _KEY.fullmatch(key)
            and _is_native(value)
            and _admitted(self.keys, key, MOST_KEYS)
        }


def _admitted(known: set[str], name: str, most: int) -> bool:
    if name in known:
        return True
    if not name or "\0" in name or len(known) >= most:
        return False
    known.add(name)
    return True


def _is_native(value: Any) -> bool:
    if isinstance(value, list):
        return len({type(part) for part in value}) == 1 and all(map(_is_scalar, value))
    return _is_scalar(value)


def _is_scalar(value: Any) -> bool:
    if isinstance(value, int):
        return -_LARGEST <= value <= _LARGEST
    return isinstance(value, (str, float))
