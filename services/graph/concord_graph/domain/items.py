"""Nodes, edges and memories as plain values.

Times are integer microseconds since 1970 UTC; intervals are half-open; `FOREVER` ends an open one.
A value is one revision of an item: a change makes a new one.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from concord_graph.domain.facts import Fact

FOREVER = 2**63 - 1
DEFAULT_LABEL = "Entity"
RESERVED_PREFIX = "concord:"
PRINCIPAL_RELATION = "concord:principal"

Properties = Mapping[str, Any]  # JSON values: what a protobuf Struct can hold


class ItemKind(enum.IntEnum):
    """The kind of record that an id names; numbers as in the contract."""

    NODE = 1
    EDGE = 2
    MEMORY = 3
    GHOST = 4
    EPISODE = 5
    WORKING_MEMORY = 6
    RELATION = 7
    CONFLICT = 8
    CLAIM = 9


class EdgeType(enum.IntEnum):
    """Constitutive items define the agent; numbers as in the contract."""

    DESCRIPTIVE = 1
    CONSTITUTIVE = 2
    RESOLUTION = 3


class TemporalClass(enum.IntEnum):
    """The meaning of two values of one source; numbers as in the contract."""

    UNSPECIFIED = 0
    STATE = 1
    EVENT = 2
    ETERNAL = 3


class Importance(enum.IntEnum):
    """As set by a caller; UNSET lets the default rule decide at the time of reading."""

    UNSET = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3


class Relation(enum.StrEnum):
    """The relations of lineage; the first three point from newer to older."""

    SUPERSEDES = "SUPERSEDES"
    DEPRECATES = "DEPRECATES"
    AMENDS = "AMENDS"
    CONTRADICTS = "CONTRADICTS"


LINEAGE_WORDS = frozenset(Relation)
REPLACING = frozenset({Relation.SUPERSEDES, Relation.DEPRECATES})
HIDING = frozenset({Relation.SUPERSEDES, Relation.DEPRECATES, Relation.AMENDS})


class Origin(enum.IntEnum):
    """Who made an edge: a caller by name, a link in a memory's content, or only memories' facts.

    EXTRACTED: only facts that programs took from texts, and that nobody stated or confirmed.
    """

    EXPLICIT = 1
    CONTENT = 2
    FACT = 3
    EXTRACTED = 4


class MemoryKind(enum.IntEnum):
    """What kind of text a memory is; numbers as in the contract."""

    FACT = 1
    PLAN = 2
    JOURNAL = 3
    INSIGHT = 4
    OBSERVATION = 5
    REFLECTION = 6
    TURN = 7


class TurnRole(enum.IntEnum):
    """In what role a turn was said; numbers as in the contract. UNSET counts as PERSON."""

    UNSET = 0
    USER = 1
    ASSISTANT = 2
    SYSTEM = 3
    TOOL = 4
    PERSON = 5


class MemoryOrigin(enum.IntEnum):
    """Who wrote a memory down; numbers as in the contract's `Origin`."""

    UNSPECIFIED = 0
    HUMAN = 1
    AGENT = 2
    TOOL = 3
    IMPORT = 4


