"""A query, and the answer to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from concord_search.domain.asked_times import TimePhrase
from concord_search.domain.filters import MemoryFilter, Superseded
from concord_search.domain.instants import PRESENT, AsOf, Micros
from concord_search.domain.stac import StacOptions
from concord_search.usecases.advice import Advice
from concord_search.usecases.companions import Companions
from concord_search.usecases.paths import FactPath
from concord_search.usecases.progress import Demand
from concord_search.usecases.results import Result


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


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A page of results. `next_offset` is None on the last one.

    `epoch` and `applied_seq`: the last change in the index, which is incomplete while its disk has
    no room. `query_id` names the search in the recall log; empty if it only peeked.
    `companions`: of each result, and `paths`, if asked for.
    """

    results: Sequence[Result]
    next_offset: int | None
    now: Micros
    advice: Advice
    epoch: str
    applied_seq: int
    is_incomplete: bool
    query_id: str
    companions: Sequence[Companions] = ()
    paths: Sequence[FactPath] = ()
    times: Sequence[TimePhrase] = ()
