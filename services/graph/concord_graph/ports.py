"""What graph needs from outside itself, and what it may and may not rely on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Protocol, TypeVar

from concord_attestation.consent import Answer, GenesisRecord, Grant, RestoreGrant, SlotKey

from concord_graph.domain.drafts import EndRef
from concord_graph.domain.erasure import Erasure
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    Access,
    DeclaredRelation,
    Edge,
    EdgeType,
    Entry,
    Importance,
    Instant,
    Item,
    ItemKind,
    Memory,
    MemoryKind,
    Node,
    Record,
)
from concord_graph.domain.links import Link
from concord_graph.domain.spelling import NameKind
from concord_graph.domain.standing import Standing

T = TypeVar("T")

ReadCounts = Mapping[tuple[str, str], tuple[int, int]]
"""(space, id) -> how often it was read, and when last (µs)."""


class ChangeType(IntEnum):
    """What happened to an item; numbers as in the contract."""

    CREATED = 1
    UPDATED = 2
    DELETED = 3
    RESTORED = 4
    STANDING_CHANGED = 5
    TOUCHED = 6
    REFUSED = 7
    ERASED = 8
    ERASE_CONFIRMED = 9
    IMPORTED = 10


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, through which method, under which request id."""

    principal: str
    method: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the outbox, which is also the record of who did what. Never holds content."""

    seq: int
    record_time: int
    item_id: str
    item_kind: ItemKind
    type: ChangeType
    revision: int
    digest: str = ""
    before_digest: str = ""
    author: Author = Author("", "", "")
    reason: str = ""
    needs_consent: bool = False
    """Whether both parties must agree to such a change: what an audit shows."""
    ends: Mapping[str, str] | None = None
    """For an item that is constitutive afterwards: the digest of each end of an edge, by id."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A revision that a request wrote or found, and what became of it."""

    kind: ItemKind
    id: str
    revision: int
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a request did: enough to rebuild its reply."""

    refs: tuple[Ref, ...]
    seq: int


@dataclass(frozen=True, slots=True)
class View:
    """An item with what follows from its surroundings at an instant.

    `names` holds the names of an edge's end nodes by id, `sources` the ids of the live memories
    that state it, at most 100.
    """

    item: Item
    standing: Standing
    access: Access
    near_constitutive: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """A memory as a change left it.

    `seq` and `record_time` (µs) are those of the newest change in it; `at` is what it was read at.
    """

    view: View
    seq: int
    record_time: int
    at: Instant


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Which edges a walk or list considers; every non-empty part must match."""

    relations: tuple[str, ...] = ()
    edge_types: tuple[EdgeType, ...] = ()
    importances: tuple[Importance, ...] = ()
    properties: Mapping[str, object] = field(default_factory=dict)
    participants: tuple[str, ...] = ()
    modified_since: int | None = None
    modified_before: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories a list shows; every non-empty part must match."""

    kinds: tuple[MemoryKind, ...] = ()
    tag: str = ""
    domain: str = ""
    edge_type: EdgeType | None = None
    session_id: str = ""
    include_superseded: bool = False


@dataclass(frozen=True, slots=True)
class OperationFilter:
    """Which operations a list shows; every non-empty part must match.

    Without `types`: every mutation and refusal, not what follows from one, nor reads. `since` and
    `before` are record times (µs), the latter exclusive.
    """

    item_id: str = ""
    item_kinds: tuple[ItemKind, ...] = ()
    principal: str = ""
    types: tuple[ChangeType, ...] = ()
    since: int | None = None
    before: int | None = None
    oldest_first: bool = False


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries a list shows; `shelf` None = all of its kind's; `since` (µs) is inclusive."""

    kind: ItemKind
    shelf: str | None = ""
    session_id: str = ""
    since: int | None = None
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """How edges are followed: which way, which ones, at which instant."""

    at: Instant
    outgoing: bool = True
    incoming: bool = True
    filter: EdgeFilter = EdgeFilter()
    include_superseded: bool = False
    include_resolutions: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """An edge as a walk sees it: enough to go on and to rank, nothing to show."""

    id: str
    source_id: str
    target_id: str
    weight: float
    edge_type: EdgeType
    importance: Importance
    near_constitutive: bool
    access: Access


@dataclass(frozen=True, slots=True)
class Hop:
    """An edge as a search for paths sees it."""

    id: str
    source_id: str
    target_id: str
    weight: float


@dataclass(frozen=True, slots=True)
class Counts:
    """Items of a space by type."""

    nodes: int
    edges: int
    memories: int
    raw_dialogues: int
    deleted: int
    episodes: int = 0
    working_memory: int = 0
    working_memory_stale: int = 0

    @property
    def anything(self) -> bool:
        """Return whether the space holds, or has held, anything at all."""
        return any(getattr(self, each.name) for each in fields(self))


