"""The values that go through the ports: changes, views, filters, walks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import NamedTuple

from concord_graph.domain.claims import OpenClaims
from concord_graph.domain.conflicts import ConflictClass
from concord_graph.domain.drafts import EndRef
from concord_graph.domain.items import (
    FOREVER,
    EdgeType,
    Importance,
    Instant,
    Item,
    ItemKind,
    MemoryKind,
    MemoryOrigin,
)
from concord_graph.domain.open_conflicts import OpenConflicts
from concord_graph.domain.reach import Reach
from concord_graph.domain.relevance import Access
from concord_graph.domain.succession import Value
from concord_graph.domain.supersession import Supersession

ReadCounts = Mapping[tuple[str, str], tuple[int, int]]
"""(space, item id) -> (number of reads, time of the last one in µs)."""


@dataclass(slots=True)
class SessionUse:
    """A session's first and last use (µs); `memories`: id -> time of its last read (µs)."""

    first: int
    last: int
    memories: dict[str, int] = field(default_factory=dict)

    def add(self, other: SessionUse) -> None:
        """Take in another use, earlier or later."""
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        for memory_id, time in other.memories.items():
            self.memories[memory_id] = max(time, self.memories.get(memory_id, 0))


SessionUses = Mapping[tuple[str, str], SessionUse]
"""(space, session id) -> the session's use."""


class ServiceRecord(StrEnum):
    """The kinds of records that graph itself keeps, or erases words from; services name others."""

    RANKED_QUERY = "ranked_query"
    FEEDBACK = "feedback"
    RECALL_LOG = "recall_log"
    CHECK_SETTINGS = "check_settings"
    ERASURE_PLAN = "erasure_plan"
    ERASURE_RECEIPT = "erasure_receipt"
    CLAIM_SETTINGS = "claim_settings"
    UNDO_PLAN = "undo_plan"
    UNDO_SUMMARY = "undo_summary"


class ChangeType(IntEnum):
    """The kind of a change of an item; numbers as in the contract."""

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
    REVOKED = 11
    SESSION_ENDED = 12
    SELECTION_ERASED = 13


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a write: principal, method and request id."""

    principal: str
    method: str
    request_id: str
    kind: str = field(default="", compare=False)
    """AGENT, HUMAN or SYSTEM, as the caller's credential says; empty when it says neither."""
    origin: MemoryOrigin = field(default=MemoryOrigin.UNSPECIFIED, compare=False)
    """The origin of the memories that the author writes."""
    reach: Reach = field(default=Reach.ALL, compare=False)
    """What of the items that are there the author's key may change."""


NOBODY = Author("", "", "")


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the outbox, which is also the record of operations. Never holds content."""

    seq: int
    record_time: int
    item_id: str
    item_kind: ItemKind
    type: ChangeType
    revision: int
    digest: str = ""
    before_digest: str = ""
    author: Author = NOBODY
    reason: str = ""
    needs_consent: bool = False
    """Whether such a change needs both consents, for the audit."""
    ends: Mapping[str, str] | None = None
    """If the edge is constitutive after the change: the digests of its ends, by id."""
    paper: str = ""
    """The signed envelope of a revocation; stores and exports use the name `paper` for it."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An import: all changes up to `seq` were imported, under this restore grant."""

    seq: int
    restore: bytes


@dataclass(frozen=True, slots=True)
class Founding:
    """How a space began.

    `genesis`: the genesis record as it was accepted; empty without one. `enrolment`: the registered
    hex SHA-256 of the secret that admits the genesis; empty for a space that nobody registered.
    `imported`: None for a space that began here.
    """

    genesis: bytes = b""
    enrolment: str = ""
    imported: Imported | None = None


class View(NamedTuple):  # a page has a hundred, and a frozen dataclass costs three times as much
    """An item with the data derived from its surroundings at an instant.

    `names` holds the names of an edge's end nodes by id, `sources` the ids of the live memories
    that state it, at most 100, `conflicts` its open conflicts, `claims` its open claims.
    `is_connected`: the memory states a fact or is linked with a live item; None = not determined.
    `writer`: the principal that first wrote the memory.
    """

    item: Item
    supersession: Supersession
    access: Access
    near_constitutive: bool = False
    names: Mapping[str, str] = MappingProxyType({})
    sources: tuple[str, ...] = ()
    conflicts: OpenConflicts = OpenConflicts()
    claims: OpenClaims = OpenClaims()
    is_connected: bool | None = None
    writer: str = ""


