"""Finds the memories that answer a query, and explains each result (spec S1-S5, T4)."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from concord_concepts import extract, normalise
from concord_reading.times import Window, windows

from concord_search.domain.asked_times import EVER, TimePhrase
from concord_search.domain.candidates import Candidates
from concord_search.domain.certainty import certainties
from concord_search.domain.confidence import Band
from concord_search.domain.filters import Edges, MemoryFilter, Scope, Superseded
from concord_search.domain.instants import AsOf, Micros
from concord_search.domain.ranking import Ranking
from concord_search.domain.signals import QueryFacts
from concord_search.domain.speech import Asked
from concord_search.ports.graph import Hydrated
from concord_search.ports.index import Question
from concord_search.ports.records import Recall
from concord_search.usecases.advice import Advice, advice
from concord_search.usecases.asked_times import (
    ANCHORS,
    MOST_THINGS,
    Dated,
    anchor_text,
    asked_times,
    dated_by,
    dating_row,
)
from concord_search.usecases.chains import (
    SupersededMatch,
    in_order,
    may_be_of_chains,
    superseded_match,
)
from concord_search.usecases.companions import Companions, companions
from concord_search.usecases.locate_filter import located
from concord_search.usecases.paths import FactPath, fact_paths
from concord_search.usecases.persons_first import persons_first
from concord_search.usecases.results import (
    Ranked,
    Result,
    before_claims,
    beside_their_items,
    explained,
    may_be_shown,
    with_conflicts,
)
from concord_search.usecases.search_context import SearchContext, SearchQuery

RANKED = 200
"""So many candidates come from each branch, and so many are ranked in all."""

HEAD_START = 0.001
"""Seconds for which only the query's vector is made, so that nothing else takes Python's global
lock: once a local model computes, it needs no lock, and all that follows goes on beside it."""


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
    superseded: SupersededMatch | None = None
    """What was replaced, is no result, and alone holds searched words."""


class Search:
    """The search use case."""

    def __init__(self, context: SearchContext) -> None:
        self._context = context

    async def __call__(self, space: str, query: SearchQuery) -> SearchAnswer:
        """Answers a query in a space.

        Raises `FreshnessTokenInvalid`, `IndexStale`, `GraphUnavailable`, `EmbeddingUnavailable`,
        `IndexDiskFull`, `NodeUnknown`, `FilterUnsupported`.
        """
        await self._context.progress.until_fresh(space, query.demand)
        question = await self.question(space, query)
        ranked = await self.ranked(space, question, query.min_score)
        if query.superseded is Superseded.HISTORY:
            results, next_offset = await self._history(space, query, ranked)
        else:
            results, next_offset = await self._page(space, query, persons_first(ranked))
        if not results:
            self._context.progress.demand_following("nothing matches")
        hidden = None
        if not query.offset:
            hidden = await superseded_match(self._context, space, ranked, results, self.rank)
        query_id = "" if query.peek else self._context.new_id()
        beside_each, paths = await self._beside(space, query, question, results)
        beside = [memory for each in beside_each for _, memory in each.memories]
        beside += [memory for each in paths for memory in each.memories]
        returned = (*(each.memory for each in results), *beside)
        logged = list(dict.fromkeys(each.state.id for each in returned if each.is_logged))
        shown = await with_conflicts(self._context.graph, space, results, query.as_of)
        await self.recall(space, Recall(query_id, query.principal, query.session_id, logged))
        followed = self._context.progress.of(space)
        lag, limits = followed.head_seq - followed.applied_seq, self._context.formula.thresholds
        return SearchAnswer(
            results=shown,
            next_offset=next_offset,
            now=question.scope.now,
            advice=advice(question, shown, query.stac, limits, lag=lag, hidden=hidden),
            is_incomplete=bool(self._context.progress.disk_full),
            epoch=followed.epoch,
            applied_seq=followed.applied_seq,
            query_id=query_id,
            companions=beside_each,
            paths=paths,
            times=question.times.phrases,
            superseded=hidden,
        )

    async def _beside(
        self, space: str, query: SearchQuery, question: Question, results: Sequence[Result]
    ) -> tuple[Sequence[Companions], Sequence[FactPath]]:
        """What a pack holds beside the results; no paths behind the first page, nor with a filter:
        a fact has no kind, origin or trust that it could match."""
        if not query.with_companions:
            return (), ()
        session_id, peek = query.session_id, query.peek
        beside = companions(
            self._context, space, results, question.scope, session_id=session_id, peek=peek
        )
        if query.offset or query.filter != MemoryFilter():
            return await beside, ()
        graph = self._context.graph
        paths = fact_paths(
            graph, space, query.text, question, results, session_id=session_id, peek=peek
        )
        return await asyncio.gather(beside, paths)

    async def recall(self, space: str, recall: Recall) -> None:
        """Reports the returned memories to graph's recall log; a search that only peeked has none.

        Such a search has an empty `query_id`.
        """
        if recall.query_id and recall.memory_ids:
            await self._context.records.add_recall(space, recall)

    async def question(self, space: str, query: SearchQuery) -> Question:
        """The question that a query puts to the index."""
        model = self._context.index.model(space)
        embedder = await self._context.embedders.of(model)
        now = query.now or self._context.now(space)
        today = now if query.looks_at is None else query.looks_at
        found = windows(query.text, today) if query.names_times else []
        times = asked_times(found, {}, no_window=query.no_window)
        text = times.without_windows(query.text)
        vector = asyncio.create_task(embedder.embed_query(text))
        try:
            await asyncio.wait([vector], timeout=HEAD_START)
            session = query.session_id
            co_reads = await self._context.records.co_reads(space, session) if session else ()
            wanted = await located(self._context.graph, space, query.filter, query.as_of)
            if dated := await self._things(space, query, found):
                times = asked_times(found, dated, no_window=query.no_window)
        except BaseException:
            vector.cancel()
            raise
        if (rest := times.without_windows(query.text)) != text:
            vector.cancel()
            text, vector = rest, asyncio.create_task(embedder.embed_query(rest))
        superseded, wanted = times.looked_at(query.superseded, wanted, query.as_of, now)
        named = (normalise(concept) for concept in query.concepts)
        return Question(
            vector=vector,
            text=text,
            scope=Scope(now, superseded, wanted, query.as_of, _edges(query)),
            model=model,
            concepts=tuple(dict.fromkeys(each for each in (*extract(query.text), *named) if each)),
            domain=query.domain,
            branch_limit=RANKED,
            limit=RANKED,
            co_reads=co_reads,
            times=times,
            knows_words=embedder.knows(text),
        )

    async def _things(
        self, space: str, query: SearchQuery, found: Sequence[Window]
    ) -> Mapping[str, Dated]:
        """When the things were that times are relative to, by their words; those that are sure."""
        things = [] if query.no_window else [each for each in found if each.anchor]
        sure = {
            each.anchor: await self._dated(space, query, anchor_text(query.text, each))
            for each in things[:MOST_THINGS]
        }
        return {anchor: dated for anchor, dated in sure.items() if dated is not None}

    async def _dated(self, space: str, query: SearchQuery, anchor: str) -> Dated | None:
        """When the thing was that a time is relative to, and by which memory; None: not sure."""
        asked = SearchQuery(
            text=anchor,
            filter=MemoryFilter(valid_since=EVER),
            superseded=Superseded.INCLUDE,
            now=query.now,
            as_of=AsOf(record=query.as_of.record),
            names_times=False,
        )
        question = replace(await self.question(space, asked), branch_limit=ANCHORS, limit=ANCHORS)
        ranked = await self.ranked(space, question)
        row = dating_row(ranked)
        if row is None:
            return None
        ids = self._ids(space, ranked, [row])
        return dated_by(ranked.ranking.found, row, ids[0])

    async def ranked(self, space: str, question: Question, min_score: float = 0.0) -> Ranked:
        """The candidates, ranked by the composite score."""
        return self.rank(question, await self._context.index.ask(space, question), min_score)

    def rank(self, question: Question, found: Candidates, min_score: float = 0.0) -> Ranked:
        """Ranks candidates by the composite score."""
        facts = QueryFacts(
            now=question.scope.now,
            has_domain=bool(question.domain),
            has_concepts=bool(question.concepts),
            asked=Asked.by(question.text),
            within=question.times.within,
            knows_words=question.knows_words,
        )
        ranking = Ranking(found, facts, self._context.formula.profiles)
        rows = ranking.order[ranking.composite[ranking.order] >= min_score]
        return Ranked(question, ranking, rows.tolist())

    def composites(self, space: str, ranked: Ranked, rows: Sequence[int]) -> dict[str, float]:
        """The composite scores of some candidates, by the memories' ids."""
        scores = ranked.ranking.composite[rows].tolist()
        return dict(zip(self._ids(space, ranked, rows), scores, strict=True))

    async def _page(
        self, space: str, query: SearchQuery, ranked: Ranked
    ) -> tuple[list[Result], int | None]:
        """The results from the offset on, and the offset of the next page."""
        if ranked.question.scope.superseded is Superseded.INCLUDE:
            linked = may_be_of_chains(ranked)
            ids = dict(zip(linked, self._ids(space, ranked, linked), strict=True))
            graph, wanted = self._context.graph, query.superseded
            ranked = await in_order(graph, space, ranked, ids, wanted=wanted, as_of=query.as_of)
        rows, found = ranked.rows[query.offset :], ranked.ranking.found
        shown, read = await self.shown(
            space, query, ranked.question, found, rows, ranking=ranked.ranking
        )
        if brought := self._claimed(space, ranked, rows, shown):
            rows_so = before_claims(rows, shown, brought)
            shown, read = await self.shown(
                space, query, ranked.question, found, rows_so, ranking=ranked.ranking
            )
            read -= len(brought)
        results = beside_their_items(explained(ranked, shown))
        return results, query.offset + read if read < len(rows) else None

    def _claimed(
        self, space: str, ranked: Ranked, rows: Sequence[int], shown: Sequence[tuple[int, Hydrated]]
    ) -> dict[str, int]:
        """The further rows, by id, whose places memories on the page only claim to take."""
        claimed = {name for _, item in shown for name in item.state.claims_on}
        claimed.difference_update(item.state.id for _, item in shown)
        if not claimed:
            return {}
        ids = self._ids(space, ranked, rows)
        return {name: row for name, row in zip(ids, rows, strict=True) if name in claimed}

    async def shown(
        self,
        space: str,
        query: SearchQuery,
        question: Question,
        found: Candidates,
        rows: Sequence[int],
        *,
        ranking: Ranking | None = None,
    ) -> tuple[list[tuple[int, Hydrated]], int]:
        """Reads candidates from graph, until enough for a page may be shown.

        Returns these by row, and how many rows were read. `ranking`: theirs, if it is known.
        """
        shown: list[tuple[int, Hydrated]] = []
        at = 0
        while len(shown) < query.page_size and at < len(rows):
            some = rows[at : at + query.page_size - len(shown)]
            at += len(some)
            shown += await self._hydrated(space, query, question, found, some, ranking=ranking)
        return shown, at

    async def _hydrated(
        self,
        space: str,
        query: SearchQuery,
        question: Question,
        found: Candidates,
        rows: Sequence[int],
        *,
        ranking: Ranking | None = None,
    ) -> list[tuple[int, Hydrated]]:
        """Those of some candidates that may be shown, by row, in the order of the rows."""
        ids = {row: self._context.index.id_of(space, found.items[row]) for row in rows}
        unsure: Collection[str] = ()
        if query.session_id and not query.peek:
            sure = certainties(ranking or self.rank(question, found).ranking, rows)
            unsure = {ids[row] for row in rows if sure[row].band is not Band.HIGH}
        graph, is_edge = self._context.graph, found.is_edge
        of_memories = iter(
            await graph.current(
                space,
                [ids[row] for row in rows if not is_edge[row]],
                count_as_read=not query.peek,
                session_id=query.session_id,
                unsure=unsure,
                as_of=query.as_of,
            )
        )
        edges = [ids[row] for row in rows if is_edge[row]]
        of_edges = iter(await graph.edges(space, edges, query.as_of))
        scope = question.scope if question.only is None else None
        read = ((row, next(of_edges if is_edge[row] else of_memories)) for row in rows)
        return [
            (row, item)
            for row, item in read
            if item is not None and may_be_shown(item, int(found.seqs[row]), scope)
        ]

    def _ids(self, space: str, ranked: Ranked, rows: Iterable[int]) -> list[str]:
        items = ranked.ranking.found.items
        return [self._context.index.id_of(space, items[row]) for row in rows]

    async def _history(
        self, space: str, query: SearchQuery, ranked: Ranked
    ) -> tuple[list[Result], int | None]:
        """The whole chains of the page's matches, by valid time, oldest first."""
        end = query.offset + query.page_size
        next_offset = end if end < len(ranked.rows) else None
        members = await self._chains(space, ranked, query.offset, end)
        if not members:
            return [], next_offset
        others = self._ids(space, ranked, range(len(ranked.ranking.found)))
        whole = await self.ranked(space, only(ranked.question, [*members, *others]))
        wanted = set(members)
        ids = self._ids(space, whole, whole.rows)
        rows = [row for row, each in zip(whole.rows, ids, strict=True) if each in wanted]
        shown = await self._hydrated(
            space, query, whole.question, whole.ranking.found, rows, ranking=whole.ranking
        )
        results = explained(whole, shown)
        results.sort(key=lambda each: (each.memory.state.valid_from, each.memory.state.id))
        return results, next_offset

    async def _chains(self, space: str, ranked: Ranked, start: int, end: int) -> list[str]:
        """The ids of the chains of some matches; a chain belongs to its best match's page alone."""
        names = self._ids(space, ranked, ranked.rows)
        place = {name: at for at, name in enumerate(names)}
        members: dict[str, None] = {}
        for at, name in list(enumerate(names))[start:end]:
            if name in members:
                continue
            found = await self._context.graph.chain(space, name, ranked.question.scope.as_of)
            chain = {name, *found}
            if all(place.get(other, at) >= at for other in chain):
                members |= dict.fromkeys(sorted(chain))
        return list(members)[:RANKED]


def _edges(query: SearchQuery) -> Edges:
    """The edges that may be results; none beside chains, which are those of memories."""
    asked = query.include_edges and query.superseded is not Superseded.HISTORY
    return Edges.ALL if asked else Edges.NONE


def only(question: Question, members: Sequence[str]) -> Question:
    """The same question about some items alone, whatever their times and lineage.

    Name those beside which they were found, too: how sure each is hangs on the others.
    """
    limit = max(RANKED, len(members))
    return replace(question, only=tuple(dict.fromkeys(members)), branch_limit=limit, limit=limit)
