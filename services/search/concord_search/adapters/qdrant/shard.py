"""The ports of a transport to Qdrant: the points of many spaces, and the words of a text."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from concord_search.adapters.qdrant.catalogue import Catalogue, FileCatalogue
from concord_search.adapters.qdrant.filters import Filter, PointId
from concord_search.adapters.qdrant.formula import Term
from concord_search.adapters.qdrant.payload import Payload
from concord_search.domain.candidates import Floats, Ints

LAYOUT = 12
"""Version of the layout of partitions and points; one of another is dropped and indexed anew."""

SCROLL_PAGE = 1_000

DENSE, WORDS = "dense", "words"
"""The two vectors of a point: of its meaning, and of its words."""

Sparse = Any
"""The weights of a text's words, as the transport writes them."""

Vectors = Mapping[str, Any]
"""A point's vectors by name: numbers for `DENSE`, `Sparse` for `WORDS`."""

Points = Sequence[tuple[PointId, Vectors, Payload]]


@dataclass(frozen=True, slots=True)
class Nearest:
    """A query of one branch: the best `limit` points, none scored below `least`.

    `corpus`: the points whose words count for the inverse document frequency; None = all.
    """

    vector: Any
    using: str
    limit: int
    filter: Filter
    least: float | None = None
    corpus: Filter | None = None


@dataclass(frozen=True, slots=True)
class Weighing:
    """A query whose branches find points that the engine then scores by a formula."""

    branches: Sequence[Nearest]
    formula: Term
    limit: int


@dataclass(frozen=True, slots=True)
class Scored:
    """The points that one query found, best first, and their scores; both of one length."""

    points: Ints
    scores: Floats


class Words(Hashable, Protocol):
    """The lexical weights of a text, without the inverse document frequency of the shard."""

    def of_document(self, text: str) -> Sparse:
        """The weights of an indexed text."""
        ...

    def of_query(self, text: str) -> Sparse | None:
        """The weights of a query's text; None when it holds only stop words.

        Its terms are all among those of an indexed text of the same words.
        """
        ...

    def parts_of(self, text: str) -> Sequence[int]:
        """The terms of the beginnings and ends of an indexed text's long words."""
        ...

    def joined(self, weights: Sparse | None, more: Mapping[int, float]) -> Sparse:
        """The weights with those of more terms."""
        ...

    def terms_of(self, weights: Sparse) -> Sequence[int]:
        """The numbers of the words that have weights, each above 0."""
        ...