class Place(NamedTuple):
    """A place in a row: of the values of a source and relation, and when one begins there (µs)."""

    source_id: str
    relation: str
    begins: int


class ValuesAround(NamedTuple):
    """The values of a row around a place in it, the nearest first."""

    before: tuple[Value, ...]
    at: tuple[Value, ...]
    after: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A memory as a change left it.

    `seq` and `record_time` (µs) are those of its newest change; `at` is the instant of the read.
    """

    view: View
    seq: int
    record_time: int
    at: Instant


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Which edges a walk or list considers; every non-empty part must match.

    `importances` are the ones that a reader sees: set, or by the default rule at `now` (µs). Reads
    of the last second may not count yet.
    """

    relations: tuple[str, ...] = ()
    edge_types: tuple[EdgeType, ...] = ()
    importances: tuple[Importance, ...] = ()
    now: int = 0
    properties: Mapping[str, object] = field(default_factory=dict)
    participants: tuple[str, ...] = ()
    modified_since: int | None = None
    modified_before: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories a list shows; every non-empty part must match. `principal` wrote it first.

    `at_any_time`: also those that are superseded, have ended or have not begun at the valid time.
    """

    kinds: tuple[MemoryKind, ...] = ()
    tag: str = ""
    domain: str = ""
    edge_type: EdgeType | None = None
    session_id: str = ""
    properties: Mapping[str, object] = field(default_factory=dict)
    origins: tuple[MemoryOrigin, ...] = ()
    words_origins: tuple[MemoryOrigin, ...] = ()
    principal: str = ""
    include_superseded: bool = False
    at_any_time: bool = False


@dataclass(frozen=True, slots=True)
class OperationFilter:
    """Which operations a list shows; every non-empty part must match.

    Without `types`: every mutation and refusal, but no changed supersession and no reads. `since`
    and `before` are record times (µs), the latter exclusive. `session_id`: done by the requests
    that wrote the session's memories and entries; `import_id`: by those that an importer named so.
    """

    item_id: str = ""
    item_kinds: tuple[ItemKind, ...] = ()
    principal: str = ""
    session_id: str = ""
    import_id: str = ""
    types: tuple[ChangeType, ...] = ()
    since: int | None = None
    before: int | None = None
    oldest_first: bool = False

    @property
    def imported(self) -> tuple[str, str]:
        """The least request id of the import, and the one after its greatest."""
        return f"import-{self.import_id}-", f"import-{self.import_id}."


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions a list shows: used last before `idle_since` (µs), and ended or not."""

    idle_since: int = FOREVER
    ended: bool | None = None


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries a list shows; `shelf` None = all of its kind's; `since` (µs) is inclusive.

    Of conflicts: `shelves` are the names of states; any of `sides` is a side; `run_id` recorded it.
    Of claims: any of `sides` is its item or would take its place; `claimant` made it.
    """

    kind: ItemKind
    shelf: str | None = ""
    session_id: str = ""
    since: int | None = None
    ids: tuple[str, ...] = ()
    shelves: tuple[str, ...] = ()
    classes: tuple[ConflictClass, ...] = ()
    sides: tuple[str, ...] = ()
    run_id: str = ""
    claimant: str = ""


@dataclass(frozen=True, slots=True)
class Walk:
    """The rules for following edges: directions, filter and instant."""

    at: Instant
    outgoing: bool = True
    incoming: bool = True
    filter: EdgeFilter = EdgeFilter()
    include_superseded: bool = False
    include_resolutions: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """An edge with the fields that a walk needs to go on and to rank."""

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
    """An edge with the fields that a search for paths needs."""

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
    """A space and the sequence number of its last change."""

    space: str
    seq: int


class FeedChange(NamedTuple):
    """A change with its number in the feed of its space's partition.

    `head_seq` is the space's newest change. `imported` is the space's import, None without one;
    its `restore` is present on the change of the import itself alone.
    """

    number: int
    space: str
    head_seq: int
    change: Change
    imported: Imported | None


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A space of which the store does not know how all items stand.

    `first`: the sequence number of the first change that was not settled, `seq`: of the last one.
    """

    space: str
    first: int
    seq: int


@dataclass(frozen=True, slots=True)
class Expected:
    """The keys that a write is about to read: ids, names of live nodes, external ids and content
    digests of memories, triples of live edges."""

    ids: tuple[str, ...] = ()
    node_names: tuple[str, ...] = ()
    external_ids: tuple[str, ...] = ()
    content_digests: tuple[str, ...] = ()
    triples: tuple[tuple[EndRef, str, EndRef], ...] = ()
