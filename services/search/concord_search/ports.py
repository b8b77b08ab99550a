"""The outside that search needs, and the promises it relies on."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from concord_search.domain.calibration import Proposal, Votes
from concord_search.domain.candidates import Candidates
from concord_search.domain.digests import Digest, State
from concord_search.domain.filters import Scope
from concord_search.domain.instants import PRESENT, AsOf, Micros
from concord_search.domain.memory import Ending, MemoryState, Parked, Touch

Vector = NDArray[np.float32]
"""One embedding, shape (dimension,), of length one."""

Vectors = NDArray[np.float32]
"""Embeddings, shape (n, dimension), each row of length one."""

Clock = Callable[[], Micros]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which model made a vector. Vectors of different models are never mixed."""

    model_id: str
    dimension: int
    revision: str


class Embedder(Protocol):
    """Turns texts into vectors of one model.

    Equal texts give nearly equal vectors, whatever they are embedded together with. A text longer
    than the model reads is read as far as it goes.
    """

    @property
    def model(self) -> EmbeddingModel:
        """The model, the same for the embedder's whole life."""
        ...

    async def open(self) -> None:
        """Loads what it needs, before the first text. Raises `ModelMismatch`."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in their order.

        Raises `EmbeddingUnavailable` when trying again later may help, `EmbeddingRefused` when it
        will not.
        """
        ...

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query; does not wait behind texts that are being embedded."""
        ...

    async def close(self) -> None:
        """Ends what runs and frees the model."""
        ...


@dataclass(frozen=True, slots=True)
class CoRead:
    """A memory that a session read, and one that was read with it, in so many sessions; `last`."""

    memory_id: str
    other_id: str
    sessions: int
    last: Micros


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the index; `model` made the vector.

    `only` restricts the candidates to these memories and lifts the scope; `branch_limit` bounds
    each generator, `limit` the candidates that come back. `co_reads` are those of the session in
    which is asked.
    """

    vector: Vector
    text: str
    scope: Scope
    model: EmbeddingModel
    concepts: tuple[str, ...] = ()
    domain: str = ""
    only: tuple[str, ...] | None = None
    branch_limit: int = 200
    limit: int = 200
    co_reads: Sequence[CoRead] = ()


@dataclass(frozen=True, slots=True)
class Near:
    """A memory near to something: its id, the state compared, and the raw cosine."""

    id: str
    seq: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a question: the candidates, and whether the text held a searched word."""

    candidates: Candidates
    has_words: bool


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate with the factors of its place (spec S6), the text relevance and R in [0, 1].

    `item` is the index's own name of a memory or of an edge, `seq` the state that was scored.
    """

    item: str
    seq: int
    is_edge: bool
    text_relevance: float
    factor: float
    recency: float

    @property
    def score(self) -> float:
        """The product."""
        return self.text_relevance * self.factor * self.recency


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive changes of one space, ready to apply; `applied_seq` is the last of them.

    A state without a vector says what the newest indexed state of its memory already says.
    `latest` is the newest record time among them. `settled` are changes that were parked and no
    longer are. `to_confirm` are those of the erased whose erasure waits for a confirmation.
    `model` made the vectors; None where there are none.
    """

    applied_seq: int
    latest: Micros
    states: Sequence[tuple[MemoryState, Vector | None]] = ()
    touches: Sequence[Touch] = ()
    endings: Sequence[Ending] = ()
    erased: Sequence[str] = ()
    parked: Sequence[Parked] = ()
    settled: Sequence[int] = ()
    to_confirm: Sequence[str] = ()
    model: EmbeddingModel | None = None


class Version(StrEnum):
    """The versions of a space's index. Only the one that serves follows the feed at all times."""

    SERVING = "serving"
    """Answers searches."""
    NEXT = "next"
    """Is being built, or caught up, beside it, to take its place."""
    FORMER = "former"
    """Served before, kept to roll back to; rid of erased memories, else as it was."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far a version of a space's index has followed, with vectors of one model.

    `unconfirmed` are the erased memories of which its files may still hold bytes.
    """

    epoch: str
    applied_seq: int
    latest: Micros
    memories: int
    model: EmbeddingModel
    parked_count: int = 0
    parked: Sequence[Parked] = ()
    unconfirmed: Sequence[str] = ()


