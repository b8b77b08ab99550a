"""The reads of a consistent view of one space."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from concord_attestation.consent import GenesisRecord

from concord_graph.domain.drafts import EndRef
from concord_graph.domain.erasure import Erasure
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    Access,
    DeclaredRelation,
    Edge,
    Entry,
    Instant,
    Item,
    ItemKind,
    Memory,
    Node,
    Record,
)
from concord_graph.domain.open_conflicts import OpenConflicts
from concord_graph.domain.recalls import Recall, RecallFilter
from concord_graph.domain.sessions import CoRead, Restated, Restatement, Session, SessionRead
from concord_graph.domain.spelling import NameKind
from concord_graph.ports.results import Ref
from concord_graph.ports.values import (
    Author,
    Change,
    Counts,
    EdgeFilter,
    EntryFilter,
    Hop,
    Imported,
    MemoryFilter,
    OperationFilter,
    SessionFilter,
    State,
    Step,
    View,
    Walk,
)

SessionRowT = TypeVar("SessionRowT", Session, SessionRead, Restatement)


class ItemReads(Protocol):
    """Items by id, name, key or digest, and the edges at them."""

    async def node(self, node_id: str) -> Node | None:
        """Return a node by id."""
        ...

    async def live_node_named(self, name: str) -> Node | None:
        """Return the live node of that exact (NFC) name."""
        ...

    async def edge(self, edge_id: str) -> Edge | None:
        """Return an edge by id."""
        ...

    async def live_edges_of_triple(
        self, source_id: str, relation: str, target_id: str, record: int = FOREVER
    ) -> Sequence[Edge]:
        """Return the live edges of a triple by effective valid_from."""
        ...

    async def memory(self, memory_id: str) -> Memory | None:
        """Return a memory by id."""
        ...

    async def memory_by_external_id(self, external_id: str, record: int = FOREVER) -> Memory | None:
        """Return the live memory with an importer's key, else the latest forgotten one."""
        ...

    async def live_memories_with_digest(self, content_digest: str) -> Sequence[Memory]:
        """Return the live memories with equal content, kind and sources, oldest first."""
        ...

    async def revision(self, ref: Ref) -> Record | None:
        """Return an item exactly as that revision had it."""
        ...

    async def kinds(self, ids: Collection[str], record: int = FOREVER) -> Mapping[str, ItemKind]:
        """Return the kind of item that each id names; ids that name none are absent."""
        ...

    async def find(self, end: EndRef, at: Instant) -> str | None:
        """Return the id of the live node, memory or edge that an end names, as known then."""
        ...

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]:
        """Return these very revisions, in the order asked, with their record intervals."""
        ...

    async def edges_at(self, item_id: str) -> Sequence[Edge]:
        """Return the edges, deleted ones too, that start or end at the item."""
        ...

    async def live_edge_ids_at(self, item_id: str) -> Sequence[str]:
        """Return the live edges that start or end at the item."""
        ...

    async def content_edges_from(self, memory_id: str) -> Sequence[Edge]:
        """Return the live edges that the memory's own content made."""
        ...

    async def is_named(self, item_id: str) -> bool:
        """Return whether an edge that is not erased, maybe a deleted one, starts or ends there."""
        ...

    async def names_near(self, kind: NameKind, asked: str, most: int) -> Sequence[str]:
        """Return live names that may be spelt like `asked`; the caller judges.

        A bounded number: `most` on either side of it among the folded names, and among the reversed
        ones (`domain.spelling`), or as good a choice by another index.
        """
        ...


