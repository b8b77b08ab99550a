"""The results of the verbs, as plain data without any message types. Times are aware, in UTC."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeAlias, TypeVar

from concord_client.verbs.claim_things import ClaimNote

Kind: TypeAlias = Literal["FACT", "PLAN", "JOURNAL", "INSIGHT", "OBSERVATION", "REFLECTION", "TURN"]
Importance: TypeAlias = Literal["LOW", "MEDIUM", "HIGH"]
Lineage: TypeAlias = Literal["SUPERSEDES", "DEPRECATES", "AMENDS", "CONTRADICTS"]
Direction: TypeAlias = Literal["OUTGOING", "INCOMING", "BOTH"]

Origin: TypeAlias = Literal["HUMAN", "AGENT", "TOOL", "IMPORT"]
Slot: TypeAlias = Literal["AGENT", "HUMAN"]
TurnRole: TypeAlias = Literal["USER", "ASSISTANT", "SYSTEM", "TOOL", "PERSON"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of the items of a list, over which it iterates. `next_page_token`: "" on the last page.

    `total_count`: how many there are on all pages, None where the contract does not count them.
    """

    items: tuple[T, ...]
    next_page_token: str
    total_count: int | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a memory states, as a triple.

    `extracted`: a program took it from the text; it ends no other value until somebody states it.
    """

    subject: str
    relation: str
    object: str
    extracted: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A source of a memory."""

    speaker: str = ""
    file: str = ""
    turn_ids: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """A version of a memory, which `etag` names.

    `origin`: who wrote it: HUMAN, AGENT, TOOL, IMPORT, or ""; `words_origin`: the lowest of those
    whose words stand now; `principal`: who first wrote it. `surfaces_when`: its triggers, see
    `add`. `forgotten` and `erased`: when it was, None if it was not; a forgotten memory can still
    be read by its id and restored, an erased one has no content. `claims`: the open claims on it,
    or by which it would take another's place; at most 20.
    """

    id: str
    content: str
    kind: str
    importance: str
    domain: str
    tags: tuple[str, ...]
    surfaces_when: tuple[str, ...]
    facts: tuple[Fact, ...]
    sources: tuple[Source, ...]
    session_id: str
    origin: str
    words_origin: str
    principal: str
    properties: Mapping[str, object] = field(hash=False)
    valid_from: datetime | None
    valid_until: datetime | None
    created: datetime | None
    modified: datetime | None
    forgotten: datetime | None
    erased: datetime | None
    etag: str
    is_constitutive: bool
    is_superseded: bool
    superseded_by: tuple[str, ...]
    conflict_ids: tuple[str, ...]
    claims: tuple[ClaimNote, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenWay:
    """An item that gave way by a write: `relation` is SUPERSEDES, DEPRECATES or AMENDS.

    `by_id`: what it gave way to; "" if that has not begun, or is no memory. `declared_by`: who else
    declared that its relation has one value at a time, if that is why; else "".
    """

    id: str
    relation: str
    by_id: str
    declared_by: str = ""


@dataclass(frozen=True, slots=True)
class WrittenMemory(Memory):
    """A memory as a write left it. `gave_way`: what gave way by it, at most 1,000 items; `outcome`:
    CLAIMED if part of it, or all, did nothing but to claim: `claimed`."""

    gave_way: tuple[GivenWay, ...] = ()
    outcome: str = ""
    claimed: tuple[ClaimNote, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that a text states: `quote` are its words, from `start` to `end` in it.

    `text`: which of the texts, from 0. `sure`: it may be taken without being looked at. `arm`:
    READING or MODEL. A time that is not stated is None.
    """

    fact: Fact
    quote: str
    text: int
    start: int
    end: int
    valid_from: datetime | None
    valid_until: datetime | None
    confidence: float
    sure: bool
    arm: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts that texts state. `outcome`: the contract's `ExtractionOutcome` by name.

    Texts: `texts_left` were not read, about `budget_spent` no model was asked, since its budget was
    spent, and about `invalid_replies` it gave no usable reply. `dropped`: facts that it made up.
    """

    outcome: str
    candidates: tuple[Candidate, ...]
    texts_left: int = 0
    budget_spent: int = 0
    invalid_replies: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Added:
    """The result of `add`; `created` is False for a memory that existed before.

    `gave_way`: what gave way by it, at most 1,000 items. `extraction`: the facts that its text
    states, where `add` was to extract them; None otherwise. `outcome`: CLAIMED if part of it did
    nothing but to claim: `claimed`.
    """

    memory: Memory
    created: bool
    gave_way: tuple[GivenWay, ...] = ()
    extraction: Extraction | None = None
    outcome: str = ""
    claimed: tuple[ClaimNote, ...] = ()

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Result:
    """A memory that a search found. `score` and each signal are in [0, 1].

    `provenance`: one line with its valid time and its sources.
    """

    memory: Memory
    score: float
    confidence: str
    why: str
    provenance: str
    signals: Mapping[str, float] = field(hash=False)
    conflict_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A phrase of a query that names a time: half-open; None: open, or not dated.

    `use`: "ranked", "past" (what no longer holds), "not_dated" or "not_used". `dated_by`: the id of
    the memory that dates the thing to which it is relative.
    """

    phrase: str
    since: datetime | None
    before: datetime | None
    use: str
    dated_by: str


@dataclass(frozen=True, slots=True)
class FoundEdge:
    """An edge that a search found, with `score`, `confidence` and `why` as of a `Result`."""

    edge: "Edge"
    score: float
    confidence: str
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of a search, the best first, with advice.

    `context`: all results as one text for a prompt, with ids and dates. `times`: the phrases of the
    query that name a time. `superseded_match`: the id of a superseded memory that is no result, and
    alone holds searched words. `unfit_ids`: of the results that did not fit into the tokens.
    `edges`: those found, if asked for. `paths`, of a pack: facts of which each starts where the one
    before ends, where the query asks over several hops.
    """

    results: tuple[Result, ...]
    confidence: str
    advice: tuple[str, ...]
    next_action: str
    index_incomplete: bool
    context: str
    times: tuple[TimePhrase, ...]
    superseded_match: str
    unfit_ids: tuple[str, ...]
    edges: tuple[FoundEdge, ...] = ()
    paths: tuple[tuple[Fact, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A memory that matters in a situation. `score` is in [0, 1].

    `trigger`: its trigger that the situation meets; empty if shared concepts brought it.
    """

    memory: Memory
    score: float
    trigger: str
    shared_concepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a memory, and the time span in which it was the recorded one."""

    revision: int
    memory: Memory
    recorded_from: datetime | None
    recorded_until: datetime | None
    principal: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two nodes, by their names. `claims`: as of a memory."""

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
    claims: tuple[ClaimNote, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenEdge(Edge):
    """An edge as a write left it. `gave_way`: what gave way by the write, at most 1,000 items.

    `outcome`, `claimed`: as of a written memory.
    """

    gave_way: tuple[GivenWay, ...] = ()
    outcome: str = ""
    claimed: tuple[ClaimNote, ...] = ()


@dataclass(frozen=True, slots=True)
class ChainItem:
    """A memory or an edge of a lineage, with the first 200 characters of what it says.

    `kind`: MEMORY, EDGE, or GHOST for an id that is named and does not exist; `is_head`: nothing
    replaces it; `is_deleted`: forgotten, deleted or erased.
    """

    id: str
    kind: str
    says: str
    valid_from: datetime | None
    valid_until: datetime | None
    is_head: bool
    is_superseded: bool
    is_deleted: bool
    is_erased: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """All items of a lineage, the oldest first, and the lineage edges between them.

    `truncated`: there are more than the 1,000 here.
    """

    items: tuple[ChainItem, ...]
    edges: tuple[Edge, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of an erasure. `completed`: None until every store has confirmed.

    `waiting`: the stores that have not confirmed yet.
    """

    id: str
    memory_id: str
    erased: datetime | None
    principal: str
    reason: str
    digest: str
    waiting: tuple[str, ...]
    completed: datetime | None


@dataclass(frozen=True, slots=True)
class Episode:
    """What was tried, and how it went. `reward` is in [-1, 1]."""

    id: str
    query: str
    reward: float
    reflection: str
    session_id: str
    memory_ids: tuple[str, ...]
    created: datetime | None


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A neighbour of a node, and the edge that leads to it."""

    name: str
    distance: int
    edge: Edge


@dataclass(frozen=True, slots=True)
class Hop:
    """One followed relation. `held_relations`: others to follow instead, if no item has it."""

    relation: str
    edges: tuple[Edge, ...]
    truncated: bool
    held_relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Followed:
    """The ends of a chain of relations, by names (or ids), and the hops that lead there.

    `unheld_hop`: the number, from 1, of the hop whose relation no item has; 0 = all have edges.
    """

    ends: tuple[str, ...]
    hops: tuple[Hop, ...]
    unheld_hop: int
