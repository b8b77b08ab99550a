"""What a transport to Qdrant brings: the points of one space, and the words of a text."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from concord_search.adapters.qdrant.filters import Filter, PointId
from concord_search.adapters.qdrant.formula import Term
from concord_search.adapters.qdrant.payload import Payload
from concord_search.domain.candidates import Floats

LAYOUT = 7
"""Number of the layout of parts and points; a part of another one is dropped and followed anew."""

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


NOTHING = Scored((), np.zeros(0))
"""An answer without points."""


class Words(Protocol):
    """The lexical side of a text; the inverse document frequency is the shard's."""

    def of_document(self, text: str) -> Sparse:
        """The weights of a text that is found."""
        ...

    def of_query(self, text: str) -> Sparse | None:
        """The weights of a text that asks; None when it holds only stop words."""
        ...

    def terms_of(self, weights: Sparse) -> Sequence[int]:
        """The numbers of the words that have weights, each above 0."""
        ...


class Shard(Protocol):
    """The points of one space. Every method blocks and may raise `IndexCorrupt`; over a network
    `IndexUnavailable` and `IndexDiskFull`, too, with a write that was applied in part."""

    @property
    def name(self) -> str:
        """Under which its part finds it again, once it is the current one."""
        ...

    noted: set[PointId] | None
    """The points written since an empty set was put here."""

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
        """Answers queries as one batch."""
        ...

    def weigh(self, query: Weighing) -> Scored:
        """Answers one query by its formula, in single precision."""
        ...

    def vectors_of(self, points: Sequence[int]) -> dict[int, Vectors]:
        """Points' vectors, as they are written."""
        ...

    def payload_of(self, point: PointId) -> Payload:
        """A point's payload; empty for a point that is not there."""
        ...

    def count(self) -> int:
        """How many points there are."""
        ...

    def scroll(self) -> Iterator[tuple[PointId, Payload]]:
        """Every point with its payload."""
        ...

    def whole(self) -> Iterator[Points]:
        """Every point, as it is written, in pages."""
        ...

    def points(self, wanted: Collection[PointId]) -> Points:
        """Those of some points that are there, as they are written."""
        ...

    def flush(self) -> None:
        """Makes what was written outlive the process without its log."""
        ...

    def close(self) -> None:
        """Writes everything out and lets go."""
        ...


S = TypeVar("S", bound=Shard)


class Shards(Protocol[S]):
    """The shards of an index, each of a part, which is a directory that holds the part's key.

    A part has one current shard, and others while it is made anew. Every method blocks.
    """

    @property
    def engine(self) -> str:
        """What keeps the shards; a part of another engine is dropped and followed anew."""
        ...

    def require_room(self) -> None:
        """Raises `IndexDiskFull` where a write would find no room."""
        ...

    def missing(self, names: Collection[str]) -> Collection[str]:
        """Those of some current shards that are lost. Raises `IndexUnavailable`."""
        ...

    def create(self, part: Path, dimension: int) -> S:
        """Makes an empty shard, not yet the current one."""
        ...

    def make_current(self, part: Path, shard: S) -> None:
        """Makes a shard its part's current one."""
        ...

    def load(self, part: Path, name: str) -> S:
        """Opens the current shard, and removes others. Raises `IndexLocked` or `IndexCorrupt`."""
        ...

    def remove(self, shard: S) -> None:
        """Removes a shard that is not the current one, or no longer."""
        ...

    def discard(self, part: Path) -> None:
        """Removes what of a part is outside its directory; of a part in the making too."""
        ...