class SupersessionReads(Protocol):
    """Relations, succession, lineage and facts, and views of items with all of these."""

    async def relation(self, name: str, record: int = FOREVER) -> DeclaredRelation | None:
        """Return a relation's declaration; None without one."""
        ...

    async def list_relations(
        self, at: Instant, after: str, limit: int
    ) -> Sequence[DeclaredRelation]:
        """Return the declared relations with a name greater than `after`, by name."""
        ...

    async def succession(self, edge: Edge, limit: int, record: int = FOREVER) -> Sequence[Edge]:
        """Return up to `limit` live edges of the edge's source and relation, itself among them, by
        effective valid_from. None unless the relation is declared functional: edges of one triple
        never supersede one another (T2)."""
        ...

    async def beside(self, edge: Edge) -> Sequence[Edge]:
        """Return the edges of its source and relation whose supersession the edge changes: those
        right before and right after it, but for neighbours that another edge at its instant has."""
        ...

    async def rivals(self, relation: str, limit: int) -> Sequence[str]:
        """Return up to `limit` ids of live edges of a relation whose source has another target at
        another instant: their supersession depends on whether the relation is functional."""
        ...

    async def facts_of(self, memory_id: str, record: int = FOREVER) -> Sequence[str]:
        """Return the ids of the edges of a memory's facts, in the facts' order; also of a forgotten
        memory, whose facts do not hold."""
        ...

    async def stating(
        self, edge_ids: Collection[str], after: str = "", limit: int | None = None
    ) -> Sequence[tuple[str, int]]:
        """Return live memories that state any of the edges, with an id greater than `after`, by id:
        (id, place of the fact among its facts)."""
        ...

    async def ever_facts_of(self, memory_id: str) -> Sequence[str]:
        """Return the ids of the edges that a memory ever stated as facts, each once."""
        ...

    async def ever_stating(self, edge_id: str) -> Sequence[str]:
        """Return the ids of the memories that ever stated an edge, each once."""
        ...

    async def views(self, kind: ItemKind, ids: Collection[str], at: Instant) -> Mapping[str, View]:
        """Return items (deleted memories too) with their supersession; unknown ids are absent.

        `supersession.head_ids` is the item itself when it is live and not superseded then,
        else empty: `usecases.shown` follows chains.
        """
        ...

    async def view_of(self, item: Item, at: Instant) -> View:
        """Return this revision of an item, with the item's supersession."""
        ...

    async def successors(
        self, kind: ItemKind, ids: Collection[str], at: Instant
    ) -> Mapping[str, Collection[str]]:
        """Return the live items that directly supersede each item at the instant (T2).

        Of edges that succeed one another in time, only those at which a walk to the heads can end
        or turn, so that a long succession is one step.
        """
        ...

    async def amending(
        self, kind: ItemKind, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Collection[str]]:
        """Return the ids of the items, live or not, that amend each item by live lineage.

        Items without any are absent. Lineage that is void (G4, M3) amends nothing.
        """
        ...

    async def lineage_edges(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        """Return the live lineage edges that start or end at the ids, void ones too."""
        ...

    async def is_pinned(self, item_id: str, record: int = FOREVER) -> bool:
        """Return whether a consent depends on the item, as known at `record` (µs).

        A live constitutive edge starts or ends at it, or live lineage that was made with consent
        starts at it or at an edge of which it is an end.
        """
        ...

    async def frozen_by_lineage(self) -> frozenset[str]:
        """Return the ids of the items at which live lineage that was made with consent ends, and of
        the ends of edges among them. Both principals signed each lineage: there are few."""
        ...

    async def states(
        self, refs: Sequence[tuple[str, int]], valid: int, record: int = FOREVER
    ) -> Sequence[State | None]:
        """Return memories as they were after a change (seq), judged at `valid` (µs).

        For seq 0, as they were known at `record`, with the lineage known then.
        """
        ...


class WalkReads(Protocol):
    """Edges from item to item."""

    async def steps(self, ids: Collection[str], walk: Walk, limit: int) -> Sequence[Step]:
        """Return up to `limit` live edges at the ids, in no order, filtered in the store."""
        ...

    async def edges_at_hand(self, item_id: str, walk: Walk, most: int) -> Sequence[View] | None:
        """Return all edges that `steps` finds at one item, as views.

        None when there are more than `most`, counted before superseded ones are hidden.
        """
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
        limit: int,
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

    async def history(
        self, memory_id: str, before_revision: int, limit: int, record: int = FOREVER
    ) -> Sequence[Memory]:
        """Return the revisions of a memory below a number, newest first, as they are stored: the
        record interval of one that was open at `record` may have been closed since."""
        ...

    async def operations(
        self, filter_: OperationFilter, beyond: int | None, limit: int
    ) -> Sequence[Change]:
        """Return operations past the sequence number `beyond`, newest first unless filtered so."""
        ...

    async def genesis_envelope(self) -> bytes:
        """Return the genesis record as it was accepted; empty without one."""
        ...

    async def erasure(self, *, erase_id: str = "", memory_id: str = "") -> Erasure | None:
        """Return the receipt of an erasure by its id or by the memory's id."""
        ...

    async def genesis(self) -> GenesisRecord | None:
        """Return the space's genesis."""
        ...

    async def enrolment(self) -> str:
        """Return the registered hex SHA-256 of the secret that admits the genesis; empty for a
        space that nobody registered."""
        ...

    async def imported(self) -> Imported | None:
        """Return the space's import with its restore grant; None for a space that began here."""
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
