"""What both parties of a space agreed to, as it stands, told by digests alone.

Made from the changes that protection had a say in, in sequence: the client makes it from an
export, graph while it imports that, governance from graph's feed. A restore grant signs its digest,
so all of them, and whoever reads the audit log, speak of the same state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import rfc8785

ENROL = "EnrolPrincipals"
"""The method that wrote what stands for the principals."""


@dataclass(frozen=True, slots=True)
class _Standing:
    kind: int
    revision: int
    ends: tuple[str, ...]
    principal: bool


class Agreed:
    """The constitutive items of a space, and what they rest on."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._standing: dict[str, _Standing] = {}

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
        """Take the next change; `ends` None: the item is not constitutive after it."""
        self._digests |= {item_id: digest, **(ends or {})}
        before = self._standing.pop(item_id, None)
        if ends is not None:
            principal = method == ENROL or (before is not None and before.principal)
            self._standing[item_id] = _Standing(kind, revision, tuple(ends), principal)

    def items(self) -> Sequence[dict[str, Any]]:
        """Return what is constitutive now, by id, as JSON."""
        return [
            {
                "id": item_id,
                "kind": item.kind,
                "revision": item.revision,
                "digest": self._digests[item_id],
                "ends": {end: self._digests[end] for end in item.ends},
                "principal": item.principal,
            }
            for item_id, item in sorted(self._standing.items())
        ]


def constitutive_digest(items: Sequence[Mapping[str, Any]]) -> str:
    """Return what a restore grant names such items by: hex SHA-256 of their RFC 8785 JSON."""
    return sha256(rfc8785.dumps([dict(item) for item in items])).hexdigest()