class Index(Protocol):
    """The derived index, one part per space; nothing is shared between parts.

    What `apply` returned from survives the death of the process. Applying again what was applied
    changes nothing. An older state never overwrites a newer one. It promises no order among
    equals, and no vector of another model: who brings or asks with a vector names its model, and
    gets `ModelReplaced` where the part has vectors of another one.
    """

    async def states(self) -> Mapping[str, IndexState]:
        """Every space that has a part, with how far it has followed."""
        ...

    def model(self, space: str) -> EmbeddingModel:
        """The model of a part; for a space without one, that of new parts."""
        ...

    async def open(self) -> None:
        """Opens every part; what is open stays so, unless it was lost, to be begun anew.

        Raises `IndexDiskFull` or `IndexUnavailable` with nothing opened.
        """
        ...

    async def check(self) -> None:
        """Raises `IndexUnavailable` when neither searches nor changes get an answer now."""
        ...

    async def begin(self, space: str, epoch: str, model: EmbeddingModel | None = None) -> None:
        """Makes an empty part for a store's epoch, dropping one of another epoch.

        With vectors of `model`; None = of the part that was there, else of new parts.
        """
        ...

    async def remove(self, space: str) -> None:
        """Removes a part; does nothing without it."""
        ...

    async def apply(self, space: str, batch: Batch) -> None:
        """Applies changes. Raises `IndexCorrupt`, before it applies any `ModelReplaced`, and
        `IndexDiskFull` or `IndexUnavailable`.

        The latter two leave each change applied or not; applying the batch again applies the rest.
        """
        ...

    async def unembedded(self, space: str, states: Sequence[MemoryState]) -> list[bool]:
        """For each state, whether it needs a vector that the index does not have."""
        ...

    async def ask(self, space: str, question: Question) -> Found:
        """The candidates for a question; none for a space without a part.

        This and what else reads raises `IndexUnavailable` where a server does not answer.
        """
        ...

    async def weigh(self, space: str, question: Question, weight: float) -> Sequence[Weighed]:
        """The candidates by the integrative formula, best first; none without a part.

        `weight` is the factor of what is constitutive. Of equals, that comes first.
        """
        ...

    async def near(
        self,
        space: str,
        vector: Vector,
        scope: Scope,
        limit: int,
        least: float,
        *,
        model: EmbeddingModel,
    ) -> list[Near]:
        """Memories by cosine, descending, none below `least`."""
        ...

    async def near_each(
        self, space: str, ids: Sequence[str], scope: Scope, limit: int, least: float
    ) -> list[Sequence[Near] | None]:
        """What is near to each memory's newest indexed state, as `near` says it, without itself.

        None for a memory that the index does not have.
        """
        ...

    async def vector_of(
        self, space: str, item_id: str, seq: int, model: EmbeddingModel
    ) -> Vector | None:
        """The vector of a memory's state; None when that state is not the newest indexed one."""
        ...

    async def held(self, space: str) -> Sequence[State]:
        """Every state that the files hold, in no order; a state as often as they hold it."""
        ...

    async def drop(self, space: str, ids: Collection[str]) -> None:
        """Takes memories out, with all their states, so that these can be applied again."""
        ...

    async def scrub(self, space: str) -> Sequence[str]:
        """Makes a space's files anew, without what was erased; returns what was unconfirmed.

        Searches and changes go on meanwhile. Raises `IndexCorrupt` or `IndexDiskFull`.
        """
        ...

    async def confirmed(self, space: str, ids: Sequence[str]) -> None:
        """Notes that the erasures of these memories were confirmed."""
        ...

    def id_of(self, space: str, item: str) -> str:
        """The id of a memory by the index's own name for it (`Candidates.items`)."""
        ...

    async def close(self) -> None:
        """Writes everything out and lets go."""
        ...


