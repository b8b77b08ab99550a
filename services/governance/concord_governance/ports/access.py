"""Spaces and API keys in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from concord_governance.domain.access import ApiKey, SignIn, Space


class AccessReads(Protocol):
    """Reads spaces and API keys of every space, not only of the transaction's own."""

    async def space_named(self, name: str) -> Space | None:
        """Return a space on record, deleted or not."""
        ...

    async def space_count(self) -> int:
        """Return how many spaces are on record, deleted ones among them."""
        ...

    async def space_list(self, after: str, limit: int, *, deleted: bool) -> Sequence[Space]:
        """Return spaces in the order of their names, from after the name `after`.

        `deleted`: also the deleted ones.
        """
        ...

    async def spaces_to_erase(self) -> Sequence[str]:
        """Return the deleted spaces whose content graph may still hold."""
        ...

    async def key_of_digest(self, digest: str) -> ApiKey | None:
        """Return the key of a digest, in whatever state."""
        ...

    async def key_of_id(self, key_id: str) -> ApiKey | None:
        """Return the key of a public id, in whatever state."""
        ...

    async def key_list(
        self, space: str, before: tuple[int, str], limit: int, active_at: int | None
    ) -> Sequence[ApiKey]:
        """Return keys of a space, newest first, older than `before` (create time, id).

        With `active_at` (µs) only the keys that are active at that time.
        """
        ...

    async def sign_in(self, digest: str) -> SignIn | None:
        """Return the code or session of a digest, also one that has expired."""
        ...


class AccessWrites(AccessReads, Protocol):
    """Writes spaces and keys, none of which is ever removed, and sign-ins, which are."""

    async def lock_space(self, name: str) -> Space | None:
        """Return a space, and lock it with its keys until the transaction ends.

        The lock keeps out only transactions that call this too. None: there is no such space, and
        nothing is locked.
        """
        ...

    async def put_space(self, space: Space) -> None:
        """Insert or replace a space."""
        ...

    async def put_key(self, key: ApiKey) -> None:
        """Insert or replace a key, by its digest."""
        ...

    async def revoke_keys(self, space: str, time: int) -> int:
        """Revoke every key of a space that is not revoked yet; return their number."""
        ...

    async def note_uses(self, uses: Mapping[str, int]) -> None:
        """Store the last use (µs) of keys by id, but never replace a later one."""
        ...

    async def put_sign_in(self, sign_in: SignIn) -> None:
        """Insert a code or session; its digest is new."""
        ...

    async def delete_sign_in(self, digest: str) -> None:
        """Remove a code or session, if there is one."""
        ...

    async def delete_expired_sign_ins(self, time: int) -> None:
        """Remove the codes and sessions of all keys that expire at a time (µs) or before."""
        ...

    async def delete_oldest_sign_ins(self, key_id: str, kept: int) -> None:
        """Remove all codes and sessions of a key but the `kept` newest."""
        ...
