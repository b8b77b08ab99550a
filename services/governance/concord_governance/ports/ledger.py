"""The ledger: proposals, answers and the audit log of a space, in one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from concord_attestation.tree import Frontier
from concord_chassis.channel.cursors import Cursor as PartitionCursor

from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.proposals import Proposal, Status
from concord_governance.ports.access import AccessReads, AccessWrites

T = TypeVar("T")


Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Leaf:
    """An entry of the log with its index. `data`: the hashed RFC 8785 JSON. `time`: µs."""

    index: int
    time: int
    data: bytes


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries a list shows; every stated part must match.

    `since`, `until` (µs, half-open): when the event happened, which is graph's record time if graph
    recorded it, else the entry's own time. Later entries can have happened earlier.
    `item_id`: entries about the item, and about proposals that touch, made or depend on it.
    """

    item_id: str = ""
    actions: tuple[Action, ...] = ()
    actor: Actor | None = None
    since: int | None = None
    until: int | None = None


class Cursor(NamedTuple):
    """The last change of graph's feed in the ledger.

    `change_digest` distinguishes it from any other change of its number; empty: not known.
    """

    epoch: str = ""
    seq: int = 0
    change_digest: str = ""


@dataclass(frozen=True, slots=True)
class RequestReceipt:
    """The result of an earlier request: the digest of its content, and the ids of its proposals."""

    digest: str
    proposal_ids: tuple[str, ...]


class LedgerReads(AccessReads, Protocol):
    """A consistent view of one space's ledger."""

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """Return a proposal by id."""
        ...

    async def proposal_numbered(self, number: int) -> Proposal | None:
        """Return a proposal by number."""
        ...

    async def proposals(
        self, statuses: Sequence[Status], item_id: str, before: int, limit: int
    ) -> Sequence[Proposal]:
        """Return proposals with a number below `before`, newest first; empty parts match all."""
        ...

    async def newest_of_each(self, statuses: Sequence[Status], limit: int) -> Sequence[Proposal]:
        """Return up to `limit` proposals: each proposer's newest is taken before any proposer's
        second newest. The newest comes first."""
        ...

    async def proposal_count(self, statuses: Sequence[Status], proposer: str = "") -> int:
        """Count the proposals in some states, of one proposer if named; reads none of them."""
        ...

    async def due(self, now: int) -> Sequence[Proposal]:
        """Return open proposals that have expired, at most 1,000."""
        ...

    async def undecided_effects(self) -> Sequence[Proposal]:
        """Return decided proposals whose effect is not known yet (status APPROVED)."""
        ...

    async def nonce_is_recorded(self, nonce: str) -> bool:
        """Return whether a nonce is recorded: of an accepted envelope, or of a revoked consent."""
        ...

    async def receipt(self, principal: str, method: str, request_id: str) -> RequestReceipt | None:
        """Return the receipt of an earlier request."""
        ...

    async def log_size(self) -> int:
        """Return how many leaves the log has."""
        ...

    async def leaves(self, start: int, end: int) -> Sequence[Leaf]:
        """Return the leaves from index `start` up to, but without, `end`, in order."""
        ...

    async def entries(self, filter_: EntryFilter, before: int, limit: int) -> Sequence[Leaf]:
        """Return leaves with an index below `before`, newest first."""
        ...

    async def nodes(self, names: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], bytes]:
        """Return hashes of complete subtrees by (level, index)."""
        ...

    async def feed_cursor(self) -> Cursor:
        """Return how far graph's feed has been applied; an empty cursor at first."""
        ...

    async def key_changes(self) -> int:
        """Return the number of executed key changes. While it stays the same and no key change is
        decided, graph's keys are those in the log."""
        ...

    async def unconfirmed(self) -> Sequence[str]:
        """Return the erased memories whose erasure was not confirmed to graph yet."""
        ...


