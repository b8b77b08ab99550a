"""The graph service, its feed, and the values that both return."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from concord_attestation.consent import GenesisRecord
from concord_chassis.channel.cursors import Cursor as PartitionCursor

from concord_governance.domain.dissonance import Conflict, OpenConflicts
from concord_governance.domain.proposals import Affected, Decision, Effect, Json, Revision
from concord_governance.ports.ledger import Cursor

NormalForm = Callable[[Mapping[str, Json]], tuple[Mapping[str, Json], str]]
"""Returns an action's JSON as its contract writes it, and its digest; ValueError: no action."""


class Partitions(NamedTuple):
    """Graph's epoch, the newest change of each partition, and those of which it lacks the change
    that was asked about."""

    epoch: str
    heads: Sequence[PartitionCursor]
    lacking: frozenset[int]


@dataclass(frozen=True, slots=True)
class Preview:
    """The items that an action would touch now, and how many more it would cascade to.

    `irreversible`: it cascades to more items than an undo could restore.
    """

    affected: tuple[Affected, ...]
    cascaded_count: int = 0
    irreversible: bool = False


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """The result of an action. `token`: freshness token of its change, `seq` of `epoch`."""

    effects: tuple[Effect, ...]
    token: str
    epoch: str
    seq: int
    orphaned: tuple[str, ...] = ()
    """Ids of the lineage and resolutions that the action orphaned."""
    cascaded_count: int = 0
    """The number of cascaded items; those that an undo restores are among the effects."""
    cascaded_digest: str = ""


@dataclass(frozen=True, slots=True)
class PrincipalKeys:
    """The principals of a space: the genesis with the keys that count now, and its envelope."""

    genesis: GenesisRecord
    envelope: bytes
    imported_seq: int = 0
    """The change that imported the space; 0: the space was not imported."""


@dataclass(frozen=True, slots=True)
class GraphEvent:
    """A write on a constitutive item, done or refused, as graph committed it."""

    seq: int
    record_time: int
    item_id: str
    item_kind: int
    change_type: int
    revision: int
    actor: str
    """AGENT, HUMAN or SYSTEM; empty: unknown to graph."""
    principal: str
    method: str
    request_id: str
    digest: str
    before_digest: str
    reason: str
    constitutive: bool
    ends: Mapping[str, str]
    imported: bool = False
    """The event was recorded elsewhere, and came with an import."""
    restore_grant: bytes = b""
    """The restore grant of an import that both principals signed; else empty."""
    revocation: bytes = b""
    """The signed envelope with which a principal burnt its consent's nonce; else empty."""


@dataclass(frozen=True, slots=True)
class FeedMessage:
    """Successive changes of one space in graph. `seq`: that of the last one, an event or not."""

    space: str
    epoch: str
    seq: int
    events: tuple[GraphEvent, ...]
    erased: tuple[tuple[str, bool], ...] = ()
    """Ids of the items whose words must be removed everywhere, and whether graph waits for a
    confirmation: for a memory it does, for an item erased with one it does not."""
    importing: bool = False
    """True while the changes were recorded elsewhere; the change of their import comes later."""
    first: int = 0
    """The number of the first change."""
    change_digest: str = ""
    """That of the last change."""
    previous_change_digest: str = ""
    """That of the change before the first."""
    partition: int = 0
    through: PartitionCursor | None = None
    """The change of the partition up to which nothing is missing after this message; None: the
    next ones bring what is."""


class Feed(Protocol):
    """The progress of graph's changes into the ledger."""

    def demand_not_rolled_back(self, space: str) -> None:
        """Refuse a step in a space whose graph is older than the ledger.

        Raises GraphRolledBack.
        """
        ...

    def is_rolled_back(self, space: str) -> bool:
        """Return whether a space's graph is older than the ledger."""
        ...

    def mark_rolled_back(self, space: str) -> None:
        """Note that graph itself reported a space as rolled back."""
        ...

    async def wait_for(self, space: str, epoch: str, seq: int) -> bool:
        """Wait, for seconds at most, until the ledger has a change of graph; return whether."""
        ...


class Graph(Protocol):
    """The graph service. Raises GraphUnavailable or GraphRefused.

    A write under a decision names the last change that the ledger has of graph (`expected_state`);
    if graph does not hold it, nothing is done and GraphRolledBack is raised. Unless the agreed
    change is `irreversible`, graph refuses one that cascades to more than an undo could restore.
    """

    async def preview(
        self, space: str, action: Mapping[str, Json], etags: Mapping[str, str] = ...
    ) -> Preview:
        """Return the items that the action would touch; nothing is written.

        Raises GraphRefused also if an item's etag differs from `etags` (by id; "": no item).
        """
        ...

    async def conflict(self, space: str, conflict_id: str) -> Conflict | None:
        """Return a conflict as it is now."""
        ...

    async def contents(self, space: str, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """Return what memories say now, by id in this order; "" for an unknown or erased one."""
        ...

    async def open_conflicts(self, space: str, limit: int) -> OpenConflicts:
        """Return the newest confirmed, then the newest potential conflicts, up to `limit` each, and
        the numbers of all."""
        ...

    async def apply(
        self, revision: Revision, decision: Decision, *, expected_state: Cursor
    ) -> AppliedChange:
        """Execute a revision's action once per decision: under its grant or, if it needs none,
        while the items have the revision's etags.

        If the action was erased with one of its items, this writes nothing: it returns the change
        of the decision, or raises GraphRefused if the decision changed nothing.
        """
        ...

    async def revoke(self, space: str, revocation: bytes, request_id: str) -> tuple[str, int]:
        """Burn a consent's nonce on its principal's signature; return (epoch, seq) of the change
        that records it."""
        ...

    async def confirm_erased(self, space: str, memory_id: str) -> None:
        """Confirm to graph that the ledger holds no more words of an erased memory."""
        ...

    async def principal_keys(self, space: str) -> PrincipalKeys | None:
        """Return the principals and their keys; None before the genesis."""
        ...

    async def register_space(self, space: str, enrolment_digest: str) -> bool:
        """Register a space with the hex SHA-256 of the enrolment secret for its genesis.

        Return whether it has its genesis already: then nothing changes.
        """
        ...

    async def erase_space(self, space: str, statement: bytes) -> bool:
        """Erase a part of a deleted space; return whether nothing is left.

        `statement`: both slots' signed statement, for a space with a genesis.
        """
        ...

    async def partitions(self, known: Mapping[int, PartitionCursor]) -> Partitions:
        """Return the partitions; `known`: a change of each that is compared."""
        ...

    def spaces(self, partition: int) -> AsyncIterator[Mapping[str, int]]:
        """Yield the last changes' numbers of a partition's spaces, page by page."""
        ...

    async def lacking(self, cursors: Mapping[str, Cursor]) -> frozenset[str]:
        """Return the spaces of which graph lacks these changes; it may be any number of spaces.

        A cursor without a change digest is compared by its number alone.
        """
        ...

    def watch(self, cursors: Mapping[int, PartitionCursor]) -> AsyncGenerator[FeedMessage]:
        """Replay the partitions' changes after their cursors, then follow.

        A message without a space only shows that graph answers."""
        ...

    def changes(self, space: str, after: int) -> AsyncIterator[FeedMessage]:
        """Yield one space's changes after one of them, up to its newest."""
        ...
