"""What the searches share: their parts, and the numbers of the ranking."""

from collections.abc import Callable
from dataclasses import dataclass, field

from concord_search.domain.instants import Clock, Micros
from concord_search.domain.profiles import Profiles, shipped
from concord_search.domain.stac import Thresholds
from concord_search.ports.graph import Graph
from concord_search.ports.index import Index
from concord_search.ports.records import Records
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.progress import Progress


@dataclass(frozen=True, slots=True)
class Formula:
    """The profiles and thresholds in force."""

    profiles: Profiles = field(default_factory=shipped)
    thresholds: Thresholds = field(default_factory=Thresholds)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """The parts that all searches share. `new_id` makes the ids of queries, by time."""

    embedders: Embedders
    index: Index
    graph: Graph
    records: Records
    progress: Progress
    clock: Clock
    formula: Formula
    new_id: Callable[[], str]

    def now(self, space: str) -> Micros:
        """The time; never before the index's newest change: graph's clock may be ahead."""
        return max(self.clock(), self.progress.of(space).latest)
