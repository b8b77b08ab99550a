"""The reads of a consistent view of one space."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from concord_graph.domain.claims import OpenClaims
from concord_graph.domain.erasure import Erasure
from concord_graph.domain.facts import Support
from concord_graph.domain.items import FOREVER, Entry, Instant, Item, ItemKind, Node
from concord_graph.domain.open_conflicts import OpenConflicts
from concord_graph.domain.relevance import Access
from concord_graph.domain.sessions import (
    CoRead,
    Recall,
    RecallFilter,
    Restated,
    Restatement,
    Session,
    SessionRead,
)
from concord_graph.ports.item_reads import ItemReads, SupersessionReads
from concord_graph.ports.values import (
    Author,
    Change,
    Counts,
    EdgeFilter,
    EntryFilter,
    Founding,
    Hop,
    MemoryFilter,
    OperationFilter,
    SessionFilter,
    Step,
    View,
    Walk,
)

SessionRowT = TypeVar("SessionRowT", Session, SessionRead, Restatement)


class WalkReads(Protocol):
    """Edges from item to item."""

    async def steps(self, ids: Collection[str], walk: Walk, limit: int) -> Sequence[Step]:
        """Return up to `limit` live edges at the ids, in no order, filtered in the store."""
        ...

    async def edges_at_hand(self, item_id: str, walk: Walk, most: int) -> Sequence[View] | None:
        """Return all edges that `steps` finds at one item, and superseded ones, as views; None when
        there are more than `most`."""
        ...

    def hops(self, ids: Collection[str], walk: Walk) -> AsyncGenerator[Sequence[Hop]]:
        """Yield the edges that `steps` finds, all of them, some hundreds at a time.

        Nothing is read ahead: a caller that stops early, and closes the generator, does not pay for
        the rest of a hub.
        """
        ...

    async def connected(
        self, memory_ids: Collection[str], record: int = FOREVER
    ) -> Collection[str]:
        """Return those of the memories that a live edge joins to a live item, not to a ghost."""
        ...

    async def degrees(self, ids: Collection[str], walk: Walk, cap: int) -> Mapping[str, int]:
        """Return the number of edges at each id before filtering, at most `cap`."""
        ...


class ListReads(Protocol):
    """Lists of records, page by page, and their counts."""

    async def list_nodes(self, label: str, at: Instant, after: str, limit: int) -> Sequence[Node]:
        """Return live nodes with a name greater than `after`, by name."""
        ...

    async def list_edges(
        self, filter_: EdgeFilter, at: Instant, after: str, limit: int
    ) -> Sequence[str]:
        """Return ids of live edges with an id greater than `after`, by id.

        When the valid time is stated, only edges that held then: in their stated interval and not
        superseded.
        """
        ...

    async def list_memories(
        self, filter_: MemoryFilter, at: Instant, before: tuple[int, str] | None, limit: int
    ) -> Sequence[tuple[int, str]]:
        """Return (create_time, id) of live memories, newest first, older than `before`.

        Memories that held at the valid time; `filter_` may ask for superseded ones too, or for all.
        """
        ...

    async def turns(
        self, session_id: str, at: Instant, after: tuple[int, int, str] | None, limit: int
    ) -> Sequence[tuple[int, int, str]]:
        """Return (turn_order, create_time, id) of a session's live turns, ascending, past `after`.

        When the valid time is stated, only turns said by then; superseded ones are among them.
        """
        ...

    async def last_turn_order(self, session_id: str) -> int:
        """Return the greatest order of a session's turns, forgotten ones too; 0 without turns."""
        ...

    async def entries(
        self,
        filter_: EntryFilter,
        at: Instant,
        *,
        before: tuple[int, int] | None = None,
        skip: int = 0,
        limit: int = 2**31 - 1,
    ) -> tuple[Sequence[Entry], int]:
        """Return live entries by (rank, record_from) descending, and the number of all matches.

        The page holds entries below `before` without the first `skip`. When the valid time is
        stated, only entries made by then.
        """
        ...

    async def live_items(self, kind: ItemKind, at: Instant) -> Sequence[Item]:
        """Return every live item of a kind; when the valid time is stated, those that held then.

        Order is not promised.
        """
        ...

    async def counts(self, at: Instant) -> Counts:
        """Count the items of the space; when the valid time is stated, those that held then."""
        ...