@dataclass(frozen=True, slots=True)
class SpaceHead:
    """How far a space is."""

    space: str
    seq: int


@dataclass(frozen=True, slots=True)
class Expected:
    """What a write is about to ask for: ids, live nodes by name, memories by key and by digest."""

    ids: tuple[str, ...] = ()
    node_names: tuple[str, ...] = ()
    external_ids: tuple[str, ...] = ()
    content_digests: tuple[str, ...] = ()


class Reads(Protocol):
    """A consistent view of one space. Sees nothing of another; sees every committed write.

    Items come as their newest revision, deleted ones too, unless a method says otherwise. What
    takes a `record` time (µs) or an instant answers from the revisions that were known then:
    FOREVER = now. Access data and nearness to constitutive edges are always the present ones.
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
        """Return the live memory of an importer's key, else the latest forgotten one."""
        ...

    async def live_memories_saying(self, content_digest: str) -> Sequence[Memory]:
        """Return the live memories with equal content, kind and sources, oldest first."""
        ...

    async def memories_like(
        self, ids: Sequence[str], most: int
    ) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return for each memory (id, content) of live ones, of its kind and written before it,
        that may say nearly the same; the caller judges.

        Those that share most bands of its sketch (`domain.sketch`), up to `most`, found at a cost
        that does not grow with the space: of a band that many share only some are looked at.
        """
        ...

    async def relation(self, name: str, record: int = FOREVER) -> DeclaredRelation | None:
        """Return what is declared about a relation; None when nothing is."""
        ...

    async def list_relations(
        self, at: Instant, after: str, limit: int
    ) -> Sequence[DeclaredRelation]:
        """Return the declared relations with a name greater than `after`, by name."""
        ...

    async def succession(self, edge: Edge, limit: int, record: int = FOREVER) -> Sequence[Edge]:
        """Return up to `limit` live edges that follow one another in time with this one, itself
        among them, by effective valid_from: those of its source and relation when that is declared
        functional, else those of its triple."""
        ...

    async def beside(self, edge: Edge) -> Sequence[Edge]:
        """Return those of its succession at the last instant before its effective valid_from and at
        the first after it; none of them when another one stands at its own instant."""
        ...

    async def rivals(self, relation: str, limit: int) -> Sequence[str]:
        """Return up to `limit` ids of live edges of a relation, each of whose sources has another
        target of it at another instant: whose standing hangs on whether it is functional."""
        ...

    async def facts_of(self, memory_id: str, record: int = FOREVER) -> Sequence[str]:
        """Return the ids of the edges that a memory's facts are, in their order; also of a
        forgotten one, whose facts rest."""
        ...

    async def stating(
        self, edge_ids: Collection[str], after: str = "", limit: int | None = None
    ) -> Sequence[tuple[str, int]]:
        """Return live memories that state any of the edges, with an id greater than `after`, by id:
        (id, place of the fact among its facts)."""
        ...

    async def ever_facts_of(self, memory_id: str) -> Sequence[str]:
        """Return the ids of the edges that the facts of a memory ever were, each once."""
        ...

    async def ever_stating(self, edge_id: str) -> Sequence[str]:
        """Return the ids of the memories that ever stated an edge, each once."""
        ...

    async def is_named(self, item_id: str) -> bool:
        """Return whether an edge that is not erased, maybe a deleted one, starts or ends there."""
        ...

    async def supports(self, since: int, until: int) -> Sequence[Support]:
        """Return what `put_facts` kept of record times (µs) from `since` to `until`, both included:
        by time, then by the memory's id. Where the edges became none, with none."""
        ...

    async def revision(self, ref: Ref) -> Record | None:
        """Return an item exactly as that revision had it."""
        ...

    async def kinds(self, ids: Collection[str], record: int = FOREVER) -> Mapping[str, ItemKind]:
        """Return what each id names; ids that name nothing are absent."""
        ...

    async def views(self, kind: ItemKind, ids: Collection[str], at: Instant) -> Mapping[str, View]:
        """Return items (deleted memories too) with their standing; unknown ids are absent.

        `standing.head_ids` is the item itself when it is live and not superseded at the instant,
        else empty: `usecases.shown` follows chains.
        """
        ...

    async def view_of(self, item: Item, at: Instant) -> View:
        """Return this very revision with the standing its item has."""
        ...

    async def successors(
        self, kind: ItemKind, ids: Collection[str], at: Instant
    ) -> Mapping[str, Collection[str]]:
        """Return live items that have taken over from each at the instant (T2).

        Direct ones; of those that follow one another in time only the ones where a walk to the
        heads can end or turn, so that a long succession is one step.
        """
        ...

    async def find(self, end: EndRef, at: Instant) -> str | None:
        """Return the id of the live node, memory or edge that an end names, as known then."""
        ...

    async def lineage_edges(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        """Return the live lineage edges that start or end at the ids, void ones too."""
        ...

    async def is_held(self, item_id: str, record: int = FOREVER) -> bool:
        """Return whether what both parties agreed to rests on the item, as known then (µs).

        A live constitutive edge starts or ends at it, or live lineage that was made with consent
        starts at it or at an edge of which it is an end.
        """
        ...

    async def live_edge_ids_at(self, item_id: str) -> Sequence[str]:
        """Return the live edges that start or end at the item."""
        ...

    async def content_edges_from(self, memory_id: str) -> Sequence[Edge]:
        """Return the live edges that the memory's own content made."""
        ...

    async def steps(self, ids: Collection[str], walk: Walk, limit: int) -> Sequence[Step]:
        """Return up to `limit` live edges at the ids, in no order, filtered in the store."""
        ...

    async def edges_at_hand(self, item_id: str, walk: Walk, most: int) -> Sequence[View] | None:
        """Return what `steps` finds at one item, as views and all of it.

        None when there are more than `most`, or would be before superseded ones are hidden.
        """
        ...

    def hops(self, ids: Collection[str], walk: Walk) -> AsyncGenerator[Sequence[Hop]]:
        """Yield the edges that `steps` finds, all of them, some hundreds at a time.

        They are not read ahead of being asked for: whoever stops early (and closes it) has not paid
        for the rest of a hub.
        """
        ...

    async def degrees(self, ids: Collection[str], walk: Walk, cap: int) -> Mapping[str, int]:
        """Return how many edges there are at each of the ids before filtering, at most `cap`."""
        ...

    async def list_nodes(self, label: str, at: Instant, after: str, limit: int) -> Sequence[Node]:
        """Return live nodes with a name greater than `after`, by name."""
        ...

    async def list_edges(
        self, filter_: EdgeFilter, at: Instant, after: str, limit: int
    ) -> Sequence[str]:
        """Return ids of live edges with an id greater than `after`, by id.

        When the valid time is stated, of those that held then: in their stated interval and not
        superseded.
        """
        ...

    async def list_memories(
        self, filter_: MemoryFilter, at: Instant, before: tuple[int, str] | None, limit: int
    ) -> Sequence[tuple[int, str]]:
        """Return (create_time, id) of live memories, newest first, older than `before`.

        Superseded ones on request: then those in their stated interval, when the valid time is
        stated, else all.
        """
        ...

    async def turns(
        self, session_id: str, at: Instant, after: tuple[int, int, str] | None, limit: int
    ) -> Sequence[tuple[int, int, str]]:
        """Return (turn_order, create_time, id) of a session's live turns, ascending, past `after`.

        When the valid time is stated, of those said by then; superseded ones are among them.
        """
        ...

    async def names_near(self, kind: NameKind, asked: str, most: int) -> Sequence[str]:
        """Return live names that may be spelt like the one asked for; the caller judges.

        A bounded number: those next to it, `most` each way, when names are sorted folded, and when
        they are sorted backwards (`domain.spelling`), or what another index finds as well.
        """
        ...

    async def last_turn_order(self, session_id: str) -> int:
        """Return the greatest order of a session's turns, forgotten ones among them; 0 for none."""
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
        """Return live entries by (rank, record_from) descending, and how many match in all.

        Those before `before` in that order, but for the first `skip`. When the valid time is
        stated, those that were made by then.
        """
        ...

    async def history(
        self, memory_id: str, before_revision: int, limit: int, record: int = FOREVER
    ) -> Sequence[Memory]:
        """Return the revisions of a memory below a number, newest first, as they are kept: the one
        that was open then may have been closed since."""
        ...

    async def operations(
        self, filter_: OperationFilter, beyond: int | None, limit: int
    ) -> Sequence[Change]:
        """Return operations newest first, or as the filter says, beyond a sequence number."""
        ...

    async def counts(self, at: Instant) -> Counts:
        """Count the items of the space; when the valid time is stated, those that held then."""
        ...

    async def live_items(self, kind: ItemKind, at: Instant) -> Sequence[Item]:
        """Return every live item of a kind; when the valid time is stated, those that held then.

        Order is not promised.
        """
        ...

    async def receipt(self, author: Author) -> tuple[bytes, str, Receipt] | None:
        """Return salt, digest and receipt of an earlier request; None when there was none."""
        ...

    async def genesis_envelope(self) -> bytes:
        """Return the genesis record as it was accepted; empty without one."""
        ...

    async def edges_at(self, item_id: str) -> Sequence[Edge]:
        """Return the edges, deleted ones too, that start or end at the item."""
        ...

    async def erasure(self, *, erase_id: str = "", memory_id: str = "") -> Erasure | None:
        """Return a receipt by its id or by the memory's."""
        ...

    async def genesis(self) -> GenesisRecord | None:
        """Return the space's genesis."""
        ...

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]:
        """Return these very revisions, in the order asked, with their record intervals."""
        ...

    async def accesses(self, after: str, limit: int) -> Sequence[tuple[str, Access]]:
        """Return what was ever read, by id, with an id greater than `after`."""
        ...

    async def nonces(self, after: str, limit: int) -> Sequence[str]:
        """Return burnt nonces greater than `after`, ascending."""
        ...

    async def early_refusals(self) -> Sequence[tuple[int, Author, str]]:
        """Return when (µs), whom and why imports were refused while the space was unused."""
        ...

    async def states(
        self, refs: Sequence[tuple[str, int]], valid: int, record: int = FOREVER
    ) -> Sequence[State | None]:
        """Return memories as they were after a change (seq), judged at `valid` (µs).

        For seq 0, as they were known at `record`, with the lineage known then.
        """
        ...


