"""Leases of spaces, and positions in graph's change feed."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from concord_chassis.channel.cursors import Cursor

from concord_dissonance.domain.sides import Micros


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a space's change feed."""

    epoch: str
    seq: int


JUDGED, FOLLOWED = "judged_position", "triggers_position"
"""The kinds of positions that graph stores: up to which a space was judged, and up to which its
changes were followed."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A position that was reached in a space; graph stores it.

    `version`: the judges' version if it was judged up to there. `etag`: the version of the stored
    record; empty: there was none.
    """

    position: Position | None
    version: str
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """The changes of a space since a position.

    `ids`: the edges and memories that were written or whose supersession changed. `everything`:
    all must be judged again, as the position is of another store, or a declaration changed.
    """

    head: Position
    ids: frozenset[str] = frozenset()
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Followed:
    """Some changes of a space, in sequence, and the position after them."""

    position: Position
    token: str
    """The freshness token of the last change, for reads that must not be older."""
    written: Mapping[str, bool]
    """Whether an import did it, by the id of each memory that was created, changed or restored."""
    ended: Sequence[tuple[str, Micros]]
    """The ids of the sessions that ended, with the times (µs)."""


@dataclass(frozen=True, slots=True)
class Heard:
    """News of a changed space: of its conflicts, of items that trigger checks, or of texts.

    `texts`: the ids of the memories that changed; None: any may have. `through`: the change of the
    space's partition up to which nothing is missing after this; None: the next ones bring it.
    """

    space: str
    conflicts: bool = True
    triggers: bool = True
    texts: Set[str] | None = None
    partition: int = 0
    through: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """Graph's store: its epoch, the newest change of each partition, and those of which it lacks
    the change that was asked about."""

    epoch: str
    heads: Sequence[Cursor]
    lacking: Set[int]


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease of a space: whether it is this process's, and the seconds its holder has left."""

    is_ours: bool
    number: int
    remaining: float


class Leases(Protocol):
    """Graph's leases, by which only one of several processes follows a space."""

    async def acquire(self, space: str) -> Lease:
        """Take the lease of a space unless another process has it."""
        ...

    async def renew(self, space: str, number: int) -> bool:
        """Prolong a lease; False: it is lost."""
        ...