class Trust(enum.IntEnum):
    """How far a source is trusted; numbers as in the contract."""

    DOUBTFUL = 1
    REPORTED = 2
    VERIFIED = 3


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision's number, change (`seq`), record interval (µs), author, and its digest's salt."""

    number: int = 0
    seq: int = 0
    record_from: int = 0
    record_until: int = FOREVER
    principal: str = ""
    salt: bytes = b""


@dataclass(frozen=True, slots=True)
class Node:
    """A named thing.

    `of_facts`: facts of memories made it, and no caller has written it since.
    `erase_time` (µs) is when its name was erased, in every revision; 0 = never.
    """

    id: str
    name: str
    label: str = DEFAULT_LABEL
    properties: Properties = field(default_factory=dict)
    vector_id: str = ""
    of_facts: bool = False
    create_time: int = 0
    deleted: bool = False
    erase_time: int = 0
    revision: Revision = Revision()

    kind = ItemKind.NODE

    @property
    def is_bare(self) -> bool:
        """Whether the node has nothing but its name."""
        return self.label == DEFAULT_LABEL and not self.properties and not self.vector_id


@dataclass(frozen=True, slots=True)
class End:
    """One end of an edge: the id of a node, a memory (which may be a ghost) or an edge."""

    id: str
    kind: ItemKind


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two items. `valid_from` None means: from its create time.

    `claimed`: it would make another item give way, and nobody who may has accepted that (W9).
    `erase_time` (µs) is when its content was erased, in every revision; 0 = never.
    """

    id: str
    source: End
    relation: str
    target: End
    weight: float = 1.0
    properties: Properties = field(default_factory=dict)
    edge_type: EdgeType = EdgeType.DESCRIPTIVE
    importance: Importance = Importance.UNSET
    valid_from: int | None = None
    valid_until: int | None = None
    origin: Origin = Origin.EXPLICIT
    governed: bool = False
    create_time: int = 0
    deleted: bool = False
    erase_time: int = 0
    revision: Revision = Revision()
    claimed: bool = False

    kind = ItemKind.EDGE

    @property
    def effective_from(self) -> int:
        """From when it holds."""
        return self.create_time if self.valid_from is None else self.valid_from

    @property
    def is_of_facts(self) -> bool:
        """True while facts of memories alone make it."""
        return self.origin in (Origin.FACT, Origin.EXTRACTED)

    @property
    def is_extracted(self) -> bool:
        """True while nobody stated or confirmed what programs took from texts."""
        return self.origin == Origin.EXTRACTED

    @property
    def ends_none(self) -> bool:
        """True for a value of a row that ends no other: it is extracted, or only claimed."""
        return self.is_extracted or self.claimed

    @property
    def place(self) -> tuple[str, str, str, int]:
        """Its triple and valid_from, its key among the edges that succeed one another (G2)."""
        return self.source.id, self.relation, self.target.id, self.effective_from

    @property
    def is_lineage(self) -> bool:
        """True for lineage between memories and for resolutions between edges."""
        return self.relation in LINEAGE_WORDS


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory comes from."""

    speaker: str = ""
    file: str = ""
    turn_ids: tuple[str, ...] = ()
    trust: Trust = Trust.REPORTED
    memory_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStatement:
    """The fields of a memory that a caller states. A new field of memories is a line here.

    That line suffices to draft, change, store, export and erase it; `fields` names the exceptions.
    """

    content: str
    memory_kind: MemoryKind = MemoryKind.FACT
    concepts: tuple[str, ...] = ()
    domain: str = ""
    importance: Importance = Importance.UNSET
    surfaces_when: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    external_id: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    session_id: str = ""
    valid_from: int | None = None
    valid_until: int | None = None
    facts: tuple[Fact, ...] = ()
    properties: Properties = field(default_factory=dict)
    role: TurnRole = TurnRole.UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(MemoryStatement):
    """A text with metadata. `id_stated` says that the caller chose the id.

    `origin` is its first writer's; `words_origin` the lowest of those whose words stand now, where
    it is another one (`whose_words`: in any case).

    `turn_order` is a turn's place in its session's dialogue, from 1; 0 when it has none.
    `erase_time` (µs) is when its content was erased, in every revision; 0 = never.
    """

    id: str
    id_stated: bool = False
    concepts_stated: bool = False
    edge_type: EdgeType = EdgeType.DESCRIPTIVE
    origin: MemoryOrigin = MemoryOrigin.UNSPECIFIED
    words_origin: MemoryOrigin = MemoryOrigin.UNSPECIFIED
    turn_order: int = 0
    create_time: int = 0
    deleted: bool = False
    erase_time: int = 0
    revision: Revision = Revision()

    kind = ItemKind.MEMORY

    @property
    def effective_from(self) -> int:
        """From when it holds."""
        return self.create_time if self.valid_from is None else self.valid_from

    @property
    def whose_words(self) -> MemoryOrigin:
        """The lowest origin of those whose words stand now (`domain.origins`)."""
        return self.words_origin or self.origin

    def is_by(self, sources: tuple[Source, ...]) -> bool:
        """Whether it names all of these sources; if they are none, whether it names none."""
        own = self.sources or (Source(),)
        return all(source in own for source in sources or (Source(),))

    @property
    def derived_from(self) -> tuple[str, ...]:
        """The ids of the memories that its sources name, each once."""
        return tuple(dict.fromkeys(i for source in self.sources for i in source.memory_ids))


Item = Node | Edge | Memory


@dataclass(frozen=True, slots=True)
class Entry:
    """A record beside the items: an episode, a text in working memory, a conflict of two items
    (`domain.conflicts`) or a claim (`domain.claims`). No edge ends at it.

    `shelf` names the list of its kind that it is on. A list is sorted by `rank`, then by the time
    of the entry's last write, both descending. `words`: the texts of a conflict or claim that
    are erased with a side of it. `erase_time` (µs) is when they were, in every revision; 0 = never.
    """

    id: str
    kind: ItemKind
    body: Properties
    session_id: str = ""
    shelf: str = ""
    rank: int = 0
    words: Properties = field(default_factory=dict)
    create_time: int = 0
    deleted: bool = False
    erase_time: int = 0
    revision: Revision = Revision()


@dataclass(frozen=True, slots=True)
class DeclaredRelation:
    """The declaration of a relation.

    `functional`: a source has one value of it at a time. `exclusive_sets`: names of targets, of
    which a source has at most one at a time; the sets and their names are sorted.
    """

    id: str
    name: str
    functional: bool
    create_time: int = 0
    deleted: bool = False
    revision: Revision = Revision()
    temporal_class: TemporalClass = TemporalClass.UNSPECIFIED
    transitive: bool = False
    exclusive_sets: tuple[tuple[str, ...], ...] = ()

    kind = ItemKind.RELATION


Record = Item | Entry | DeclaredRelation
"""The values that are stored in revisions. Only items are ends of edges."""


@dataclass(frozen=True, slots=True)
class Instant:
    """The point on both time axes that a read asks about (µs).

    `record` FOREVER = as known now. `stated`: the reader gave the valid time, so a list leaves out
    items that did not hold then.
    """

    valid: int
    record: int = FOREVER
    stated: bool = False


@dataclass(frozen=True, slots=True)
class AsOf:
    """The instant that a reader asks about (µs); None on an axis = now."""

    valid: int | None = None
    record: int | None = None

    def at(self, now: int) -> Instant:
        """Return the instant of a read at `now` (µs); a record time in the future means now."""
        valid = now if self.valid is None else self.valid
        record = FOREVER if self.record is None or self.record >= now else self.record
        return Instant(valid, record, stated=self.valid is not None)


def is_erased(item: Record) -> bool:
    """Return whether the item's content was erased."""
    return not isinstance(item, DeclaredRelation) and item.erase_time != 0