class LedgerWrites(LedgerReads, AccessWrites, Protocol):
    """One transaction on one space's ledger: all of it is kept, or nothing."""

    async def now(self) -> int:
        """Return the transaction's one time (µs), no earlier than the log's newest entry. Each
        appended entry carries it, so that a verifier can repeat the judgements made by it."""
        ...

    async def next_number(self) -> int:
        """Return the next proposal number of the space, from 1."""
        ...

    async def put(self, before: Proposal | None, after: Proposal) -> None:
        """Insert or replace a proposal; also store the bytes of a new revision.

        Raises LostRace if the stored version differs from that of `before`.
        """
        ...

    async def record_nonce(self, nonce: str) -> None:
        """Record the nonce of an accepted envelope or a revoked consent; the second time fails."""
        ...

    async def keep_receipt(
        self, principal: str, method: str, request_id: str, receipt: RequestReceipt
    ) -> None:
        """Store the receipt of a request, for 7 days."""
        ...

    async def append(self, entries: Sequence[Entry]) -> None:
        """Append entries to the log, with times that never step back."""
        ...

    async def move_cursor(self, cursor: Cursor) -> None:
        """Remember how far graph's feed has been applied."""
        ...

    async def move_partition(self, partition: int, cursor: PartitionCursor | None) -> None:
        """Remember how far a partition of the feed has been applied; None: forget it.

        The last statement of its transaction: those of other spaces may wait for it.
        """
        ...

    async def count_key_change(self) -> None:
        """Count one more executed key change."""
        ...

    async def forget_words(self, item_id: str, *, confirm: bool) -> int:
        """Remove the words of every proposal that touches an item; digests stay.

        Return the number of revisions that lost words. `confirm`: `unconfirmed` lists the item
        from then on.
        """
        ...

    async def forget_proposals(self, proposal_ids: Sequence[str]) -> int:
        """Remove the words of these proposals, digests stay; return of how many there were some."""
        ...

    async def forget_all_words(self) -> None:
        """Remove the words of every proposal of the space; digests stay."""
        ...

    async def confirmed(self, memory_id: str) -> None:
        """Remember that an erasure was confirmed to graph."""
        ...


async def frontier_of(tx: LedgerReads) -> Frontier:
    """Return the right edge of a space's log, as it is stored."""
    size = await tx.log_size()
    names = Frontier.edge_of(size)
    nodes = await tx.nodes(names)
    return Frontier(size, [nodes[name] for name in names])


class Ledger(Protocol):
    """The ledger's store. A ledger has one writer at a time; `work` may be run repeatedly."""

    async def read(self, space: str, work: Callable[[LedgerReads], Awaitable[T]]) -> T:
        """Run work on a consistent view."""
        ...

    async def write(self, space: str, work: Callable[[LedgerWrites], Awaitable[T]]) -> T:
        """Run work in a transaction; an exception undoes all of it."""
        ...

    async def write_each(
        self, works: Mapping[str, Callable[[LedgerWrites], Awaitable[T]]]
    ) -> Mapping[str, T]:
        """Run each space's work, in as few transactions as the store can: of an exception it is
        not known which ones are kept. Return the results by space."""
        ...

    async def spaces(self) -> Sequence[str]:
        """Return every space that has a ledger."""
        ...

    async def cursors(self) -> Mapping[str, Cursor]:
        """Return how far the feed of every space has been applied, in one query."""
        ...

    async def partitions(self) -> Mapping[int, PartitionCursor]:
        """Return how far each partition of the feed has been applied: it may lag behind the spaces'
        cursors, of which each keeps that nothing is applied twice."""
        ...

    async def unconfirmed_spaces(self) -> Sequence[str]:
        """Return the spaces with erasures that were not confirmed to graph yet."""
        ...

    async def proposal_times(self, statuses: Sequence[Status]) -> Sequence[int]:
        """Return the create times (µs) of the proposals in some states of all spaces, in no
        order."""
        ...

    async def waiting(self, now: int) -> Sequence[str]:
        """Return the spaces with proposals that are due or whose effect is not known yet. It is
        called all the time, so one query answers for all spaces."""
        ...

    async def scrub(self) -> bool:
        """Clear the bytes of removed words from every file; False: it must be tried again."""
        ...

    async def ready(self) -> bool:
        """Return whether the store answers."""
        ...

    async def close(self) -> None:
        """Close the store; what was committed stays."""
        ...
