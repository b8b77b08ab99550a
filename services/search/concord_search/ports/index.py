"""The index of each space, derived from graph, and its versions."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from concord_chassis.channel.cursors import Cursor

from concord_search.domain.asked_times import NO_TIMES, AskedTimes
from concord_search.domain.candidates import NO_CANDIDATES, Candidates, Floats
from concord_search.domain.digests import State
from concord_search.domain.filters import Scope
from concord_search.domain.instants import Micros
from concord_search.domain.memory import Ending, MemoryState, Parked, Touch
from concord_search.ports.embedder import EmbeddingModel, Vector
from concord_search.ports.records import CoRead


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the index; `model` makes the vector.

    The vector may still be in the making: until then the index looks for the text's words.
    `only` restricts the candidates to these memories and lifts the scope but for its record time;
    `branch_limit` bounds each generator, `limit` the candidates that come back. `co_reads` are
    those of the session in which is asked; `times` those that the text names. `knows_words`: the
    model knows a word of the text.
    """

    vector: asyncio.Future[Vector]
    text: str
    scope: Scope
    model: EmbeddingModel
    concepts: tuple[str, ...] = ()
    domain: str = ""
    only: tuple[str, ...] | None = None
    branch_limit: int = 200
    limit: int = 200
    co_reads: Sequence[CoRead] = ()
    times: AskedTimes = NO_TIMES
    knows_words: bool = True


@dataclass(frozen=True, slots=True)
class NearQuery:
    """Which near memories are asked for: those in a scope with the largest cosines, at most `limit`
    of them and none below `least`."""

    scope: Scope
    limit: int
    least: float = -1.0


@dataclass(frozen=True, slots=True)
class Near:
    """A memory near to something: its id, the state compared, and the raw cosine."""

    id: str
    seq: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Place:
    """The factors of a candidate's place (spec S6); text relevance and recency are in [0, 1]."""

    text_relevance: float
    factor: float
    recency: float

    @property
    def score(self) -> float:
        """The product."""
        return self.text_relevance * self.factor * self.recency


@dataclass(frozen=True, slots=True)
class Weighed:
    """The answer to a question by the integrative formula: the candidates, best first, and the
    factors of their places, each of shape (n,)."""

    candidates: Candidates
    text_relevance: Floats
    factor: Floats
    recency: Floats

    def place(self, row: int) -> Place:
        """The place of one candidate."""
        columns = (self.text_relevance, self.factor, self.recency)
        return Place(*(float(column[row]) for column in columns))


NOTHING_WEIGHED = Weighed(NO_CANDIDATES, *(np.zeros(0) for _ in range(3)))
"""The answer where nothing is."""


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


OnPart = Callable[[int, int], None]
"""Is told how many parts of an index are ready, of how many."""


