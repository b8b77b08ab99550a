"""The ports of governance's own signing keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from concord_governance.domain.proposals import (
    Revision,
)


class Granter(Protocol):
    """Governance's key for grants."""

    def grant(
        self, decision_id: str, revision: Revision, consents: Mapping[str, bytes], expire_time: int
    ) -> bytes:
        """Return the signed grant for a revision, carrying the consents by slot."""
        ...


class LogSigner(Protocol):
    """The audit log's key for checkpoints."""

    @property
    def public_key(self) -> bytes:
        """Raw Ed25519 public key, 32 bytes."""
        ...

    def origin(self, space: str) -> str:
        """Return the log's name: the first line of its checkpoints."""
        ...

    def checkpoint(self, space: str, size: int, root: bytes) -> str:
        """Return a signed checkpoint."""
        ...
