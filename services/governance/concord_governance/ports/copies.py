"""What a backup reads of a ledger in use, or of a copy of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from concord_governance.domain.access import ApiKey, Space
from concord_governance.ports.ledger import Cursor


@dataclass(frozen=True, slots=True)
class LogHead:
    """The head of a space's log, and the last change of graph in it. `root`: 32 bytes."""

    size: int
    root: bytes
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class EndedKey:
    """A key that another copy of the ledger knows to be revoked or to end at a time (µs)."""

    id: str
    space: str
    revoke_time: int | None
    expire_time: int | None


class LedgerCopy(Protocol):
    """The ledger as it stood at one instant."""

    @property
    def schema(self) -> int:
        """The version of its schema."""

    def log_heads(self) -> Mapping[str, LogHead]:
        """The head of each space's log."""

    def ended_keys(self) -> Iterable[EndedKey]:
        """Every key that was revoked or has an expire time."""

    def deleted_spaces(self) -> Iterable[Space]:
        """Every deleted space."""

    def key_of(self, digest: str) -> ApiKey | None:
        """The key of a digest, in whatever state."""