class Shard(ABC):
    """The points of a partition's spaces. Every method blocks and may raise `IndexCorrupt`; over a
    network `IndexUnavailable` and `IndexDiskFull`, too, with a write that was applied in part.

    Whoever reads or writes a space's points does so by its `Tenant`.
    """

    points_a_write: int
    """Points that are sent at once."""
    points_a_copy: int
    """Points that are read with their vectors at once."""

    def __init__(self, name: str) -> None:
        self.name = name
        """The name by which its partition finds the shard again, once it is the current one."""
        self.noted: set[PointId] | None = None
        """The points written since a caller set this to an empty set; None = not noted."""
        self._writing = Lock()  # loading a space's columns may write, beside the writer

    def upsert(self, points: Points) -> None:
        """Writes points, over those with the same id."""
        with self._writing:
            self._note([point for point, _, _ in points])
            for start in range(0, len(points), self.points_a_write):
                self._upsert(points[start : start + self.points_a_write])

    def set_payload(self, point: PointId, values: Payload) -> None:
        """Writes fields of a payload, keeping the others."""
        with self._writing:
            self._note([point])
            self._set_payload(point, values)

    def delete(self, points: Sequence[PointId]) -> None:
        """Removes points."""
        if points:
            with self._writing:
                self._note(points)
                self._delete(points)

    def delete_all(self, wanted: Filter) -> None:
        """Removes the points that pass a filter; notes none."""
        with self._writing:
            self._delete_all(wanted)

    def _note(self, points: Sequence[PointId]) -> None:
        if self.noted is not None:
            self.noted.update(points)

    @abstractmethod
    def query(self, queries: Sequence[Nearest]) -> list[Scored]:
        """Answers queries as one batch: points with their scores, best first."""

    @abstractmethod
    def weigh(self, query: Weighing) -> Scored:
        """Answers one query by its formula, in single precision: points and scores, best first."""

    def vectors_of(self, points: Sequence[PointId]) -> Mapping[PointId, Vectors]:
        """Points' vectors by name, as they are written."""
        found = self._points(points, with_payload=False) if points else ()
        return {point: vectors for point, vectors, _ in found}

    def payload_of(self, point: PointId) -> Payload:
        """A point's payload; empty for a point that is not there."""
        found = self.points([point])
        return found[0][2] if found else {}

    def points(self, wanted: Collection[PointId]) -> Points:
        """The wanted points that exist, as they are written."""
        return self._points(wanted, with_payload=True) if wanted else ()

    def scroll(self, wanted: Filter) -> Iterator[tuple[PointId, Payload]]:
        """Every point that passes a filter, with its payload."""
        for page in self._pages(SCROLL_PAGE, wanted, with_vectors=False):
            for point, _, values in page:
                yield point, values

    def whole(self) -> Iterator[Points]:
        """Every point of every space, as it is written, in pages."""
        return self._pages(self.points_a_copy, None, with_vectors=True)

    @abstractmethod
    def count(self, wanted: Filter) -> int:
        """The number of points that pass a filter."""

    @abstractmethod
    def flush(self) -> None:
        """Writes all changes to the files, so that opening need not replay the log."""

    @abstractmethod
    def close(self) -> None:
        """Writes everything to disk and closes the shard."""

    @abstractmethod
    def _upsert(self, points: Points) -> None: ...

    @abstractmethod
    def _set_payload(self, point: PointId, values: Payload) -> None: ...

    @abstractmethod
    def _delete(self, points: Sequence[PointId]) -> None: ...

    @abstractmethod
    def _delete_all(self, wanted: Filter) -> None: ...

    @abstractmethod
    def _points(self, wanted: Collection[PointId], *, with_payload: bool) -> Points: ...

    @abstractmethod
    def _pages(
        self, size: int, wanted: Filter | None, *, with_vectors: bool
    ) -> Iterator[Points]: ...


S = TypeVar("S", bound=Shard)


class Shards(ABC, Generic[S]):
    """The shards of an index, each of a partition, which is a directory.

    A partition has one current shard, and others while it is made anew. Every method blocks.
    """

    engine: str
    """The engine of the shards; a partition of another is dropped and indexed anew."""
    shared = False
    """Whether other processes read and write the shards, too."""

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes."""
        return True

    def catalogue(self, root: Path) -> Catalogue:
        """The open catalogue of the index in a directory."""
        return FileCatalogue(root)

    def require_room(self) -> None:
        """Raises `IndexDiskFull` if a write would find no room."""

    def missing(self, names: Collection[str]) -> Collection[str]:  # noqa: ARG002 - none is lost
        """The names among these of current shards that are lost. Raises `IndexUnavailable`.

        None where a missing shard is damage, which `load` reports.
        """
        return ()

    @abstractmethod
    def create(self, partition: Path, dimension: int) -> S:
        """Makes an empty shard, not yet the current one. Raises `IndexUnavailable`."""

    def make_current(self, partition: Path, shard: S) -> None:
        """Makes a shard its partition's current one."""

    @abstractmethod
    def load(self, partition: Path, name: str) -> S:
        """Opens the current shard, and removes others.

        Raises `IndexLocked`, `IndexCorrupt` or `IndexUnavailable`.
        """

    @abstractmethod
    def remove(self, shard: S) -> None:
        """Removes a shard that is not the current one, or no longer."""

    def discard(self, partition: Path, name: str) -> None:
        """Removes all of a partition, even an unfinished one, that is outside its directory.

        `name`: that of its current shard; empty where it has none.
        """