class VersionedIndex(Index, Protocol):
    """An index whose parts have up to three versions. Without another word it is the one that
    serves; a question is also answered by the former one, where only that has vectors of its model:
    it served when the question was embedded.
    """

    async def states(self, version: Version = Version.SERVING) -> Mapping[str, IndexState]:
        """Every space that has this version, with how far that has followed."""
        ...

    async def apply(self, space: str, batch: Batch, version: Version = Version.SERVING) -> None:
        """Applies changes, as `Index` says it."""
        ...

    async def unembedded(
        self, space: str, states: Sequence[MemoryState], version: Version = Version.SERVING
    ) -> list[bool]:
        """For each state, whether it needs a vector that the version does not have."""
        ...

    async def scrub(self, space: str) -> Sequence[str]:
        """Makes the files of the serving and the former version anew, as `Index` says it.

        Not while a `NEXT` is built: that may still write what was erased.
        """
        ...

    async def begin_next(self, space: str, model: EmbeddingModel) -> None:
        """Makes an empty `NEXT` of the serving one's epoch, in the place of any."""
        ...

    async def recall(self, space: str) -> None:
        """Makes the `FORMER` the `NEXT`, to be caught up; does nothing without one."""
        ...

    async def promote(self, space: str) -> None:
        """Makes the `NEXT` the one that serves, at once and for good.

        What served becomes the `FORMER`; one from before is removed.
        """
        ...

    async def remove_version(self, space: str, version: Version) -> None:
        """Removes a version that does not serve; does nothing without it."""
        ...


@dataclass(frozen=True, slots=True)
class SpaceHead:
    """How far a space of graph is. The epoch is the store's: it changes when that is restored."""

    space: str
    epoch: str
    head_seq: int


@dataclass(frozen=True, slots=True)
class StateDigests:
    """What graph digests of a space through a change: every bucket, by number."""

    epoch: str
    seq: int
    buckets: Sequence[Digest]


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a memory. `kind` is the contract's number of what happened."""

    seq: int
    record_time: Micros
    item_id: str
    is_memory: bool
    kind: int
    is_value: bool = False
    """Whether it was written on an edge that is or was constitutive."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Some changes of one space, in sequence; a keep-alive has no space."""

    space: str
    epoch: str
    head_seq: int
    changes: Sequence[Change]


@dataclass(frozen=True, slots=True)
class Hydrated:
    """A memory as graph has it: the state for the rules, and the message to show, as it came."""

    state: MemoryState
    shown: object
    has_conflicts: bool = False
    """Whether it has open conflicts now."""
    fact: tuple[str, str, str] | None = None
    """The triple that it states, where that is one."""
    is_logged: bool = False
    """Whether its space keeps a log of what is returned to whom."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a constitutive edge says at its node, and the memories that state it."""

    edge_id: str
    text: str
    fact: tuple[str, str, str]
    memory_ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """An open conflict of a memory; `state` and `conflict_class` are the contract's values."""

    id: str
    state: int
    conflict_class: int
    other_id: str
    other_statement: str


@dataclass(frozen=True, slots=True)
class Assessed:
    """A memory's health as graph says it; `status` is the contract's number, `health` the message
    to show."""

    id: str
    statement: str
    status: int
    health: object


class Graph(Protocol):
    """The truth: the changes of memories, and their states.

    Every method raises `GraphUnavailable` when graph does not answer, and `GraphRefused` when it
    answers with a refusal that asking again would not change.
    """

    async def heads(self) -> Sequence[SpaceHead]:
        """Every space of the store."""
        ...

    def watch(self, applied: Mapping[str, int]) -> AsyncIterator[Changes]:
        """Replays every space after what was applied of it, then follows; never ends by itself."""
        ...

    async def at(self, space: str, changes: Sequence[Change]) -> Sequence[Hydrated | None]:
        """The states that changes made, in their order; None for what is gone.

        An edge is gone too where it is no longer constitutive.
        """
        ...

    async def digests(self, space: str, through: int) -> StateDigests:
        """The digests of a space's states through a change."""
        ...

    async def current(
        self,
        space: str,
        ids: Sequence[str],
        *,
        count_as_read: bool,
        session_id: str = "",
        as_of: AsOf = PRESENT,
    ) -> Sequence[Hydrated | None]:
        """The states as of an instant, in order; None for a memory that is unknown (then).

        `session_id`: the session in which they are read, if that counts.
        """
        ...

    async def edges(
        self, space: str, ids: Sequence[str], as_of: AsOf = PRESENT
    ) -> Sequence[Hydrated | None]:
        """Constitutive edges as of an instant, in order, each as a sentence; None for any other."""
        ...

    async def statements(
        self, space: str, node: str, as_of: AsOf = PRESENT
    ) -> Sequence[Statement] | None:
        """The constitutive statements at a node, by text, at most 50; None for an unknown node."""
        ...

    async def confirm_erase(self, space: str, memory_id: str) -> None:
        """Confirms that the index holds nothing more of an erased memory; again changes nothing."""
        ...

    async def conflicts(
        self, space: str, ids: Sequence[str], as_of: AsOf = PRESENT
    ) -> Mapping[str, Sequence[OpenConflict]]:
        """The open conflicts of memories, newest first, by memory; at most 200 in all."""
        ...

    async def assessed(
        self, space: str, kinds: Sequence[int], token: str, limit: int, as_of: AsOf = PRESENT
    ) -> tuple[Sequence[Assessed], str]:
        """The next memories of some kinds, newest first, at most 200, and what the next page starts
        at; empty on the last."""
        ...

    async def chain(self, space: str, item_id: str, as_of: AsOf = PRESENT) -> Collection[str]:
        """The ids of every live memory in an item's chain; empty for an unknown item."""
        ...


