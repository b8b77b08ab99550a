"""What integrative searches, health and the briefing say, as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from concord_client.verbs.things import Edge, Memory

HealthStatus: TypeAlias = Literal["AT_RISK", "STALE", "ORPHAN", "HEALTHY"]


@dataclass(frozen=True, slots=True)
class ConstitutiveStatement:
    """A constitutive statement at the node that was asked about."""

    edge_id: str
    says: str
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clash:
    """A constitutive statement that a result clashes with. `confidence` is in [0, 1].

    `is_text_finding`: it was merely found in texts, so they may agree.
    """

    edge_id: str
    says: str
    conflict_class: str
    confidence: float
    is_text_finding: bool


@dataclass(frozen=True, slots=True)
class IntegrativeResult:
    """A memory or a constitutive edge that was found, and what it says.

    `score`: text_relevance * constitutive_factor * relevance_score, of which the first and the last
    are in [0, 1].
    """

    item: Memory | Edge
    says: str
    score: float
    text_relevance: float
    constitutive_factor: float
    relevance_score: float
    confidence: str
    why: str
    conflict_ids: tuple[str, ...]
    clashes: tuple[Clash, ...]


@dataclass(frozen=True, slots=True)
class IntegrativeAnswer:
    """The results of an integrative search, the best first.

    `node_found`: whether there is such a node. `check`: the contract's `StatementCheckStatus` by
    name. `query_id`: names this search in `feedback`, "" if nothing was found.
    """

    results: tuple[IntegrativeResult, ...]
    statements: tuple[ConstitutiveStatement, ...]
    node_found: bool
    constitutive_weight: float
    check: str
    query_id: str
    index_incomplete: bool


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote that was kept. `constitutive_weight`: as it is now; `new_votes`: not yet used."""

    constitutive_weight: float
    new_votes: int


@dataclass(frozen=True, slots=True)
class AssessedMemory:
    """A memory with its health. `reasons`: all that speaks against HEALTHY."""

    id: str
    says: str
    status: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """The memories that were asked for, over which it iterates, and how many have which status.

    `is_complete`: False if there are more memories than those that were listed and counted.
    """

    memories: tuple[AssessedMemory, ...]
    counts: Mapping[str, int] = field(hash=False)
    is_complete: bool

    def __iter__(self) -> Iterator[AssessedMemory]:
        return iter(self.memories)


@dataclass(frozen=True, slots=True)
class WaitingProposal:
    """A proposal that waits. `missing_slots`: whose consent is missing."""

    id: str
    number: int
    kind: str
    level: str
    missing_slots: tuple[str, ...]
    says: str
    expires: datetime | None
    conflict_id: str


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """An open conflict, with the first 120 characters of what each side says."""

    id: str
    conflict_class: str
    state: str
    first_says: str
    second_says: str


@dataclass(frozen=True, slots=True)
class Briefing:
    """What waits, the newest first: at most three proposals, three reviews, and three conflicts
    that are confirmed, then three that are potential.

    `reviews`: proposals that wait for the agent's review. The counts are of all that there are.
    `graph_rolled_back`: graph is older than the audit log, so that nothing can be decided.
    `claimants`: who has open claims, with the number of them, by name; see `claims`.
    """

    proposals: tuple[WaitingProposal, ...]
    pending_count: int
    reviews: tuple[WaitingProposal, ...]
    review_count: int
    conflicts: tuple[OpenConflict, ...]
    conflict_count: int
    graph_rolled_back: bool
    claimants: tuple[tuple[str, int], ...] = ()
