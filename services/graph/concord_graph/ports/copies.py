"""What a backup reads of a store in use, or of a copy of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class GraphCopy(Protocol):
    """Graph's store as it stood at one instant."""

    @property
    def epoch(self) -> str:
        """The store's epoch."""

    @property
    def schema(self) -> int:
        """The version of its schema."""

    def heads(self) -> Mapping[str, int]:
        """The last sequence number of each space that has a change."""

    def digest_at(self, space: str, seq: int, epoch: str) -> str:
        """The digest, under an epoch, of the change `seq`; empty when there is none."""

    def erasures(self) -> Iterable[tuple[str, str]]:
        """(space, memory id) of every receipt of an erasure, in order."""

    def nonces(self) -> Iterable[tuple[str, str]]:
        """(space, nonce) of every burnt nonce, in order."""