@dataclass(frozen=True, slots=True)
class Compared:
    """A result beside a constitutive statement: its text, the one triple that it states (None:
    none or several), and who alone said it (empty: unknown or several)."""

    text: str
    fact: tuple[str, str, str] | None
    speaker: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Verdict:
    """How two texts disagree: the contract's class, 0 where they do not; `judged` says whether a
    judge decided."""

    conflict_class: int
    confidence: float
    judged: bool


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts in the order of what was compared; `is_degraded` where a judge did not answer."""

    verdicts: Sequence[Verdict]
    is_degraded: bool = False


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """A query that feedback may name, the weight that ranked it, and whether a value came first."""

    id: str
    text: str
    weight: float
    constitutive_first: bool


@dataclass(frozen=True, slots=True)
class Recall:
    """Which memories an answer returned, in their order, to whom, and in which session, if any."""

    query_id: str
    principal: str
    session_id: str
    memory_ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class Calibration:
    """A space's constitutive weight (0: never moved), its votes, and the weight before the last
    move (0: none). `shown` is graph's message."""

    weight: float
    new_votes: int
    votes: Sequence[Votes]
    former: float
    etag: str
    shown: object


class Records(Protocol):
    """What search keeps in graph. Every method raises `GraphUnavailable` or `GraphRefused`."""

    async def triggers(self, space: str) -> Sequence[tuple[str, Sequence[str]]]:
        """The live memories that surface by triggers, with these, at most 10,000."""
        ...

    async def co_reads(self, space: str, session_id: str) -> Sequence[CoRead]:
        """What was read together with what a session read, at most 1,000 pairs."""
        ...

    async def put_query(self, space: str, query: RankedQuery) -> None:
        """Keeps a query for feedback, for 30 days."""
        ...

    async def add_recall(self, space: str, recall: Recall) -> None:
        """Keeps what an answer returned, in a space whose recall log is on; else does nothing."""
        ...

    async def vote(
        self, space: str, query_id: str, principal: str, helpfulness: int, reason: str
    ) -> Calibration:
        """Keeps and counts a vote. Raises `FeedbackRefused`."""
        ...

    async def calibration(self, space: str) -> Calibration:
        """The weight with its evidence."""
        ...

    async def move(
        self, space: str, principal: str, old: float, asked: Proposal, etag: str
    ) -> bool:
        """Moves the weight; False where somebody voted or moved it meanwhile."""
        ...

    async def claim(
        self, space: str, session_id: str, memory_ids: Sequence[str], limit: int
    ) -> Sequence[str]:
        """Takes the first of at most 100 memories that a session was not suggested yet."""
        ...


class Judges(Protocol):
    """Who compares results with constitutive statements; records nothing."""

    async def verdicts(
        self, space: str, pairs: Sequence[Compared], seconds: float, *, use_models: bool
    ) -> Verdicts:
        """Judges at most 256 pairs. Raises `JudgesUnavailable`, and `TimeoutError` when so many
        seconds were not enough."""
        ...
