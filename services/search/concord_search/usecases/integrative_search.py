"""Finds memories and constitutive edges, weighed by a node's values (spec S6)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from concord_concepts import extract

from concord_search.domain.filters import Edges
from concord_search.domain.memory import MemoryState
from concord_search.ports.graph import Hydrated, Statement
from concord_search.ports.index import Place, Question, Weighed
from concord_search.ports.records import RankedQuery, Recall
from concord_search.usecases.check_statements import Check, CheckStatements, Clash
from concord_search.usecases.feedback import Feedback
from concord_search.usecases.results import Result, explained, with_conflicts
from concord_search.usecases.search import Search
from concord_search.usecases.search_context import SearchContext, SearchQuery


@dataclass(frozen=True, slots=True)
class IntegrativeResult:
    """A result, its factors, and the statements that contradict it.

    `reason` quotes the constitutive statement that it is nearest to.
    """

    found: Result
    place: Place
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


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found, before it is explained; `shown`: rows of `weighed` with their items."""

    question: Question
    weighed: Weighed
    shown: Sequence[tuple[int, Hydrated]]
    statements: Sequence[Statement]


class IntegrativeSearch:
    """The integrative search use case."""

    def __init__(
        self, context: SearchContext, search: Search, check: CheckStatements, feedback: Feedback
    ) -> None:
        self._context = context
        self._search = search
        self._check = check
        self._feedback = feedback

    async def __call__(
        self, space: str, query: SearchQuery, node: str, *, use_models: bool
    ) -> IntegrativeAnswer:
        """Answers a query in a space; the constitutive statements of `node`, a name or id, count.

        Raises `FreshnessTokenInvalid`, `IndexStale`, `GraphUnavailable`, `EmbeddingUnavailable`,
        `IndexDiskFull`, `NodeUnknown`, `FilterUnsupported`.
        """
        await self._context.progress.until_fresh(space, query.demand)
        question = await self._search.question(space, query)
        question = replace(question, scope=replace(question.scope, edges=Edges.CONSTITUTIVE))
        weight = asyncio.create_task(self._feedback.weight(space))
        statements, weighed = await asyncio.gather(
            self._context.graph.statements(space, node, query.as_of),
            self._context.index.weigh(space, question, weight),
        )
        candidates = weighed.candidates
        shown, _ = await self._search.shown(
            space, query, question, candidates, range(len(candidates))
        )
        query_id = ""
        if not shown:
            self._context.progress.demand_following("anything matches")
        elif not query.peek:
            query_id = self._context.new_id()
        first = bool(shown) and float(weighed.factor[shown[0][0]]) > 1.0
        answered = RankedQuery(query_id, query.text, await weight, first)
        found = _Found(question, weighed, shown, statements or ())
        _, (results, check) = await asyncio.gather(
            self._recorded(space, query, answered, shown),
            self._explained(space, query, found, use_models=use_models),
        )
        followed = self._context.progress.of(space)
        return IntegrativeAnswer(
            statements=statements,
            results=results,
            weight=answered.weight,
            check=check,
            query_id=query_id,
            epoch=followed.epoch,
            applied_seq=followed.applied_seq,
            is_incomplete=bool(self._context.progress.disk_full),
        )

    async def _recorded(
        self,
        space: str,
        query: SearchQuery,
        answered: RankedQuery,
        shown: Sequence[tuple[int, Hydrated]],
    ) -> None:
        """Stores the query for feedback, and what it returned; neither if it has no id."""
        if answered.id:
            logged = [each.state.id for _, each in shown if each.is_logged]
            recall = Recall(answered.id, query.principal, query.session_id, logged)
            await self._context.records.put_query(space, answered)
            await self._search.recall(space, recall)

    async def _explained(
        self, space: str, query: SearchQuery, found: _Found, *, use_models: bool
    ) -> tuple[list[IntegrativeResult], Check]:
        """The results, checked against the node's statements."""
        await asyncio.sleep(0)  # graph begins to store the query, beside the rest
        ranked = self._search.rank(found.question, found.weighed.candidates)
        results = explained(ranked, found.shown)
        results = await with_conflicts(self._context.graph, space, results, query.as_of)
        clashes, check = await self._check(
            space, [each.memory for each in results], found.statements, use_models
        )
        places = [found.weighed.place(row) for row, _ in found.shown]
        return [
            IntegrativeResult(
                each,
                place,
                reason_of(place, each.memory.state, found.statements, query.text),
                clashing,
            )
            for each, place, clashing in zip(results, places, clashes, strict=True)
        ], check


def reason_of(place: Place, state: MemoryState, statements: Sequence[Statement], query: str) -> str:
    """Says in one sentence why an item has its place, and on which statement it rests."""
    factors = (
        f"Text relevance {place.text_relevance:.2f}, constitutive weight {place.factor:.2f},"
        f" recency {place.recency:.2f}"
    )
    if place.factor > 1.0:
        return f'{factors}: it is constitutive itself: "{state.content[:200]}".'
    basis = _basis(state, statements, query)
    if basis is None:
        return f"{factors}; it rests on no constitutive statement of the node."
    return f'{factors}; it rests on "{basis.text}".'


def _basis(state: MemoryState, statements: Sequence[Statement], query: str) -> Statement | None:
    """The statement that the memory states, else shares most concepts with: of several the one
    whose relation the query names, else the memory."""
    asked, said = set(extract(query)), set(extract(state.content))
    ranked = []
    for each in statements:
        relation = set(extract(each.fact[1].replace("_", " ").lower()))
        shared = said.intersection(extract(each.text))
        if state.id in each.memory_ids or shared:
            near = (len(relation & asked), len(relation & said), len(shared))
            ranked.append(((state.id in each.memory_ids, *near), each))
    return max(ranked, key=itemgetter(0), default=(None, None))[1]
