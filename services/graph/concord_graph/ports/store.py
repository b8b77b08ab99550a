"""The store, and what it may and may not rely on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from concord_graph.domain.leases import Lease, LeaseKey
from concord_graph.ports.reads import Reads
from concord_graph.ports.values import (
    NOBODY,
    Author,
    Change,
    ReadCounts,
    SessionUses,
    SpaceHead,
)
from concord_graph.ports.writes import Writes

T = TypeVar("T")

EXPORTERS = 2
"""How many exports a store runs at once, unless it is configured otherwise."""


class GraphStore(Protocol):
    """The store. Work runs in one transaction and may run again from its start (retries)."""

    async def read(
        self, space: str, work: Callable[[Reads], Awaitable[T]], *, brief: bool = False
    ) -> T:
        """Run work on a consistent view. `brief` work looks at some hundred rows at most: a store
        in this process may do it without a thread."""
        ...

    async def export(self, space: str, work: Callable[[Reads], Awaitable[T]]) -> T:
        """Run work that reads a whole space: on the few readers that exports have to themselves.

        Exports wait for one another, and no other read waits for them.
        """
        ...

    async def write(
        self,
        space: str,
        work: Callable[[Writes], Awaitable[T]],
        *,
        author: Author = NOBODY,
    ) -> T:
        """Run work of an author's request in a transaction; an exception undoes all of it."""
        ...

    @property
    def epoch(self) -> str:
        """The store's epoch; changes when the store is restored."""
        ...

    def pending(self, reads: Callable[[], Sequence[ReadCounts]]) -> None:
        """Show these not yet stored reads in every answer."""
        ...

    async def touch(self, reads: ReadCounts, uses: SessionUses, stored: Callable[[], None]) -> None:
        """Add reads and uses of sessions in one transaction, and call `stored` as they become
        visible.

        No view shows a read both from the store and as pending, or neither way.
        """
        ...

    async def announce_touches(self) -> None:
        """Append one TOUCHED change for each memory read since the last call."""
        ...

    async def spaces(self) -> Sequence[SpaceHead]:
        """Return every space in which something was recorded."""
        ...

    async def changes(self, space: str, after: int, limit: int) -> Sequence[Change]:
        """Return changes in sequence."""
        ...

    async def acquire_lease(self, key: LeaseKey, holder: str, now: int, until: int) -> Lease:
        """Give a lease to a holder unless another has it; return it as it stands then.

        One that is free or expired gets the next number. Of callers at once one is given it.
        """
        ...

    async def renew_lease(self, key: LeaseKey, renewed: Lease, now: int) -> bool:
        """Prolong a lease, if it has not expired and is that holder's under that number."""
        ...

    async def scrub(self, *, thorough: bool) -> None:
        """Take what was erased out of the store's own files, and confirm so in its receipts.

        SQLite does so to the last byte. Neo4j can take nothing out, its operator compacts its
        files: it only confirms. `thorough` also finds what was erased before this object was made.
        Raises `Overloaded` or `StoreUnavailable` when something is in the way: then try again.
        """
        ...

    @property
    def version(self) -> int:
        """A number that grows with every commit through this store object."""
        ...

    async def changed(self, since: int) -> None:
        """Return once `version` is no longer `since`."""
        ...

    async def ready(self) -> bool:
        """Return whether the store answers."""
        ...

    async def close(self) -> None:
        """Close the store; what was committed stays."""
        ...
