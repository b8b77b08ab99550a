"""The store's port, and those for parsers and clocks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from concord_graph.domain.leases import Lease, LeaseKey
from concord_graph.domain.links import WrittenLink
from concord_graph.ports.reads import Reads
from concord_graph.ports.values import (
    NOBODY,
    Author,
    Change,
    FeedChange,
    ReadCounts,
    SessionUses,
    SpaceHead,
    Unsettled,
)
from concord_graph.ports.writes import Writes

T = TypeVar("T")
LinkParser = Callable[[str], Sequence[WrittenLink]]
ConceptExtractor = Callable[[str], Sequence[str]]
Clock = Callable[[], int]

EXPORTERS = 2
"""The number of exports that a store runs at once, unless configured otherwise."""
PARTITIONS = 64
"""The number of partitions that a new store gets, unless configured otherwise (S10)."""


class GraphStore(Protocol):
    """The store. `work` runs in one transaction; a retry runs it again from its start."""

    async def read(
        self, space: str, work: Callable[[Reads], Awaitable[T]], *, brief: bool = False
    ) -> T:
        """Run work on a consistent view. `brief`: the work looks at some hundred rows at most, so
        that a store in this process may run it without a thread."""
        ...

    async def export(self, space: str, work: Callable[[Reads], Awaitable[T]]) -> T:
        """Run work that reads a whole space, on one of the few readers reserved for exports.

        Exports wait for one another; no other read waits for them.
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
        """Let every view include the reads that `reads` returns, which are not stored yet."""
        ...

    async def touch(self, reads: ReadCounts, uses: SessionUses, stored: Callable[[], None]) -> None:
        """Add reads and uses of sessions in one transaction, and call `stored` as they become
        visible.

        No view shows a read both from the store and as pending, or neither way.
        """
        ...

    async def newly_read(self) -> Mapping[str, Sequence[str]]:
        """Return the ids of the memories that were read since the last call, by space."""
        ...

    async def spaces(self, partition: int, after: str, limit: int) -> Sequence[SpaceHead]:
        """Return up to `limit` spaces of a partition that have a change: those after a name, by
        name."""
        ...

    async def unsettled(self) -> Sequence[Unsettled]:
        """Return the spaces that were written before the store kept how items stand."""
        ...

    async def changes(self, space: str, after: int, limit: int) -> Sequence[Change]:
        """Return up to `limit` changes after a sequence number, in sequence."""
        ...

    async def changes_at(
        self, places: Collection[tuple[str, int]]
    ) -> Mapping[tuple[str, int], Change]:
        """Return the changes at places, each a space and a sequence number: those there are."""
        ...

    async def numbers(self) -> Sequence[int]:
        """Return the number of each partition's newest change, 0 without one: as many as the store
        has partitions, for good.

        Each change has a number in its space's partition (`partition_of`), from 1. Who reads a
        number can read all changes of that partition up to it: no later commit adds one below.
        """
        ...

    async def feed(self, partition: int, after: int, limit: int) -> Sequence[FeedChange]:
        """Return up to `limit` changes of a partition after a number, in the order of numbers."""
        ...

    async def numbered(
        self, cursors: Collection[tuple[int, int]]
    ) -> Mapping[tuple[int, int], Change]:
        """Return the changes of cursors, each a partition and a number: those there are."""
        ...

    async def passed(self, numbers: Mapping[int, int]) -> Collection[int]:
        """Return those of some partitions that have changes after a number, once any has.

        Commits in other partitions do not wake the caller.
        """
        ...

    async def acquire_lease(self, key: LeaseKey, holder: str, now: int, until: int) -> Lease:
        """Give a lease to a holder unless another has it; return the lease as it is afterwards.

        A lease that was free or expired gets the next number. Of concurrent callers one gets it.
        """
        ...

    async def renew_lease(self, key: LeaseKey, renewed: Lease, now: int) -> bool:
        """Prolong a lease; return False if it expired or has another holder or number."""
        ...

    async def scrub(self, *, thorough: bool) -> None:
        """Remove erased content from the store's own files, and confirm that in the receipts.

        SQLite removes it to the last byte. Neo4j only confirms, as its operator compacts its
        files. `thorough` also covers erasures from before this object was made.
        Raises `Overloaded` or `StoreUnavailable` when the files are busy: then try again.
        """
        ...

    async def ready(self) -> bool:
        """Return whether the store answers."""
        ...

    async def close(self) -> None:
        """Close the store; what was committed stays."""
        ...
