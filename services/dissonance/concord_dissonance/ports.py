"""The outside that dissonance needs, and the promises it relies on.

Every method may raise `ServiceUnavailable` or `ServiceRefused`. Those that act for a caller carry
the caller's own credential, so that nobody gains a right by asking dissonance; what they are
refused reaches that caller as it is.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NewType, Protocol, TypeVar

from concord_models.budget import Budget, Cost

from concord_dissonance.domain.dialectic.said import (
    ModelFailure,
    SaidContradiction,
    SaidSynthesis,
    SourceText,
    SynthesisTask,
)
from concord_dissonance.domain.dialectic.theses import Claim, Source
from concord_dissonance.domain.peer_review.review import (
    FailedReviewer,
    PeerReview,
    Reviewer,
    ReviewTask,
)
from concord_dissonance.domain.reviews import Decision, Resolve
from concord_dissonance.domain.sides import Micros, RelationRule, Side
from concord_dissonance.domain.statements import Finding, Recorded, State, Statement
from concord_dissonance.domain.suggestions import Suggestion
from concord_dissonance.domain.verdicts import Abstention, Judge, Verdict

T = TypeVar("T")

PRINCIPAL = "dissonance"
"""Dissonance's principal and issuer: other services know its key by this name."""

Credential = NewType("Credential", str)
"""A caller's own authorization, as it came."""

Shown = NewType("Shown", object)
"""A message of graph's contract that passes through as it is."""

Clock = Callable[[], Micros]


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a space's change feed."""

    epoch: str
    seq: int


@dataclass(frozen=True, slots=True)
class Judged:
    """How far a space was judged, and by which version of the judges; graph keeps it.

    `etag`: the version of the record that this was read from; empty for none.
    """

    position: Position | None
    version: str
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed in a space since a position.

    `ids` are the edges and memories that were written or are superseded otherwise than before.
    `everything`: the position is of another store, or a declaration of a relation changed.
    """

    head: Position
    ids: frozenset[str] = frozenset()
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """A session's record, in microseconds; `end` is 0 while it goes on."""

    id: str
    start: Micros
    last_use: Micros
    end: Micros
    shown: Shown


@dataclass(frozen=True, slots=True)
class Followed:
    """Some changes of a space, in sequence, and the position after them."""

    position: Position
    token: str
    """Names the last of them, for reads that must not be older."""
    written: Mapping[str, bool]
    """By id, the memories that were created, changed or restored: whether by an import."""
    ended: Sequence[tuple[str, Micros]]
    """The sessions that ended, and when."""


