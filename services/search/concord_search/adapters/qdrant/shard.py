"""The ports of a transport to Qdrant: the points of one space, and the words of a text."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from concord_search.adapters.qdrant.filters import Filter, PointId
from concord_search.adapters.qdrant.formula import Term
from concord_search.adapters.qdrant.payload import Payload
from concord_search.domain.candidates import Floats

LAYOUT = 7
"""Version of the layout of parts and points; a part of another one is dropped and indexed anew."""

DENSE, WORDS = "dense", "words"
"""The two vectors of a point: of its meaning, and of its words."""

Sparse = Any
"""The weights of a text's words, as the transport writes them."""

Vectors = Mapping[str, Any]
"""A point's vectors by name: numbers for `DENSE`, `Sparse` for `WORDS`."""

Points = Sequence[tuple[PointId, Vectors, Payload]]


@dataclass(frozen=True, slots=True)
class Nearest:
    """A query of one branch: the best `limit` points, none scored below `least`."""

    vector: Any
    using: str
    limit: int
    filter: Filter
    least: float | None = None


@dataclass(frozen=True, slots=True)
class Weighing:
    """A query whose branches find points that the engine then scores by a formula."""

    branches: Sequence[Nearest]
    formula: Term
    limit: int


@dataclass(frozen=True, slots=True)
class Scored:
    """The points that one query found, best first, and their scores; both of one length."""

    points: Sequence[PointId]
    scores: Floats


class Words(Protocol):
    """The lexical weights of a text, without the inverse document frequency of the shard."""

    def of_document(self, text: str) -> Sparse:
        """The weights of an indexed text."""
        ...

    def of_query(self, text: str) -> Sparse | None:
        """The weights of a query's text; None when it holds only stop words."""
        ...

    def terms_of(self, weights: Sparse) -> Sequence[int]:
        """The numbers of the words that have weights, each above 0."""
        ...


class Shard(Protocol):
    """The points of one space. Every method blocks and may raise `IndexCorrupt`; over a network
    `IndexUnavailable` and `IndexDiskFull`, too, with a write that was applied in part."""

    @property
    def name(self) -> str:
        """The name by which its part finds the shard again, once it is the current one."""
        ...

    noted: set[PointId] | None
    """The points written since a caller set this to an empty set; None = not noted."""

    def upsert(self, points: Points) -> None:
        """Writes points, over those with the same id."""
        ...

    def set_payload(self, point: PointId, values: Payload) -> None:
        """Writes fields of a payload, keeping the others."""
        ...

    def delete(self, points: Sequence[PointId]) -> None:
        """Removes points."""
        ...

    def query(self, queries: Sequence[Nearest]) -> list[Scored]:
        """Answers queries as one batch: points with their scores, best first."""
        ...

    def weigh(self, query: Weighing) -> Scored:
        """Answers one query by its formula, in single precision: points and scores, best first."""
        ...

    def vectors_of(self, points: Sequence[int]) -> dict[int, Vectors]:
        """Points' vectors by name, as they are written."""
        ...

    def payload_of(self, point: PointId) -> Payload:
        """A point's payload; empty for a point that is not there."""
        ...

    def count(self) -> int:
        """The number of points."""
        ...

    def scroll(self) -> Iterator[tuple[PointId, Payload]]:
        """Every point with its payload."""
        ...

    def whole(self) -> Iterator[Points]:
        """Every point, as it is written, in pages."""
        ...

    def points(self, wanted: Collection[PointId]) -> Points:
        """The wanted points that exist, as they are written."""
        ...

    def flush(self) -> None:
        """Writes all changes to the files, so that opening need not replay the log."""
        ...

    def close(self) -> None:
        """Writes everything to disk and closes the shard."""
        ...


S = TypeVar("S", bound=Shard)


class Shards(Protocol[S]):
    """The shards of an index, each of a part, which is a directory that holds the part's key.

    A part has one current shard, and others while it is made anew. Every method blocks.
    """

    @property
    def engine(self) -> str:
        """The engine of the shards; a part of another engine is dropped and indexed anew."""
        ...

    def require_room(self) -> None:
        """Raises `IndexDiskFull` if a write would find no room."""
        ...

    def missing(self, names: Collection[str]) -> Collection[str]:
        """The names among these of current shards that are lost. Raises `IndexUnavailable`."""
        ...

    def create(self, part: Path, dimension: int) -> S:
        """Makes an empty shard, not yet the current one. Raises `IndexUnavailable`."""
        ...

    def make_current(self, part: Path, shard: S) -> None:
        """Makes a shard its part's current one."""
        ...

    def load(self, part: Path, name: str) -> S:
        """Opens the current shard, and removes others.

        Raises `IndexLocked`, `IndexCorrupt` or `IndexUnavailable`.
        """
        ...

    def remove(self, shard: S) -> None:
        """Removes a shard that is not the current one, or no longer."""
        ...

    def discard(self, part: Path) -> None:
        """Removes all of a part, even an unfinished one, that is outside its directory."""
        ...
