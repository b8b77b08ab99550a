"""Spaces and API keys in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from concord_governance.domain.access import ApiKey, Space


class AccessReads(Protocol):
    """Spaces and API keys, of every space whichever the transaction is of."""

    async def space_named(self, name: str) -> Space | None:
        """Return a space that operators know, deleted or not."""
        ...

    async def space_list(self, after: str, limit: int, *, deleted: bool) -> Sequence[Space]:
        """Return spaces by name, beyond the one called `after`; deleted ones when asked."""
        ...

    async def spaces_to_erase(self) -> Sequence[str]:
        """Return the deleted spaces of which graph may hold something."""
        ...

    async def key_of_digest(self, digest: str) -> ApiKey | None:
        """Return the key of a digest, ended or not."""
        ...

    async def key_of_id(self, key_id: str) -> ApiKey | None:
        """Return the key of a public id, ended or not."""
        ...

    async def key_list(
        self, space: str, before: tuple[int, str], limit: int, active_at: int | None
    ) -> Sequence[ApiKey]:
        """Return keys of a space, newest first, older than `before` (create time, id).

        With `active_at` only those that open the space at that time.
        """
        ...


class AccessWrites(AccessReads, Protocol):
    """Writes spaces and keys. None of them is ever removed."""

    async def hold_space(self, name: str) -> Space | None:
        """Return a space; nobody else changes it or its keys until the transaction ends.

        Holds for those who ask for it in the same way; a space that is not there is not held.
        """
        ...

    async def put_space(self, space: Space) -> None:
        """Keep a space as it stands."""
        ...

    async def put_key(self, key: ApiKey) -> None:
        """Keep a key as it stands, by its digest."""
        ...

    async def revoke_keys(self, space: str, time: int) -> int:
        """Revoke every key of a space that is not yet; return how many."""
        ...

    async def note_uses(self, uses: Mapping[str, int]) -> None:
        """Keep when keys were last used, by id; never an earlier time than is kept."""
        ...
