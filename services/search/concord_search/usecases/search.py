"""Finds the memories that answer a query, and explains each result (spec S1-S5, T4)."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from concord_chassis.call import deadline
from concord_concepts import extract, normalise

from concord_search.domain import explanation, stac
from concord_search.domain.candidates import Candidates
from concord_search.domain.certainty import Certainty, certainties
from concord_search.domain.confidence import Band
from concord_search.domain.filters import MemoryFilter, Scope, Superseded, admits
from concord_search.domain.instants import PRESENT, AsOf, Clock, Micros
from concord_search.domain.profiles import Profiles, shipped
from concord_search.domain.ranking import Breakdown, Ranking
from concord_search.domain.signals import QueryFacts
from concord_search.domain.speech import Asked, asks_of_the_past
from concord_search.domain.stac import Case, NextAction, Preference, StacOptions, Thresholds
from concord_search.ports.graph import Graph, Hydrated, OpenConflict
from concord_search.ports.index import Index, Question
from concord_search.ports.records import CoRead, Recall, Records
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.locate_filter import located
from concord_search.usecases.progress import Demand, Progress

RANKED = 200
"""So many candidates come from each branch, and so many are ranked in all."""

MOST_CONFLICTS = 20
"""The most conflicts that a result shows."""

HEAD_START = 0.001
"""Seconds for which only the query's vector is made, so that nothing else takes Python's global
lock: once a local model computes, it needs no lock, and all that follows goes on beside it."""

ANSWER_RESERVE = 0.1
"""Seconds before the caller's deadline that waiting for a fresh index leaves for the answer."""


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