class ConflictReads(Protocol):
    """Conflicts, which are entries (`domain.conflicts`); lists of them are lists of entries."""

    async def entry(self, entry_id: str, record: int = FOREVER) -> Entry | None:
        """Return an entry by id, a deleted one too."""
        ...

    async def conflicts_between(
        self, pairs: Collection[tuple[str, str]], record: int = FOREVER
    ) -> Mapping[tuple[str, str], Entry]:
        """Return the live conflicts of pairs of ids, the smaller id first."""
        ...

    async def triggered(self, limit: int) -> Sequence[tuple[str, Sequence[str]]]:
        """Return up to `limit` live memories that have triggers, each with its triggers, by id."""
        ...

    async def derived_from(self, memory_ids: Collection[str], limit: int) -> Sequence[str]:
        """Return the ids of up to `limit` live memories whose sources name any of them, by id."""
        ...

    async def open_claims(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, OpenClaims]:
        """Return the open claims at each item, as their item or as what would take its place; items
        without any are absent."""
        ...

    async def claimants(self, most: int) -> Mapping[str, int]:
        """Return up to `most` claimants with open claims, each with their number, by name."""
        ...

    async def open_conflicts(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, OpenConflicts]:
        """Return the open conflicts of each item; items without any are absent."""
        ...


class RecordReads(Protocol):
    """The record of changes and their authors, erasures, genesis and nonces."""

    async def supports(self, since: int, until: int) -> Sequence[Support]:
        """Return the supports that `put_facts` stored with record times (µs) from `since` to
        `until`, both included, by time, then memory id. One without edges: no fact is left."""
        ...

    async def operations(
        self, filter_: OperationFilter, beyond: int | None, limit: int
    ) -> Sequence[Change]:
        """Return operations past the sequence number `beyond`, newest first unless filtered so."""
        ...

    async def founding(self) -> Founding:
        """Return the space's genesis, enrolment and import."""
        ...

    async def erasure(self, *, erase_id: str = "", memory_id: str = "") -> Erasure | None:
        """Return the receipt of an erasure by its id or by the memory's id."""
        ...

    async def accesses(self, after: str, limit: int) -> Sequence[tuple[str, Access]]:
        """Return the items that were ever read and have an id greater than `after`, by id."""
        ...

    async def nonces(self, after: str, limit: int) -> Sequence[str]:
        """Return burnt nonces greater than `after`, ascending."""
        ...

    async def early_refusals(self) -> Sequence[tuple[int, Author, str]]:
        """Return (time in µs, author, reason) of imports refused while the space was unused."""
        ...


class Reads(
    ItemReads, SupersessionReads, WalkReads, ListReads, ConflictReads, RecordReads, Protocol
):
    """A consistent view of one space. Sees nothing of another; sees every committed write.

    Items come as their newest revision, deleted ones too, unless a method says otherwise. A method
    with a `record` time (µs) or an instant answers from the revisions that were known then; FOREVER
    = now. Access data and nearness to constitutive edges are always the present ones.
    """

    @property
    def space(self) -> str:
        """The space."""
        ...

    @property
    def epoch(self) -> str:
        """The store's epoch; changes when the store is restored."""
        ...

    @property
    def last_time(self) -> int:
        """The newest record time (µs); later than the clock when that stepped back."""
        ...

    async def head_seq(self) -> int:
        """Return the newest sequence number; 0 for an unknown space."""
        ...

    async def session(self, session_id: str) -> Session | None:
        """Return a session's record."""
        ...

    async def sessions(
        self, filter_: SessionFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Session]:
        """Return sessions by last use, descending, then by id.

        `before`: the last use (µs) and the id of the one after which the page begins.
        """
        ...

    async def co_reads(self, session_id: str, limit: int) -> Sequence[CoRead]:
        """Return the co-reads of the memories that a session read, the latest pairs first."""
        ...

    async def session_rows(
        self, kind: type[SessionRowT], after: tuple[str, str], limit: int
    ) -> Sequence[SessionRowT]:
        """Return the stored session rows of one kind past a key, by key."""
        ...

    async def restated(
        self, session_ids: Sequence[str], least: int, limit: int
    ) -> Sequence[Restated]:
        """Return live memories that at least `least` of the sessions stated, the most first."""
        ...

    async def service_record(self, kind: str, key: str = "") -> str:
        """Return a record's body, a JSON object; empty without one."""
        ...

    async def service_records(self, kind: str, prefix: str) -> Mapping[str, str]:
        """Return the bodies of a kind's records whose keys begin with `prefix`, by key."""
        ...

    async def recalls(self, filter_: RecallFilter, before: str, limit: int) -> Sequence[Recall]:
        """Return recalls by query id, descending; only those below `before` unless it is empty."""
        ...