class Writes(Reads, Protocol):
    """One transaction on one space: all of it is kept, or nothing."""

    def tick(self) -> tuple[int, int]:
        """Return the next sequence number and a record time (µs) later than every earlier one."""
        ...

    def fresh(self, item_id: str) -> None:
        """Say that an id was made up just now, so that nothing in the store can know it yet.

        Only a hint: a store across a network need not ask. Changes no answer.
        """
        ...

    async def expect(self, expected: Callable[[], Expected]) -> None:
        """Say what will be asked for, so that a store across a network fetches it at once.

        Only a hint, worked out only where it is of use. Changes no answer.
        """
        ...

    def wind(self, seq: int, time: int) -> None:
        """Set the sequence number and record time (µs) to those of an imported change."""
        ...

    async def put(self, item: Record) -> None:
        """Write a revision and close the one before. Refuses what protection forbids, unless
        a grant is open.

        Raises:
            ItemClash: another live item stands there.
        """
        ...

    async def put_access(self, item_id: str, access: Access) -> None:
        """Write how often and when an item was read that was never read here."""
        ...

    async def keep_early_refusal(self, time: int, author: Author, why: str) -> None:
        """Remember that an import was refused at a time (µs), for the record that begins later."""
        ...

    async def put_facts(self, support: Support) -> None:
        """Keep which edges a memory's facts are from a record time on."""
        ...

    async def append(self, change: Change) -> None:
        """Write an outbox row."""
        ...

    async def keep_receipt(
        self, author: Author, salt: bytes, digest: str, receipt: Receipt
    ) -> None:
        """Remember what a request did."""
        ...

    async def erase(self, item: Item) -> None:
        """Take out of every revision what the item, put just now in its erased form, says no more.

        Its salt goes too, and what requests that wrote or found it are compared with.
        """
        ...

    async def put_erasure(self, erasure: Erasure) -> None:
        """Keep a receipt."""
        ...

    async def confirm(self, erase_id: str, confirmer: str, time: int) -> None:
        """Note when (µs) a confirmer confirmed; the first time stands."""
        ...

    async def burn(self, nonces: Collection[str]) -> bool:
        """Burn nonces for ever; False (and nothing burnt) when one was burnt before."""
        ...

    async def open_grant(self, digest: str) -> None:
        """Let this transaction through the store's own protection; `digest` says for what."""
        ...

    async def put_genesis(self, record: GenesisRecord, envelope: bytes) -> None:
        """Keep the space's genesis."""
        ...


