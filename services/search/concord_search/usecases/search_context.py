"""What the searches share: their parts, the numbers of the ranking, and what a query is."""

from collections.abc import Callable
from dataclasses import dataclass, field

from concord_search.domain.filters import MemoryFilter, Superseded
from concord_search.domain.instants import PRESENT, AsOf, Clock, Micros
from concord_search.domain.profiles import Profiles, shipped
from concord_search.domain.stac import StacOptions, Thresholds
from concord_search.ports.graph import Graph
from concord_search.ports.index import Index
from concord_search.ports.records import Records
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.progress import Demand, Progress


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


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query. `offset` and `now` come from the page token; `now` is None on the first page."""

    text: str
    filter: MemoryFilter = field(default_factory=MemoryFilter)
    domain: str = ""
    concepts: tuple[str, ...] = ()
    superseded: Superseded = Superseded.EXCLUDE
    min_score: float = 0.0
    demand: Demand | None = None
    page_size: int = 10
    offset: int = 0
    now: Micros | None = None
    peek: bool = False
    session_id: str = ""
    principal: str = ""
    stac: StacOptions = field(default_factory=StacOptions)
    as_of: AsOf = PRESENT
    with_companions: bool = False
    today: Micros | None = None
    """By which the query's times are read; None: the instant of the query."""
    include_edges: bool = False
    """Whether edges between nodes may be results, too."""
    no_window: bool = False
    """Whether the query's times are named, but not used."""
    names_times: bool = True
    """Whether the query is read for times."""

    @property
    def looks_at(self) -> Micros | None:
        """The caller's own today, or the valid time that is asked about; None: now."""
        return self.as_of.valid if self.today is None else self.today
