"""Filters of memories (spec S2), and the check of a single state against one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, IntEnum

from concord_search.domain.instants import PRESENT, AsOf, Micros
from concord_search.domain.memory import CONSTITUTIVE, MemoryState, domain_and_above


class Superseded(Enum):
    """How a search treats superseded and deprecated memories (spec T4)."""

    EXCLUDE = "exclude"
    INCLUDE = "include"
    HISTORY = "history"


class Edges(IntEnum):
    """Which edges may answer beside memories; each kind with those before it."""

    NONE = 0
    CONSTITUTIVE = 1
    ALL = 2


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Every set part must match; an empty or None part demands nothing.

    Numbers are the contract's enum values, instants microseconds. `valid_since` and `valid_before`
    demand that the memory held at some time in between, instead of now. Concepts are in normal
    form, properties as `property_of` writes them. `node` is a node's name or id; graph alone knows
    the ids of the items there, `about` (None: not asked yet).
    """

    kinds: tuple[int, ...] = ()
    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    tags_none: tuple[str, ...] = ()
    domain: str = ""
    concepts: tuple[str, ...] = ()
    source: str = ""
    min_trust: int = 0
    session_id: str = ""
    edge_types: tuple[int, ...] = ()
    importances: tuple[int, ...] = ()
    origins: tuple[int, ...] = ()
    words_origins: tuple[int, ...] = ()
    principal: str = ""
    created_since: Micros | None = None
    created_before: Micros | None = None
    valid_since: Micros | None = None
    valid_before: Micros | None = None
    category: str = ""
    properties: tuple[str, ...] = ()
    node: str = ""
    about: frozenset[str] | None = None
    all_of: tuple["MemoryFilter", ...] = ()
    any_of: tuple["MemoryFilter", ...] = ()
    none_of: tuple["MemoryFilter", ...] = ()

    @property
    def names_valid_time(self) -> bool:
        """Whether the filter, or a part of it at any depth, restricts valid time."""
        if self.valid_since is not None or self.valid_before is not None:
            return True
        return any(part.names_valid_time for part in (*self.all_of, *self.any_of, *self.none_of))

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that the filter names, at any depth."""
        parts = (*self.all_of, *self.any_of, *self.none_of)
        return frozenset({self.node} - {""}).union(*(part.nodes for part in parts))

    def located(self, items: Mapping[str, frozenset[str]]) -> "MemoryFilter":
        """The filter with the ids of the items at each of its nodes, at any depth."""
        return replace(
            self,
            about=items[self.node] if self.node else None,
            all_of=tuple(part.located(items) for part in self.all_of),
            any_of=tuple(part.located(items) for part in self.any_of),
            none_of=tuple(part.located(items) for part in self.none_of),
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """The caller's filter, and how time and lineage restrict the answer beside it.

    `now`: the time of the query; `superseded`: whether replaced memories may appear (`HISTORY`:
    neither valid time nor lineage restricts the answer). `as_of`: the instant asked about.
    `edges`: those that may answer beside memories.
    """

    now: Micros
    superseded: Superseded
    filter: MemoryFilter
    as_of: AsOf = PRESENT
    edges: Edges = Edges.NONE

    @property
    def valid(self) -> Micros:
        """The instant at which an answer must hold."""
        return self.now if self.as_of.valid is None else self.as_of.valid

    @property
    def record(self) -> Micros | None:
        """The instant at which an answer must have been known; None: now, or in the future."""
        record = self.as_of.record
        return record if record is not None and record < self.now else None


def kind_of_edge(state: MemoryState) -> Edges:
    """Among which edges an item is: a memory is among none."""
    if not state.is_edge:
        return Edges.NONE
    return Edges.CONSTITUTIVE if state.edge_type == CONSTITUTIVE else Edges.ALL


def admits(scope: Scope, state: MemoryState) -> bool:
    """Whether a single state may answer.

    The index's engine applies the same rules; this check is for states that changed since.
    """
    if state.forgotten or state.created > scope.now or kind_of_edge(state) > scope.edges:
        return False
    if scope.superseded is not Superseded.HISTORY:
        holds = state.valid_from <= scope.valid < state.stated_until
        if not holds and not scope.filter.names_valid_time:
            return False
    if scope.superseded is Superseded.EXCLUDE and state.superseded_at(scope.valid):
        return False
    return matches(scope.filter, state)


def matches(wanted: MemoryFilter, state: MemoryState) -> bool:
    """Whether a state satisfies every part of a filter."""
    return (
        _words_match(wanted, state)
        and _numbers_match(wanted, state)
        and _times_match(wanted, state)
        and all(matches(part, state) for part in wanted.all_of)
        and (not wanted.any_of or any(matches(part, state) for part in wanted.any_of))
        and not any(matches(part, state) for part in wanted.none_of)
    )


def _words_match(wanted: MemoryFilter, state: MemoryState) -> bool:
    tags = set(state.tags)
    said_by = {name for origin in state.origins for name in (origin.speaker, origin.file)}
    return (
        (not wanted.tags_any or not tags.isdisjoint(wanted.tags_any))
        and tags.issuperset(wanted.tags_all)
        and tags.isdisjoint(wanted.tags_none)
        and (not wanted.domain or wanted.domain in domain_and_above(state.domain))
        and (not wanted.concepts or not set(wanted.concepts).isdisjoint(state.concepts))
        and (not wanted.source or wanted.source in said_by)
        and (not wanted.session_id or wanted.session_id == state.session_id)
        and (not wanted.category or wanted.category == state.category)
        and (not wanted.principal or wanted.principal == state.principal)
        and set(wanted.properties).issubset(state.properties)
        and (wanted.about is None or state.id in wanted.about)
    )


def _numbers_match(wanted: MemoryFilter, state: MemoryState) -> bool:
    return (
        (not wanted.kinds or state.kind in wanted.kinds)
        and (not wanted.edge_types or state.edge_type in wanted.edge_types)
        and (not wanted.importances or state.importance in wanted.importances)
        and (not wanted.origins or state.origin in wanted.origins)
        and (not wanted.words_origins or state.words_origin in wanted.words_origins)
        and state.trust >= wanted.min_trust
    )


def _times_match(wanted: MemoryFilter, state: MemoryState) -> bool:
    tests: Sequence[tuple[Micros | None, Callable[[Micros], bool]]] = (
        (wanted.created_since, lambda at: state.created >= at),
        (wanted.created_before, lambda at: state.created < at),
        (wanted.valid_since, lambda at: state.held_until > at),
        (wanted.valid_before, lambda at: state.valid_from < at),
    )
    return all(at is None or test(at) for at, test in tests)
