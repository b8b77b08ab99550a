"""What the verbs return: plain data, without a trace of the wire. Times are aware, in UTC."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["FACT", "PLAN", "JOURNAL", "INSIGHT", "OBSERVATION", "REFLECTION", "TURN"]
Importance: TypeAlias = Literal["LOW", "MEDIUM", "HIGH"]
Lineage: TypeAlias = Literal["SUPERSEDES", "DEPRECATES", "AMENDS", "CONTRADICTS"]
Direction: TypeAlias = Literal["OUTGOING", "INCOMING", "BOTH"]
Slot: TypeAlias = Literal["AGENT", "HUMAN"]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a memory states, as a triple."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory is from."""

    speaker: str = ""
    file: str = ""
    turn_ids: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as it stands, or stood. `etag` names this version of it; `origin` says who wrote it
    down: HUMAN, AGENT, TOOL, IMPORT, or nothing."""

    id: str
    content: str
    kind: str
    importance: str
    domain: str
    tags: tuple[str, ...]
    facts: tuple[Fact, ...]
    sources: tuple[Source, ...]
    session_id: str
    origin: str
    properties: Mapping[str, object] = field(hash=False)
    valid_from: datetime | None
    valid_until: datetime | None
    created: datetime | None
    modified: datetime | None
    etag: str
    is_constitutive: bool
    is_superseded: bool
    superseded_by: tuple[str, ...]
    conflict_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did; `created` is False for what was known already."""

    memory: Memory
    created: bool

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Result:
    """A memory that a search found. `score` and each signal are in [0, 1]; `provenance` says in one
    line when it held and where it is from."""

    memory: Memory
    score: float
    confidence: str
    why: str
    provenance: str
    signals: Mapping[str, float] = field(hash=False)
    conflict_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found, the best first, and what to make of it. `context` is all of it as a text
    to paste into a prompt, with ids and dates."""

    results: tuple[Result, ...]
    confidence: str
    advice: tuple[str, ...]
    next_action: str
    index_incomplete: bool
    context: str


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a memory, and in which span of time it was the recorded one."""

    revision: int
    memory: Memory
    recorded_from: datetime | None
    recorded_until: datetime | None
    principal: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two nodes, by their names."""

    id: str
    source: str
    relation: str
    target: str
    weight: float
    valid_from: datetime | None
    valid_until: datetime | None
    etag: str
    is_constitutive: bool
    is_superseded: bool


@dataclass(frozen=True, slots=True)
class Neighbor:
    """What a node is connected with, and by which edge."""

    name: str
    distance: int
    edge: Edge


@dataclass(frozen=True, slots=True)
class Hop:
    """One relation, as it was followed. `held_relations` are offered where nothing holds it."""

    relation: str
    edges: tuple[Edge, ...]
    truncated: bool
    held_relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Followed:
    """Where relations lead: the names (or ids) of the ends, and the hops that lead there.

    `unheld_hop` is the number, from 1, of the hop that nothing holds; 0 = each led on.
    """

    ends: tuple[str, ...]
    hops: tuple[Hop, ...]
    unheld_hop: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that waits for consent, or what became of it.

    `action` is the write that it wraps, as the contract's JSON; `canonical` are the bytes that a
    consent names by their `digest`. Both are empty of what was erased.
    """

    id: str
    number: int
    status: str
    kind: str
    level: str
    says: str
    digest: str
    action: Mapping[str, object] = field(hash=False)
    canonical: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two items that disagree."""

    id: str
    conflict_class: str
    state: str
    first_id: str
    first_says: str
    second_id: str
    second_says: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found; `status` says whether it could judge everything that it looked at."""

    status: str
    conflicts: tuple[Conflict, ...]
    judged: int
    abstained: Mapping[str, int] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Log:
    """A log that holds: each entry stands under the signed `checkpoint`, every rule was kept."""

    entries: int
    executed: int
    undone: int
    refused: int
    checkpoint: str
    """To be kept: a later log must extend it."""