class GraphStore(Protocol):
    """The store. Work runs in one transaction and may run again from its start (retries)."""

    async def read(self, space: str, work: Callable[[Reads], Awaitable[T]]) -> T:
        """Run work on a consistent view."""
        ...

    async def write(
        self,
        space: str,
        work: Callable[[Writes], Awaitable[T]],
        *,
        author: Author | None = None,
    ) -> T:
        """Run work in a transaction; an exception undoes all of it.

        `author` is whose receipt the work will ask for: a hint, as with `Writes.expect`.
        """
        ...

    @property
    def epoch(self) -> str:
        """The store's epoch; changes when the store is restored."""
        ...

    def pending(self, reads: Callable[[], Sequence[ReadCounts]]) -> None:
        """Show these not yet stored reads in every answer."""
        ...

    async def touch(self, reads: ReadCounts, stored: Callable[[], None]) -> None:
        """Add reads in one statement, and call `stored` as they become visible.

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


LinkParser = Callable[[str], Sequence[Link]]
ConceptExtractor = Callable[[str], Sequence[str]]
Clock = Callable[[], int]
GrantVerifier = Callable[..., Grant]
GenesisVerifier = Callable[[bytes, str], GenesisRecord]
RevocationVerifier = Callable[[bytes, GenesisRecord], Answer]
KeyVerifier = Callable[[bytes, GenesisRecord], tuple[str, SlotKey]]
RestoreVerifier = Callable[..., RestoreGrant]