@dataclass(frozen=True, slots=True)
class Result:
    """One result with its explanation; `reasons`: one for each part of `breakdown`, in order."""

    memory: Hydrated
    cosine: float
    fusion: float
    breakdown: Breakdown
    reasons: tuple[str, ...]
    relevance_reason: str
    certainty: Certainty
    conflicts: tuple[OpenConflict, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A page of results. `next_offset` is None on the last one.

    `epoch` and `applied_seq`: the last change in the index, which is incomplete while its disk has
    no room. `query_id` names the search in the recall log; empty if it only peeked.
    """

    results: Sequence[Result]
    next_offset: int | None
    now: Micros
    band: Band
    action: NextAction
    preference: Preference | None
    lines: Sequence[str]
    epoch: str
    applied_seq: int
    is_incomplete: bool
    query_id: str


@dataclass(frozen=True, slots=True)
class Formula:
    """The profiles and thresholds in force."""

    profiles: Profiles = field(default_factory=shipped)
    thresholds: Thresholds = field(default_factory=Thresholds)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The ranked rows with at least the minimum score, best first, and their question."""

    space: str
    query: SearchQuery
    question: Question
    ranking: Ranking
    rows: Sequence[int]


class Search:
    """The search use case. `new_id` makes the ids of searches, by time."""

    def __init__(
        self,
        *,
        embedders: Embedders,
        index: Index,
        graph: Graph,
        records: Records,
        progress: Progress,
        clock: Clock,
        formula: Formula,
        new_id: Callable[[], str],
    ) -> None:
        self._embedders = embedders
        self._index = index
        self._graph = graph
        self._records = records
        self._progress = progress
        self._clock = clock
        self._formula = formula
        self._new_id = new_id

    async def __call__(self, space: str, query: SearchQuery) -> SearchAnswer:
        """Answers a query in a space.

        Raises `FreshnessTokenInvalid`, `IndexStale`, `GraphUnavailable`, `EmbeddingUnavailable`,
        `IndexDiskFull`, `NodeUnknown`, `FilterUnsupported`.
        """
        await wait_until_fresh(self._progress, space, query.demand)
        question = await self.question(space, query)
        ranked = await self.ranked(space, query, question)
        if query.superseded is Superseded.HISTORY:
            results, next_offset = await self._history(ranked)
        else:
            results, next_offset = await self._page(ranked)
        if not results:
            self._progress.demand_following("nothing matches")
        query_id = "" if query.peek else self._new_id()
        logged = [each.memory.state.id for each in results if each.memory.is_logged]
        shown = await self.with_conflicts(space, results, query.as_of)
        await self.recall(space, Recall(query_id, query.principal, query.session_id, logged))
        return self._answer(space, query, question, shown, next_offset, query_id=query_id)

    async def recall(self, space: str, recall: Recall) -> None:
        """Reports the returned memories to graph's recall log; a search that only peeked has none.

        Such a search has an empty `query_id`.
        """
        if recall.query_id and recall.memory_ids:
            await self._records.add_recall(space, recall)

    def composites(self, ranked: Ranked, rows: Sequence[int]) -> dict[str, float]:
        """The composite scores of some candidates, by the memories' ids."""
        ranking = ranked.ranking
        return {
            self._index.id_of(ranked.space, ranking.found.items[row]): float(ranking.composite[row])
            for row in rows
        }

    async def question(self, space: str, query: SearchQuery) -> Question:
        """The question that a query puts to the index."""
        model = self._index.model(space)
        embedder = await self._embedders.of(model)
        vector = asyncio.create_task(embedder.embed_query(query.text))
        try:
            await asyncio.wait([vector], timeout=HEAD_START)
            co_reads = await self._co_reads(space, query.session_id)
            wanted = await located(self._graph, space, query.filter, query.as_of)
        except BaseException:
            vector.cancel()
            raise
        # Never before the index's newest change: graph's record time may be ahead of this clock.
        now = query.now or max(self._clock(), self._progress.of(space).latest)
        named = (normalise(concept) for concept in query.concepts)
        return Question(
            vector=vector,
            text=query.text,
            scope=Scope(now, query.superseded, wanted, query.as_of),
            model=model,
            concepts=tuple(dict.fromkeys(each for each in (*extract(query.text), *named) if each)),
            domain=query.domain,
            branch_limit=RANKED,
            limit=RANKED,
            co_reads=co_reads,
        )

    async def _co_reads(self, space: str, session_id: str) -> Sequence[CoRead]:
        return await self._records.co_reads(space, session_id) if session_id else ()

    async def ranked(self, space: str, query: SearchQuery, question: Question) -> Ranked:
        """The candidates, ranked by the composite score."""
        return self.rank(space, query, question, await self._index.ask(space, question))

    def rank(self, space: str, query: SearchQuery, question: Question, found: Candidates) -> Ranked:
        """Ranks candidates by the composite score."""
        facts = QueryFacts(
            now=question.scope.now,
            has_domain=bool(question.domain),
            has_concepts=bool(question.concepts),
            asked=Asked.by(query.text),
        )
        ranking = Ranking(found, facts, self._formula.profiles)
        rows = ranking.order[ranking.composite[ranking.order] >= query.min_score]
        return Ranked(space, query, question, ranking, rows.tolist())

    async def _page(self, ranked: Ranked) -> tuple[list[Result], int | None]:
        """Reads memories from graph, from the offset on, until enough of them may be shown."""
        query, at = ranked.query, ranked.query.offset
        results: list[Result] = []
        while len(results) < query.page_size and at < len(ranked.rows):
            rows = ranked.rows[at : at + query.page_size - len(results)]
            at += len(rows)
            results += await self._hydrated(ranked, rows, query)
        if query.superseded is Superseded.INCLUDE:
            results = after_their_heads(results)
        return results, at if at < len(ranked.rows) else None

    async def _hydrated(
        self, ranked: Ranked, rows: Sequence[int], query: SearchQuery
    ) -> list[Result]:
        found = ranked.ranking.found
        ids = self._ids(ranked, rows)
        memories = await self._graph.current(
            ranked.space,
            ids,
            count_as_read=not query.peek,
            session_id=query.session_id,
            as_of=ranked.question.scope.as_of,
        )
        return self.results(
            ranked,
            [
                (row, memory)
                for row, memory in zip(rows, memories, strict=True)
                if memory is not None
                and may_be_shown(memory, int(found.seqs[row]), ranked.question)
            ],
        )

    def _ids(self, ranked: Ranked, rows: Iterable[int]) -> list[str]:
        items = ranked.ranking.found.items
        return [self._index.id_of(ranked.space, items[row]) for row in rows]

    def results(self, ranked: Ranked, shown: Sequence[tuple[int, Hydrated]]) -> list[Result]:
        """Candidates, given by row and memory, with their explanations and certainties."""
        rows = [row for row, _ in shown]
        sure = certainties(ranked.ranking, rows, self._formula.profiles) if rows else {}
        return [self._result(ranked, row, memory, sure[row]) for row, memory in shown]

    def _result(self, ranked: Ranked, row: int, memory: Hydrated, sure: Certainty) -> Result:
        found, question = ranked.ranking.found, ranked.question
        breakdown = ranked.ranking.breakdown(row)
        context = explanation.Context(
            memory=memory.state,
            query_concepts=question.concepts,
            query_domain=question.domain,
            access_count=int(found.access_count[row]),
            last_access=int(found.last_access[row]),
            now=question.scope.now,
            as_of=question.scope.as_of,
        )
        return Result(
            memory=memory,
            cosine=max(-1.0, min(1.0, float(found.cosine[row]))),
            fusion=float(found.fusion[row]),
            breakdown=breakdown,
            reasons=tuple(explanation.reason(part, context) for part in breakdown.parts),
            relevance_reason=explanation.relevance_reason(breakdown, context),
            certainty=sure if memory.state.current_at(question.scope.valid) else _NOT_IN_FORCE,
        )

    async def _history(self, ranked: Ranked) -> tuple[list[Result], int | None]:
        """The whole chains of the page's matches, by valid time, oldest first."""
        query = ranked.query
        end = query.offset + query.page_size
        members = await self._chains(ranked, query.offset, end)
        if not members:
            return [], end if end < len(ranked.rows) else None
        others = self._ids(ranked, range(len(ranked.ranking.found)))
        whole = await self.ranked(
            ranked.space,
            SearchQuery(query.text, superseded=query.superseded, as_of=query.as_of),
            only(ranked.question, [*members, *others]),
        )
        wanted = set(members)
        ids = self._ids(whole, whole.rows)
        rows = [row for row, each in zip(whole.rows, ids, strict=True) if each in wanted]
        results = await self._hydrated(whole, rows, query)
        results.sort(key=lambda each: (each.memory.state.valid_from, each.memory.state.id))
        return results, end if end < len(ranked.rows) else None

    async def _chains(self, ranked: Ranked, start: int, end: int) -> list[str]:
        """The ids of the chains of some matches; a chain belongs to its best match's page alone."""
        names = self._ids(ranked, ranked.rows)
        place = {name: at for at, name in enumerate(names)}
        members: dict[str, None] = {}
        for at, name in list(enumerate(names))[start:end]:
            if name in members:
                continue
            chain = {name, *await self._graph.chain(ranked.space, name, ranked.query.as_of)}
            if all(place.get(other, at) >= at for other in chain):
                members |= dict.fromkeys(sorted(chain))
        return list(members)[:RANKED]

    async def with_conflicts(self, space: str, results: list[Result], as_of: AsOf) -> list[Result]:
        """The results, each with its open conflicts."""
        ids = [each.memory.state.id for each in results if each.memory.has_conflicts]
        if not ids:
            return results
        found = await self._graph.conflicts(space, ids, as_of)
        return [
            replace(each, conflicts=tuple(found.get(each.memory.state.id, ()))[:MOST_CONFLICTS])
            for each in results
        ]

    def _answer(
        self,
        space: str,
        query: SearchQuery,
        question: Question,
        results: Sequence[Result],
        next_offset: int | None,
        *,
        query_id: str,
    ) -> SearchAnswer:
        limits = self._formula.thresholds
        # the lines are about a current result, even if a replaced one matches best (spec T4, S5)
        valid = question.scope.valid
        current = [each for each in results if each.memory.state.current_at(valid)]
        best = sorted(current or results, key=lambda each: -each.breakdown.composite)
        breakdowns = [each.breakdown for each in best]
        case = self._case(
            space, query, question, best, current=bool(current), replaced=len(results) - len(best)
        )
        followed = self._progress.of(space)
        return SearchAnswer(
            results=results,
            next_offset=next_offset,
            now=question.scope.now,
            band=case.band,
            action=stac.next_action(breakdowns, limits, case),
            preference=case.preference,
            lines=stac.lines(
                breakdowns,
                domain=best[0].memory.state.domain if best else "",
                why=best[0].relevance_reason if best else "",
                options=query.stac,
                limits=limits,
                case=case,
            ),
            is_incomplete=bool(self._progress.disk_full),
            epoch=followed.epoch,
            applied_seq=followed.applied_seq,
            query_id=query_id,
        )

    def _case(
        self,
        space: str,
        query: SearchQuery,
        question: Question,
        best: Sequence[Result],
        *,
        current: bool,
        replaced: int,
    ) -> Case:
        if not best:
            return Case(lag=self._progress.lag().get(space, 0), of_past=_of_past(query))
        top = best[0].certainty
        return Case(
            band=top.band if current else Band.LOW,
            current=current,
            preference=_preference(best, self._formula.thresholds) if current else None,
            asks=top.asks,
            lacks_rarest=top.lacks_rarest,
            words=_words_to_add(question, best),
            of_past=_of_past(query),
            replaced=replaced,
            disputed_by=next(_disputing(best[0]), ""),
        )


_NOT_IN_FORCE = Certainty(Band.LOW)
"""The certainty of a result that was replaced or does not hold: it is not to be asserted."""

ADDED_WORDS = 5
"""The most words that a refinement suggests."""

NEAR = 0.1
"""A result is near if it is not LOW, and its composite is at most so far below the best result's.
Measured in services/decisions/0076."""


def _of_past(query: SearchQuery) -> bool:
    """Whether the query is about the past, but leaves replaced memories out."""
    return query.superseded is Superseded.EXCLUDE and asks_of_the_past(query.text)


def _words_to_add(question: Question, best: Sequence[Result]) -> tuple[str, ...]:
    """Concepts and domains of near results that the query does not have."""
    least = best[0].breakdown.composite - NEAR
    near = [
        each.memory.state
        for each in best[: stac.LOOKED_AT]
        if each.certainty.band is not Band.LOW and each.breakdown.composite >= least
    ]
    words = [word for state in near for word in (*state.concepts, state.domain)]
    known = {"", question.domain, *question.concepts}
    return tuple(dict.fromkeys(word for word in words if word not in known))[:ADDED_WORDS]


async def wait_until_fresh(progress: Progress, space: str, demand: Demand | None) -> None:
    """Waits until the index is as fresh as demanded, within the caller's time."""
    if demand is not None:
        left = deadline.remaining()
        await progress.wait(space, demand, 30.0 if left is None else left - ANSWER_RESERVE)


def after_their_heads(results: Sequence[Result]) -> list[Result]:
    """Moves each replaced memory behind its head if both are on the page; keeps the order else.

    The memories behind one head are sorted newest first.
    """
    there = {each.memory.state.id for each in results}
    followers: dict[str, list[Result]] = {}
    leading = []
    for each in results:
        heads = there.intersection(each.memory.state.heads) - {each.memory.state.id}
        if heads:
            followers.setdefault(min(heads), []).append(each)
        else:
            leading.append(each)
    ordered = []
    for each in leading:
        behind = followers.get(each.memory.state.id, [])
        ordered += [each, *sorted(behind, key=lambda result: -result.memory.state.valid_from)]
    return ordered


def _preference(best: Sequence[Result], limits: Thresholds) -> Preference | None:
    """The preference for the first two results in dispute, one of them among the first three."""
    there = {each.memory.state.id: each for each in best}
    for one in best[: stac.LOOKED_AT]:
        for other in filter(None, map(there.get, _disputing(one))):
            ids = one.memory.state.id, other.memory.state.id
            if stac.is_second_preferred(one.breakdown, other.breakdown, limits):
                ids = ids[::-1]
            return Preference(*ids)
    return None


def _disputing(result: Result) -> Iterator[str]:
    """The other sides of its conflicts, but for those that were merely found in texts."""
    return (each.other_id for each in result.conflicts if not each.is_text_finding)


def only(question: Question, members: Sequence[str]) -> Question:
    """The same question about some items alone, whatever their times and lineage.

    Name those beside which they were found, too: how sure each is hangs on the others.
    """
    limit = max(RANKED, len(members))
    return replace(question, only=tuple(dict.fromkeys(members)), branch_limit=limit, limit=limit)


def may_be_shown(memory: Hydrated, scored_seq: int, question: Question) -> bool:
    """Whether graph's current state of a memory may be shown in place of the scored one."""
    if memory.state.seq < scored_seq or memory.state.forgotten:
        return False
    if question.only is not None or memory.state.seq == scored_seq:
        return True
    return admits(question.scope, memory.state)
