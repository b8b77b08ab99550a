"""The constitutive items of a space, by digests alone.

They are computed from the changes of constitutive items, in sequence: by the client from an export,
by graph while it imports the export, by governance from graph's feed. A restore grant signs their
digest, so that all three, and the readers of the audit log, mean the same state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import rfc8785

ENROL = "EnrolPrincipals"
"""The method that wrote the edges of the principals."""


@dataclass(frozen=True, slots=True)
class _Item:
    kind: int
    revision: int
    ends: tuple[str, ...]
    principal: bool


class Agreed:
    """The constitutive items of a space, and the digests of the ends that they pin."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._items: dict[str, _Item] = {}

    def take(
        self,
        item_id: str,
        kind: int,
        revision: int,
        digest: str,
        ends: Mapping[str, str] | None,
        *,
        method: str,
    ) -> None:
        """Apply the next change; `ends` None: the item is not constitutive after it."""
        self._digests |= {item_id: digest, **(ends or {})}
        before = self._items.pop(item_id, None)
        if ends is not None:
            principal = method == ENROL or (before is not None and before.principal)
            self._items[item_id] = _Item(kind, revision, tuple(ends), principal)

    def items(self) -> Sequence[dict[str, Any]]:
        """Return the constitutive items, by id, as JSON."""
        return [
            {
                "id": item_id,
                "kind": item.kind,
                "revision": item.revision,
                "digest": self._digests[item_id],
                "ends": {end: self._digests[end] for end in item.ends},
                "principal": item.principal,
            }
            for item_id, item in sorted(self._items.items())
        ]


def constitutive_digest(items: Sequence[Mapping[str, Any]]) -> str:
    """Return the digest in a restore grant: hex SHA-256 of the items' RFC 8785 JSON."""
    return sha256(rfc8785.dumps([dict(item) for item in items])).hexdigest()
