"""The change feed as dissonance follows it, and how far it has judged."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from concord_dissonance.domain.sides import Micros


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


class Feed(Protocol):
    """Graph's change feed, as far as it says where to look."""

    def heard(self) -> AsyncIterator[Heard | None]:
        """Every space; None once the feed is followed; then each space that changes. Ends, or
        raises `ServiceUnavailable`, when the feed breaks."""
        ...


@dataclass(frozen=True, slots=True)
class Lease:
    """Whether this process follows a space, and for how many seconds whoever does so has it."""

    is_ours: bool
    number: int
    remaining: float


class Leases(Protocol):
    """Graph's leases: of several processes one follows a space."""

    async def acquire(self, space: str) -> Lease:
        """Take the lease of a space unless another process has it."""
        ...

    async def renew(self, space: str, number: int) -> bool:
        """Prolong it; false once it is lost."""
        ...