@dataclass(frozen=True, slots=True)
class Heard:
    """That a space changed: a conflict of it, or something that a trigger follows."""

    space: str
    conflicts: bool = True
    triggers: bool = True


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflict as graph keeps it, with what decides who may review it."""

    id: str
    etag: str
    state: State
    is_undecided: bool
    needs_consent: bool
    """Whether a side is constitutive."""
    proposal: Decision | None
    """The action that a finding proposes (D7); None for one that proposes nothing."""
    confidence: float
    shown: Shown


@dataclass(frozen=True, slots=True)
class ConflictPage:
    """A page of conflicts."""

    conflicts: Sequence[Conflict]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class Decided:
    """A conflict after a review or resolution."""

    conflict: Shown
    dependent_ids: Sequence[str]
    token: str


@dataclass(frozen=True, slots=True)
class Insight:
    """A text that was concluded from what agents and memories say."""

    content: str
    memory_ids: Sequence[str]
    speakers: Sequence[str]


class Graph(Protocol):
    """Graph, asked by dissonance for itself. Nothing that is read here counts as read."""

    async def relations(self, space: str) -> Mapping[str, RelationRule]:
        """What is declared about relations, by name."""
        ...

    def edges(self, space: str) -> AsyncIterator[Sequence[Statement]]:
        """Every live edge that states something, in pages: no lineage and no resolutions."""
        ...

    def memories(self, space: str) -> AsyncIterator[Sequence[Statement]]:
        """The facts and plans that hold now and are not superseded, in pages."""
        ...

    async def around(self, space: str, node: str, radius: int) -> Sequence[Statement] | None:
        """The edges so near to a node, by name or id, and the facts and plans that state them or
        stand at them. None for an unknown node."""
        ...

    async def memories_of(self, space: str, ids: Sequence[str]) -> Sequence[Statement]:
        """The memories of these ids, of any kind, that hold now and are not superseded."""
        ...

    async def edges_of(self, space: str, ids: Sequence[str]) -> Sequence[Statement]:
        """The live edges of these ids that state something."""
        ...

    async def edges_with(self, space: str, relations: Sequence[str]) -> Sequence[Statement]:
        """Every live edge of these relations."""
        ...

    async def values_of(
        self, space: str, subjects: Collection[tuple[str, str]]
    ) -> Sequence[Statement]:
        """Every live edge of these sources, by name or id, and relations, also superseded ones."""
        ...

    async def related(self, space: str, memory_id: str) -> frozenset[str]:
        """The items that lineage of whatever relation connects with a memory directly."""
        ...

    async def judged(self, space: str) -> Judged:
        """How far a space was judged."""
        ...

    async def note_judged(self, space: str, judged: Judged) -> None:
        """Records how far a space was judged, unless another check has meanwhile."""
        ...

    async def changed(self, space: str, since: Position | None) -> Changed:
        """What changed since a position; everything without one."""
        ...

    async def record(
        self, space: str, request_id: str, findings: Sequence[Finding]
    ) -> tuple[Sequence[Recorded], str]:
        """Records at most 500 findings, and returns what became of each, and a freshness token."""
        ...

    async def open_conflicts(self, space: str, item_ids: Sequence[str]) -> Sequence[Conflict]:
        """Potential and confirmed conflicts with a side among these items; of all when empty."""
        ...

    async def reviewed(
        self, space: str, item_ids: Sequence[str]
    ) -> frozenset[frozenset[tuple[str, str]]]:
        """The pairs, with a side among these items, that a review or resolution has closed: each
        side by its id and the version that was judged."""
        ...

    async def open_conflict(
        self, space: str, request_id: str, etags: Mapping[str, str], resolution: Resolve
    ) -> str:
        """Records that a caller says that two items, by id with their etags, disagree as in a
        resolution, and returns the conflict's id."""
        ...


class Feed(Protocol):
    """Graph's change feed, as far as it says where to look."""

    def heard(self) -> AsyncIterator[Heard | None]:
        """Every space; None once the feed is followed; then each space that changes. Ends, or
        raises `ServiceUnavailable`, when the feed breaks."""
        ...


class Sessions(Protocol):
    """Graph's sessions and changes, asked by dissonance for itself."""

    async def spaces(self) -> Sequence[str]:
        """Every space."""
        ...

    async def idle(self, space: str, since: Micros) -> Sequence[Session]:
        """The sessions that go on and were last used before a time."""
        ...

    async def end_idle(self, space: str, session: Session) -> None:
        """Ends a session unless it was used since it was read."""
        ...

    async def session(self, space: str, session_id: str) -> Session | None:
        """A session's record."""
        ...

    async def ended(self, space: str, count: int) -> Sequence[str]:
        """The sessions that ended last, the last one first."""
        ...

    async def stated_in(
        self, space: str, session_ids: Sequence[str]
    ) -> Mapping[str, frozenset[str]]:
        """By memory, which of these sessions added it, or added it again."""
        ...

    async def written_in(self, space: str, session: Session) -> tuple[Sequence[str], Sequence[str]]:
        """The memories of a session, and the edges that changed while it lasted."""
        ...

    async def authors(self, space: str, memory_ids: Sequence[str]) -> frozenset[str]:
        """The principals that added or changed these memories."""
        ...

    async def followed(self, space: str) -> Judged:
        """How far a space's changes were followed."""
        ...

    async def note_followed(self, space: str, followed: Judged) -> str:
        """Stores how far, and returns the record's etag. Raises `ServiceUnavailable` when another
        process has meanwhile."""
        ...

    def changes(self, space: str, since: Position | None) -> AsyncIterator[Followed]:
        """The changes of a space after a position, up to its newest one; all without one."""
        ...