class Index(Protocol):
    """The derived index of each space, in up to three versions; nothing is shared between spaces.

    Without another word a method is about the version that serves. A question is also answered by
    the former one, where only that has vectors of its model: it served when the question was
    embedded.

    What `apply` returned from survives the death of the process. Applying again what was applied
    changes nothing. An older state never overwrites a newer one. It promises no order among
    equals, and no vector of another model: who brings or asks with a vector names its model, and
    gets `ModelReplaced` where the part has vectors of another one.
    """

    async def states(self, version: Version = Version.SERVING) -> Mapping[str, IndexState]:
        """Every space that has this version, with how far that has followed."""
        ...

    async def state(self, space: str, version: Version = Version.SERVING) -> IndexState | None:
        """How far one space's version has followed; None without it."""
        ...

    async def cursors(self) -> Mapping[int, Cursor]:
        """The cursors that were kept last, by partition; none if parts are lost since then."""
        ...

    async def keep_cursors(self, cursors: Mapping[int, Cursor]) -> None:
        """Keeps up to which change of each partition everything is in the index."""
        ...

    def model(self, space: str) -> EmbeddingModel:
        """The model of a part; for a space without one, that of new parts."""
        ...

    async def open(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        """Opens every part; what is open stays so, unless it was lost, to be begun anew.

        Calls `on_part` after each one. Raises `IndexDiskFull` or `IndexUnavailable` with nothing
        opened.
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

    async def apply(self, space: str, batch: Batch, version: Version = Version.SERVING) -> None:
        """Applies changes. Raises `IndexCorrupt`, before it applies any `ModelReplaced`, and
        `IndexDiskFull` or `IndexUnavailable`.

        The latter two leave each change applied or not; applying the batch again applies the rest.
        """
        ...

    async def unembedded(
        self, space: str, states: Sequence[MemoryState], version: Version = Version.SERVING
    ) -> list[bool]:
        """For each state, whether it needs a vector that the version does not have."""
        ...

    async def ask(self, space: str, question: Question) -> Candidates:
        """The candidates for a question; none for a space without a part.

        This and what else reads raises `IndexUnavailable` where a server does not answer.
        """
        ...

    async def weigh(self, space: str, question: Question, weight: asyncio.Future[float]) -> Weighed:
        """The candidates by the integrative formula, best first; none without a part.

        `weight` is the factor of what is constitutive. Of equals, that comes first.
        """
        ...

    async def near(
        self, space: str, vector: Vector, model: EmbeddingModel, query: NearQuery
    ) -> list[Near]:
        """Memories near to a vector, by cosine, descending; none to a vector of zeros."""
        ...

    async def near_each(
        self, space: str, ids: Sequence[str], query: NearQuery
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

    async def unconfirmed(self) -> Sequence[str]:
        """The spaces whose files may hold bytes of erased memories."""
        ...

    async def scrub_removed(self) -> None:
        """Makes files anew that may hold bytes of removed spaces and versions."""
        ...

    async def scrub(self, space: str) -> Sequence[str]:
        """Makes the files of the serving and the former version anew, without what was erased.

        Spaces share files: who waits for the same ones waits for one making of them.

        Searches and changes go on meanwhile; not while a `NEXT` is built: that may still write what
        was erased. Returns what was unconfirmed. Raises `IndexCorrupt` or `IndexDiskFull`.
        """
        ...

    async def confirmed(self, space: str, ids: Sequence[str]) -> None:
        """Notes that the erasures of these memories were confirmed."""
        ...

    def id_of(self, space: str, item: str) -> str:
        """The id of a memory by the index's own name for it (`Candidates.items`)."""
        ...

    async def begin_next(self, space: str, model: EmbeddingModel) -> None:
        """Makes an empty `NEXT` of the serving one's epoch, in the place of any."""
        ...

    async def recall(self, space: str) -> None:
        """Makes the `FORMER` the `NEXT`, to be caught up; does nothing without one."""
        ...

    async def promote(self, space: str) -> None:
        """Makes the `NEXT` the one that serves, at once and for good.

        What served becomes the `FORMER`; one from before is removed. Raises `IndexCorrupt` if the
        `NEXT` was removed.
        """
        ...

    async def remove_version(self, space: str, version: Version) -> None:
        """Removes a version that does not serve; does nothing without it."""
        ...

    def demand_lead(self) -> None:
        """Raises `NotTheWriter` where another process writes the index now."""
        ...

    async def close(self) -> None:
        """Writes everything out and lets go."""
        ...


class SharedIndex(Index, Protocol):
    """An index that several processes read and one of them writes: whoever has its lease.

    Every write of another one raises `NotTheWriter`.
    """

    name: str
    """The index's name, the same in all processes."""
    holder: str
    """The name of this process, the same after a restart."""

    def hold(self, until: float) -> None:
        """May write until that time of `time.monotonic`."""
        ...

    async def lead(self) -> None:
        """Reads all that other processes wrote, to write from then on."""
        ...

    async def stand_by(self) -> None:
        """Writes nothing any more. `state` reads how far another process wrote a space."""
        ...

    async def renew(self) -> None:
        """Takes in the spaces and versions that another process made since."""
        ...
