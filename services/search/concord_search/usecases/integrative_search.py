"""Finds memories and constitutive edges, weighed by a node's values (spec S6)."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from concord_concepts import extract

from concord_search.domain.filters import MemoryFilter, Superseded, admits
from concord_search.domain.instants import PRESENT, AsOf
from concord_search.domain.memory import MemoryState
from concord_search.ports import (
    Graph,
    Hydrated,
    Index,
    Question,
    RankedQuery,
    Recall,
    Records,
    Statement,
    Weighed,
)
from concord_search.usecases.check_statements import Check, CheckStatements, Clash
from concord_search.usecases.feedback import Feedback
from concord_search.usecases.progress import Demand, Progress
from concord_search.usecases.search import (
    Result,
    Search,
    SearchQuery,
    may_be_shown,
    only,
    wait_until_fresh,
)


@dataclass(frozen=True, slots=True)
class IntegrativeQuery:
    """A query, and the name or id of the node whose constitutive statements count."""

    text: str
    node: str
    filter: MemoryFilter = field(default_factory=MemoryFilter)
    include_superseded: bool = False
    demand: Demand | None = None
    limit: int = 10
    peek: bool = False
    session_id: str = ""
    principal: str = ""
    as_of: AsOf = PRESENT
    use_models: bool = False


@dataclass(frozen=True, slots=True)
class IntegrativeResult:
    """A result, its factors, and the statements that contradict it.

    `reason` quotes the constitutive statement that it is nearest to.
    """

    found: Result
    place: Weighed
    reason: str
    clashes: Sequence[Clash] = ()


@dataclass(frozen=True, slots=True)
class IntegrativeAnswer:
    """The node's statements (None: no such node), the results, and how far their check came.

    `query_id` names the search for feedback; empty if it only peeked or found nothing.
    """

    statements: Sequence[Statement] | None
    results: Sequence[IntegrativeResult]
    weight: float
    check: Check
    query_id: str
    epoch: str
    applied_seq: int
    is_incomplete: bool


class IntegrativeSearch:
    """The integrative search use case. `new_id` makes the ids that feedback names, by time."""

    def __init__(
        self,
        *,
        search: Search,
        index: Index,
        graph: Graph,
        progress: Progress,
        check: CheckStatements,
        feedback: Feedback,
        records: Records,
        new_id: Callable[[], str],
    ) -> None:
        self._search = search
        self._index = index
        self._graph = graph
        self._progress = progress
        self._check = check
        self._feedback = feedback
        self._records = records
        self._new_id = new_id

    async def __call__(self, space: str, query: IntegrativeQuery) -> IntegrativeAnswer:
        """Answers a query in a space.

        Raises `FreshnessTokenInvalid`, `IndexStale`, `GraphUnavailable`, `EmbeddingUnavailable`,
        `IndexDiskFull`, `NodeUnknown`, `FilterUnsupported`.
        """
        await wait_until_fresh(self._progress, space, query.demand)
        (asked, question), statements, weight = await asyncio.gather(
            self._question(space, query),
            self._graph.statements(space, query.node, query.as_of),
            self._feedback.weight(space),
        )
        weighed = await self._index.weigh(space, question, weight)
        shown = await self._shown(space, query, question, weighed)
        if not shown:
            self._progress.demand_following("anything matches")
        beside = [self._index.id_of(space, each.item) for each in weighed]
        explained = await self._explained(space, asked, only(question, beside), shown)
        clashes, check = await self._check(
            space, [each.memory for _, each in explained], statements or (), query.use_models
        )
        results = [
            IntegrativeResult(found, place, _reason(place, found, statements or ()), clashing)
            for (place, found), clashing in zip(explained, clashes, strict=True)
        ]
        query_id = ""
        if results and not query.peek:
            query_id = self._new_id()
            first = results[0].place.factor > 1.0
            ranked = RankedQuery(query_id, query.text, weight, first)
            memories = [each.found.memory for each in results if not each.place.is_edge]
            returned = [each.state.id for each in memories if each.is_logged]
            await asyncio.gather(
                self._records.put_query(space, ranked),
                self._search.recall(
                    space, Recall(query_id, query.principal, query.session_id, returned)
                ),
            )
        followed = self._progress.of(space)
        return IntegrativeAnswer(
            statements=statements,
            results=results,
            weight=weight,
            check=check,
            query_id=query_id,
            epoch=followed.epoch,
            applied_seq=followed.applied_seq,
            is_incomplete=bool(self._progress.disk_full),
        )

    async def _question(self, space: str, query: IntegrativeQuery) -> tuple[SearchQuery, Question]:
        asked = SearchQuery(
            query.text,
            filter=query.filter,
            superseded=Superseded.INCLUDE if query.include_superseded else Superseded.EXCLUDE,
            as_of=query.as_of,
            session_id=query.session_id,
        )
        question = await self._search.question(space, asked)
        return asked, replace(question, scope=replace(question.scope, edges=True))

    async def _shown(
        self, space: str, query: IntegrativeQuery, question: Question, weighed: Sequence[Weighed]
    ) -> list[tuple[Weighed, Hydrated]]:
        """Reads items from graph, best first, until enough of them may be shown."""
        found: list[tuple[Weighed, Hydrated]] = []
        at = 0
        while len(found) < query.limit and at < len(weighed):
            some = weighed[at : at + query.limit - len(found)]
            at += len(some)
            ids = [self._index.id_of(space, each.item) for each in some]
            hydrated = await self._hydrated(
                space, query, question, dict(zip(ids, some, strict=True))
            )
            found += [
                (each, hydrated[i]) for i, each in zip(ids, some, strict=True) if i in hydrated
            ]
        return found

    async def _hydrated(
        self, space: str, query: IntegrativeQuery, question: Question, places: dict[str, Weighed]
    ) -> dict[str, Hydrated]:
        edge_ids = [item_id for item_id, place in places.items() if place.is_edge]
        memory_ids = [item_id for item_id, place in places.items() if not place.is_edge]
        memories, edges = await asyncio.gather(
            self._graph.current(
                space,
                memory_ids,
                count_as_read=not query.peek,
                session_id=query.session_id,
                as_of=query.as_of,
            ),
            self._graph.edges(space, edge_ids, query.as_of),
        )
        found = {
            item_id: memory
            for item_id, memory in zip(memory_ids, memories, strict=True)
            if memory is not None and may_be_shown(memory, places[item_id].seq, question)
        }
        return found | {
            item_id: edge
            for item_id, edge in zip(edge_ids, edges, strict=True)
            if edge is not None and admits(question.scope, edge.state)
        }

    async def _explained(
        self,
        space: str,
        asked: SearchQuery,
        question: Question,
        shown: Sequence[tuple[Weighed, Hydrated]],
    ) -> list[tuple[Weighed, Result]]:
        """The shown items with their composites, signal by signal, in the given order.

        Items that were erased in the meantime are left out. `question` names all candidates.
        """
        if not shown:
            return []
        ranked = await self._search.ranked(space, asked, question)
        names = ranked.ranking.found.items
        rows = {self._index.id_of(space, name): row for row, name in enumerate(names)}
        there = [(place, item) for place, item in shown if item.state.id in rows]
        results = self._search.results(ranked, [(rows[i.state.id], i) for _, i in there])
        results = await self._search.with_conflicts(space, results, asked.as_of)
        return [(place, found) for (place, _), found in zip(there, results, strict=True)]


def _reason(place: Weighed, found: Result, statements: Sequence[Statement]) -> str:
    """One sentence: the factors, and the constitutive statement that is nearest to the result."""
    factors = (
        f"Text relevance {place.text_relevance:.2f}, constitutive weight {place.factor:.2f},"
        f" recency {place.recency:.2f}"
    )
    state = found.memory.state
    if place.factor > 1.0:
        return f'{factors}: it is constitutive itself: "{state.content[:200]}".'
    basis = _basis(state, statements)
    if basis is None:
        return f"{factors}; it rests on no constitutive statement of the node."
    return f'{factors}; it rests on "{basis.text}".'


def _basis(state: MemoryState, statements: Sequence[Statement]) -> Statement | None:
    """The statement that the memory itself states, else the one sharing most concepts with it."""
    concepts = set(state.concepts)
    shared = [(len(concepts.intersection(extract(each.text))), each) for each in statements]
    stating = [each for each in statements if state.id in each.memory_ids]
    best = max((count for count, _ in shared), default=0)
    near = [each for count, each in shared if count == best > 0]
    return next(iter([*stating, *near]), None)
