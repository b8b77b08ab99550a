"""Graph: what search follows, shows and confirms."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from concord_chassis.channel.cursors import Cursor

from concord_search.domain.changes import ChangeKind
from concord_search.domain.digests import Digest
from concord_search.domain.instants import PRESENT, AsOf, Micros
from concord_search.domain.memory import MemoryState
from concord_search.domain.stated import Triple


@dataclass(frozen=True, slots=True)
class SpaceHead:
    """How far a space of graph is."""

    space: str
    head_seq: int


@dataclass(frozen=True, slots=True)
class Partitions:
    """The store's partitions: its epoch, which changes when the store is restored, the newest
    change of each partition, and those of which it lacks the change that was asked about."""

    epoch: str
    heads: Sequence[Cursor]
    lacking: Collection[int] = ()


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
    is_indexed_edge: bool = False
    """Whether it was written on an edge that is or was indexed: constitutive, or added as an edge
    and not as a fact of a memory."""

    @property
    def awaits_confirmation(self) -> bool:
        """Whether it is an erasure that the index confirms to graph."""
        of_memory = self.kind == ChangeKind.ERASED and self.is_memory
        return of_memory or self.kind == ChangeKind.SELECTION_ERASED


@dataclass(frozen=True, slots=True)
class Changes:
    """Some changes of one space, in sequence; a keep-alive has no space.

    `through`: the change of the space's partition up to which nothing is missing after these; None:
    later messages bring what lies between.
    """

    space: str
    epoch: str
    head_seq: int
    changes: Sequence[Change]
    partition: int = 0
    through: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Hydrated:
    """A memory as graph has it: the state for the rules, and the message to show, as it came."""

    state: MemoryState
    shown: object
    conflict_ids: Sequence[str] = ()
    """Its open conflicts now, at most 20."""
    is_logged: bool = False
    """Whether its space keeps a log of what is returned to whom."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What an edge says at its node, and the memories that state it.

    `until`: when it ceased or will cease to hold; `conflict_ids`: of its open conflicts.
    """

    edge_id: str
    text: str
    fact: Triple
    memory_ids: Sequence[str] = ()
    until: Micros | None = None
    conflict_ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Followed:
    """Where relations lead from a node.

    `hops`: the edges of each relation, in order, up to the first that holds nothing; then `held`
    are relations that start there instead. `near_names`: of nodes, where none has the name.
    """

    hops: Sequence[Sequence[Statement]] = ()
    held: Sequence[str] = ()
    near_names: Sequence[str] = ()
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """An open conflict of a memory; `state` and `conflict_class` are the contract's values."""

    id: str
    state: int
    conflict_class: int
    other_id: str
    other_statement: str
    is_text_finding: bool
    """Whether it was merely found in texts, and nobody has confirmed it."""
    is_claimed: bool = False
    """Whether a caller who stands below a side says so, and nobody has confirmed it."""


@dataclass(frozen=True, slots=True)
class Assessed:
    """A memory's health as graph says it; `status` is the contract's number, `health` the message
    to show."""

    id: str
    statement: str
    status: int
    health: object


class Feed(Protocol):
    """The truth, as an index follows it: the changes of memories, and their states.

    Every method raises `GraphUnavailable` when graph does not answer, and `GraphRefused` when it
    answers with a refusal that asking again would not change.
    """

    async def partitions(self, known: Mapping[int, Cursor]) -> Partitions:
        """The partitions; `known`: a change of each that is compared, as the caller knows it."""
        ...

    def spaces(self, partition: int) -> AsyncIterator[Sequence[SpaceHead]]:
        """The spaces of a partition, page by page."""
        ...

    def watch(self, cursors: Mapping[int, Cursor]) -> AsyncIterator[Changes]:
        """Replays partitions after their cursors, then follows them; never ends by itself."""
        ...

    async def changes(self, space: str, after_seq: int) -> Changes:
        """A page of one space's changes after one of them; none if there are no later ones."""
        ...

    async def lacks(self, space: str, seq: int) -> bool:
        """Whether a space has no change of this sequence number yet."""
        ...

    async def at(self, space: str, changes: Sequence[Change]) -> Sequence[Hydrated | None]:
        """The states that changes made, in their order; None for what is gone.

        An edge is gone too where it is not to be indexed. Supersession of those that are not
        constitutive is not followed: their states know of none.
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
        unsure: Collection[str] = (),
        as_of: AsOf = PRESENT,
    ) -> Sequence[Hydrated | None]:
        """The states as of an instant, in order; None for a memory that is unknown (then).

        `session_id`: the session in which they are read, if that counts, the `unsure` ones not
        together with any.
        """
        ...

    async def edges(
        self, space: str, ids: Sequence[str], as_of: AsOf = PRESENT
    ) -> Sequence[Hydrated | None]:
        """Edges as of an instant, in order, each as a sentence; None for one of Concord's own, or
        of a memory's."""
        ...

    async def confirm_erase(self, space: str, memory_id: str) -> None:
        """Confirms that the index holds nothing more of an erased memory; again changes nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Lease:
    """Who may write an index now: `is_ours`, for `remaining` seconds; `number` grows by holder."""

    is_ours: bool
    number: int
    remaining: float


class Leases(Protocol):
    """Leases by name, for 10 seconds each; they raise `GraphUnavailable`."""

    async def acquire(self, name: str, holder: str) -> Lease:
        """Takes a lease unless another holder has it."""
        ...

    async def prolong(self, name: str, holder: str, number: int) -> bool:
        """Prolongs a lease by as long as it lasts; False if it is lost."""
        ...


class Graph(Feed, Protocol):
    """The truth, with what searches and assessments ask of it beside the states."""

    async def statements(
        self, space: str, node: str, as_of: AsOf = PRESENT
    ) -> Sequence[Statement] | None:
        """The constitutive statements at a node, by text, at most 50; None for an unknown node."""
        ...

    async def facts(
        self, space: str, subject: str, relation: str, as_of: AsOf = PRESENT
    ) -> Sequence[Statement]:
        """The values of a relation of a node, by its name, at most 20; none of an unknown node."""
        ...

    async def follow(
        self, space: str, node: str, relations: Sequence[str], as_of: AsOf = PRESENT
    ) -> Followed:
        """Where 1 to 6 relations lead, one after the other, from a node, by its name."""
        ...

    async def items_at(self, space: str, node: str, as_of: AsOf = PRESENT) -> frozenset[str]:
        """The ids of what says something about a node, by name or id: the memories that state an
        edge at it or are the other end of one, and its edges.

        Superseded edges count; an edge outside its stated interval does not. Raises `NodeUnknown`,
        and `FilterUnsupported` where graph does not show all of them.
        """
        ...

    async def conflicts(
        self, space: str, at: Mapping[str, Sequence[str]], as_of: AsOf = PRESENT
    ) -> Mapping[str, Sequence[OpenConflict]]:
        """The open conflicts of memories, by memory; at most 200 in all, each memory's in turn.

        `at`: the conflicts' ids, by memory.

        Those merely found in texts come last; else they are sorted newest first.
        """
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