class CallersGraph(Protocol):
    """Graph, asked in a caller's name."""

    async def conflict(
        self, who: Credential, conflict_id: str = "", pair: tuple[str, str] | None = None
    ) -> Conflict | None:
        """A conflict by its id or by its two sides."""
        ...

    async def conflicts(self, who: Credential, query: Shown) -> ConflictPage:
        """A page of conflicts; `query` is graph's own request."""
        ...

    async def former_etag(self, who: Credential, conflict: Conflict) -> str:
        """The version of a conflict before its last change; empty when it had none."""
        ...

    async def etags(self, who: Credential, ids: Sequence[str]) -> Mapping[str, str]:
        """The versions of edges or memories, by id. Raises `ItemUnknown`."""
        ...

    async def decide(self, who: Credential, request_id: str, decision: Decision) -> Decided:
        """Reviews, resolves or reopens a conflict."""
        ...

    async def end_session(
        self, who: Credential, request_id: str, session_id: str
    ) -> tuple[Session, str]:
        """Ends a session; returns its record and a freshness token."""
        ...

    async def sources(self, who: Credential, memory_ids: Sequence[str]) -> Sequence[Source]:
        """What live memories say, also superseded ones; not counted as read. Raises
        `ItemUnknown`."""
        ...

    async def add_insight(
        self, who: Credential, request_id: str, insight: Insight
    ) -> tuple[str, str]:
        """Adds what was concluded from memories; returns its id and a freshness token."""
        ...

    async def amend(self, who: Credential, request_id: str, newer_id: str, older_id: str) -> str:
        """Adds the lineage that a memory amends another; returns a freshness token."""
        ...


class Search(Protocol):
    """Search, asked by dissonance for itself."""

    async def similar(
        self, space: str, memory_ids: Sequence[str], limit: int, fresh: str = ""
    ) -> Mapping[str, Sequence[tuple[str, float]]]:
        """What is near to each memory: ids with their cosine, best first.

        Memories that the index does not have yet are absent; what is named may be gone since.
        `fresh`: the token of a change that the index must have.
        """
        ...

    async def nearly_same(
        self, space: str, memory_ids: Sequence[str], fresh: str = ""
    ) -> Mapping[str, Sequence[str]]:
        """The memories, of whatever kind but turns, that may differ from each by a small edit."""
        ...


class CallersSearch(Protocol):
    """Search, asked in a caller's name."""

    async def found(self, who: Credential, query: str, limit: int, fresh: str) -> Sequence[str]:
        """The ids of a query's best results, best first; not counted as read.

        `fresh`: the freshness token of a write that it sees; empty = none in particular.
        """
        ...


class TextJudge(Protocol):
    """A model that judges pairs of texts. Swapping a pair swaps the verdict; it may abstain."""

    @property
    def kind(self) -> Judge:
        """Which judge it is."""
        ...

    def questions(self, first: Side, second: Side) -> Sequence[int]:
        """How many tokens each question about a pair takes at most; none for a local model."""
        ...

    async def judge(self, first: Side, second: Side, budget: Budget) -> Verdict | Abstention:
        """Judge two texts. Raises `JudgeUnavailable`, and `BudgetSpent` before it asks."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of asking a reviewer; `cost` is None where nobody counted it."""

    said: PeerReview | FailedReviewer
    cost: Cost | None
    is_cached: bool = False


@dataclass(frozen=True, slots=True)
class Revised:
    """A revised answer, or why there is none; `cost` is None where nobody counted it."""

    answer: str
    cost: Cost | None
    failure: str = ""
    """May be shown."""


