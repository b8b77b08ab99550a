"""The graph service, its feed, and what governance learns from both."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from concord_attestation.consent import GenesisRecord

from concord_governance.domain.dissonance import Conflict, OpenConflicts
from concord_governance.domain.proposals import (
    Affected,
    Effect,
    Json,
)
from concord_governance.ports.ledger import Cursor

NormalForm = Callable[[Mapping[str, Json]], tuple[Mapping[str, Json], str]]
"""An action's JSON as its contract writes it, and its digest. ValueError for what is no action."""


class Head(NamedTuple):
    """How far graph is in a space. `lacks_cursor`: it does not hold the change asked for."""

    epoch: str
    seq: int
    lacks_cursor: bool


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
    """What an action did. `token`: freshness token of the write, change `seq` of `epoch`."""

    effects: tuple[Effect, ...]
    token: str
    epoch: str
    seq: int
    orphaned: tuple[str, ...] = ()
    """Ids of the lineage and resolutions that lost an end by it."""
    cascaded_count: int = 0
    """How many items it cascaded to; those that an undo restores are among the effects."""
    cascaded_digest: str = ""


@dataclass(frozen=True, slots=True)
class PrincipalKeys:
    """The principals of a space: the genesis with the keys as rotated since, and its envelope."""

    genesis: GenesisRecord
    envelope: bytes
    imported_seq: int = 0
    """The change with which the space was imported; 0: it began here."""


@dataclass(frozen=True, slots=True)
class GraphEvent:
    """A write on something constitutive, allowed or refused, as graph committed it."""

    seq: int
    record_time: int
    item_id: str
    item_kind: int
    change_type: int
    revision: int
    actor: str
    """AGENT, HUMAN or SYSTEM; empty when graph does not know."""
    principal: str
    method: str
    request_id: str
    digest: str
    before_digest: str
    reason: str
    constitutive: bool
    ends: Mapping[str, str]
    imported: bool = False
    """Recorded elsewhere: it came with an import."""
    restore_grant: bytes = b""
    """For an import that both principals signed for: the restore grant."""
    revocation: bytes = b""
    """For a consent's nonce that was burnt: the envelope that its principal signed."""


@dataclass(frozen=True, slots=True)
class FeedMessage:
    """Some of graph's changes of one space, in order; `seq` is the last one's, an event or not."""

    space: str
    epoch: str
    seq: int
    events: tuple[GraphEvent, ...]
    erased: tuple[tuple[str, bool], ...] = ()
    """Items whose words are to be removed everywhere, and whether graph waits for a confirmation:
    it does for a memory, not for what goes with one."""
    importing: bool = False
    """True while what comes was recorded elsewhere: the import that brought it comes later."""
    first: int = 0
    """The first of these changes."""
    mark: str = ""
    """Of the last of them."""
    follows: str = ""
    """The mark of the change before the first of them."""


class Feed(Protocol):
    """How far graph's changes are in the ledger."""

    def demand_whole(self, space: str) -> None:
        """Refuse what would be done in a space whose graph is older than the ledger.

        Raises GraphRolledBack.
        """
        ...

    def is_rolled_back(self, space: str) -> bool:
        """Return whether a space's graph is older than the ledger."""
        ...

    def found_rolled_back(self, space: str) -> None:
        """Take note that graph itself said so."""
        ...

    async def reached(self, space: str, epoch: str, seq: int) -> bool:
        """Wait, for seconds at most, for a change of graph in the ledger; say whether it is."""
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
        """Return what the action would touch; nothing is written.

        GraphRefused also when an item is not as `etags` says (by id; "" = there is none).
        """
        ...

    async def conflict(self, space: str, conflict_id: str) -> Conflict | None:
        """Return a conflict as it is now."""
        ...

    async def open_conflicts(self, space: str, limit: int) -> OpenConflicts:
        """Return the newest conflicts that are open, up to `limit`, and how many there are."""
        ...

    async def perform(
        self,
        space: str,
        action: Mapping[str, Json],
        decision_id: str,
        etags: Mapping[str, str],
        *,
        expected_state: Cursor,
        irreversible: bool,
        origin: str,
    ) -> AppliedChange:
        """Do an action that needs no grant, once per decision, on items as they were proposed.

        `origin`: of the memory that it adds; empty = none.
        """
        ...

    async def apply(
        self,
        space: str,
        action: Mapping[str, Json],
        decision_id: str,
        grant: bytes,
        *,
        expected_state: Cursor,
        irreversible: bool,
        origin: str,
    ) -> AppliedChange:
        """Do an action under a grant, once per decision; `origin` as in `perform`."""
        ...

    async def recall(
        self, space: str, decision_id: str, *, expected_state: Cursor
    ) -> AppliedChange:
        """Return what a decision did whose action is gone, since an item of it was erased.

        GraphRefused when it did nothing; nothing is done.
        """
        ...

    async def revoke(self, space: str, revocation: bytes, request_id: str) -> tuple[str, int]:
        """Burn a consent's nonce on its principal's signature; return (epoch, seq) of the change
        that records it."""
        ...

    async def confirm_erased(self, space: str, memory_id: str) -> None:
        """Say that the ledger holds nothing more of what a memory said."""
        ...

    async def principal_keys(self, space: str) -> PrincipalKeys | None:
        """Return who counts; None before the genesis."""
        ...

    async def register_space(self, space: str, enrolment_digest: str) -> bool:
        """Make a space known, with the hex SHA-256 of the secret that its genesis takes.

        Return whether it has its genesis: then it keeps what it knows.
        """
        ...

    async def erase_space(self, space: str, statement: bytes) -> bool:
        """Erase some of what a deleted space holds; return whether nothing is left.

        `statement` is what both slots signed, for a space with a genesis.
        """
        ...

    async def heads(self, cursors: Mapping[str, Cursor]) -> Mapping[str, Head]:
        """Return how far graph is in every space that it has, and whether it holds these changes.

        A cursor without a mark is compared by its number alone, which costs graph nothing.
        """
        ...

    def watch(self, cursors: Mapping[str, Cursor]) -> AsyncGenerator[FeedMessage]:
        """Replay every space's changes after its cursor, then follow.

        The first message, of no space, says that graph answers."""
        ...