class ModelReviewer(Protocol):
    """A model that reviews answers. It sees a task alone, and what it says is scores and words."""

    @property
    def reviewer(self) -> Reviewer:
        """Which model it is."""
        ...

    def cost(self, task: ReviewTask) -> Cost:
        """Estimate what a review costs at most; nothing for one that is kept."""
        ...

    async def review(self, task: ReviewTask) -> Reviewed:
        """Review an answer. A model that does not answer in time has failed."""
        ...


class ModelReviser(Protocol):
    """A model that revises answers."""

    def cost(self, task: ReviewTask, weaknesses: Sequence[str]) -> Cost:
        """Estimate what a revision costs at most."""
        ...

    async def revise(self, task: ReviewTask, weaknesses: Sequence[str]) -> Revised:
        """Revise the answer of a task by its weaknesses."""
        ...


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What a model said, or why it gave nothing; its cost as estimated where nobody counted it."""

    said: T | ModelFailure
    cost: Cost
    is_cached: bool = False


class ModelSynthesizer(Protocol):
    """A model that extracts theses, finds contradictions and words a synthesis.

    What it says of the indices of its task, and of enums, is checked; that the sources bear it out
    is not.
    """

    @property
    def name(self) -> str:
        """Its name in the settings."""
        ...

    def cost(self, task: SynthesisTask, texts: Sequence[SourceText]) -> Cost:
        """Estimate what all steps cost, the later ones by the theses and contradictions of rules;
        nothing for what is known."""
        ...

    async def theses(self, task: SynthesisTask, text: SourceText) -> Asked[Sequence[Claim]]:
        """What a source's text claims: at most three, with quotes as evidence."""
        ...

    async def contradictions(self, task: SynthesisTask) -> Asked[Sequence[SaidContradiction]]:
        """Which theses contradict each other, each pair once."""
        ...

    async def synthesis(self, task: SynthesisTask) -> Asked[SaidSynthesis]:
        """A text, and how each contradiction is resolved."""
        ...


class Council(Protocol):
    """The models that are set up to review and to write syntheses."""

    @property
    def reviewers(self) -> Sequence[ModelReviewer]:
        """All of them, different models."""
        ...

    @property
    def reviser(self) -> ModelReviser | None:
        """None when none is set up."""
        ...

    @property
    def synthesizer(self) -> ModelSynthesizer | None:
        """None when none is set up."""
        ...

    @property
    def quorum(self) -> int:
        """How many reviews a verdict needs unless the request says."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal because of a conflict, or of a suggestion."""

    id: str
    number: int
    conflict_id: str
    conflict_etag: str
    is_in_review: bool
    """Whether it waits for the agent's review of the conflict."""
    revision: int
    suggestion: str = ""
    """The key of what dissonance suggests by it; empty for a conflict's, and for others' own."""


class Governance(Protocol):
    """Governance, asked by dissonance for itself, or in a caller's name."""

    async def pending(self, space: str) -> Sequence[Proposal]:
        """Dissonance's own proposals that wait, also for a review."""
        ...

    async def about(self, space: str, item_id: str) -> Sequence[Proposal]:
        """Every proposal that touches an item, such as a conflict, whoever made it."""
        ...

    async def suggest(self, space: str, request_id: str, suggestion: Suggestion) -> Proposal:
        """Proposes, in dissonance's name, what no conflict caused."""
        ...

    async def human(self, space: str) -> str:
        """The principal of the HUMAN slot; empty before the genesis."""
        ...

    async def propose(
        self, space: str, request_id: str, decision: Decision, who: Credential | None = None
    ) -> Proposal:
        """Proposes a decision, in dissonance's name unless a caller's credential is given."""
        ...

    async def revise(self, space: str, proposal: Proposal, decision: Decision) -> None:
        """Gives a proposal of dissonance's own its next revision, which ends a review."""
        ...

    async def withdraw(self, space: str, proposal_id: str) -> None:
        """Withdraws a proposal of dissonance's own; one that has ended is left as it is."""
        ...
