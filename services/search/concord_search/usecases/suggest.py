"""Suggests the few memories that matter in a situation, without anyone searching (spec S9)."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from concord_chassis.server.workers import Workers
from concord_concepts.patterns import OutOfTime
from concord_concepts.triggers import Situation, TriggerMalformed, is_telling, trigger

from concord_search.domain.filters import admits
from concord_search.domain.surfacing import surfaces
from concord_search.ports.graph import Hydrated
from concord_search.ports.index import Question
from concord_search.usecases.progress import Demand
from concord_search.usecases.search import Search, only
from concord_search.usecases.search_context import SearchContext, SearchQuery

TRIED_WITHIN = 0.05
"""Seconds for matching triggers; the rest is left out, and the reply says so."""

OF_ONE_MEMORY = 0.1
"""The share of that time for steps of a memory's patterns that are not remembered: what somebody
wrote to be slow leaves time for all others."""

CONSIDERED = 100
"""The most memories that are ranked: so many found by triggers, and so many by concepts."""

HYDRATED = 50


@dataclass(frozen=True, slots=True)
class SuggestionQuery:
    """A situation; `repeat`: memories that the session was suggested before come again."""

    situation: Situation
    session_id: str = ""
    limit: int = 3
    repeat: bool = False
    demand: Demand | None = None

    @property
    def text(self) -> str:
        """The text of the situation, for its concepts and the composite score."""
        said = self.situation
        return " ".join(filter(None, (said.said, said.error, said.path)))[:2000]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested memory, with the trigger that matched or the concepts that it shares."""

    memory: Hydrated
    composite: float
    trigger: str
    shared: Sequence[str]


class SuggestProactively:
    """The use case."""

    def __init__(self, context: SearchContext, search: Search, workers: Workers) -> None:
        self._context = context
        self._search = search
        self._workers = workers

    async def __call__(
        self, space: str, query: SuggestionQuery
    ) -> tuple[Sequence[Suggestion], bool]:
        """The suggestions, best first, and whether every trigger was tried.

        Raises `FreshnessTokenInvalid`, `IndexStale`, `GraphUnavailable`, `EmbeddingUnavailable`.
        """
        await self._context.progress.until_fresh(space, query.demand)
        asked = SearchQuery(query.text, session_id=query.session_id)
        question, said = await asyncio.gather(
            self._search.question(space, asked), self._context.records.triggers(space)
        )
        matching = partial(met, said, query.situation, time.monotonic)
        triggered, all_tried = await self._workers.run(matching)
        scores = await self._scores(space, question, triggered)
        best = sorted(scores, key=lambda each: (-scores[each], each))[:HYDRATED]
        there = await self._there(space, question, best)
        chosen = await self._chosen(space, query, [each for each in best if each in there])
        found = [
            Suggestion(
                there[each],
                scores[each],
                triggered.get(each, ""),
                there[each].state.shared(question.concepts),
            )
            for each in chosen
        ]
        return found, all_tried

    async def _scores(
        self, space: str, question: Question, triggered: Mapping[str, str]
    ) -> dict[str, float]:
        """Composite scores by id, of memories with a matching trigger, or that share enough."""
        ranked = await self._search.ranked(space, question)
        alike = surfaces(ranked.ranking.found)
        rows = [row for row in ranked.rows if alike[row]][:CONSIDERED]
        scores = self._search.composites(space, ranked, rows)
        # One that any situation meets brings nothing by itself.
        telling = [each for each, trigger in triggered.items() if is_telling(trigger)]
        if telling:
            first = telling[:CONSIDERED]
            brought = await self._search.ranked(space, only(question, first))
            scores |= self._search.composites(space, brought, brought.rows)
        return scores

    async def _there(
        self, space: str, question: Question, ids: Sequence[str]
    ) -> Mapping[str, Hydrated]:
        """The memories of these ids that hold now and are not superseded."""
        if not ids:
            return {}
        memories = await self._context.graph.current(space, ids, count_as_read=False)
        return {
            memory.state.id: memory
            for memory in memories
            if memory is not None and admits(question.scope, memory.state)
        }

    async def _chosen(
        self, space: str, query: SuggestionQuery, ids: Sequence[str]
    ) -> Sequence[str]:
        if not ids or not query.session_id or query.repeat:
            return ids[: query.limit]
        return await self._context.records.claim(space, query.session_id, ids, query.limit)


def met(
    said: Sequence[tuple[str, Sequence[str]]], situation: Situation, seconds: Callable[[], float]
) -> tuple[dict[str, str], bool]:
    """Each memory's first trigger that matches a situation, by id; and whether all were tried.

    One that any situation could meet comes after all others.
    `seconds` is a clock that never runs backwards.
    """
    until = seconds() + TRIED_WITHIN
    found: dict[str, str] = {}
    all_tried = True
    for memory_id, triggers in said:
        now = seconds()
        if now > until:
            return found, False
        own = min(until, now + TRIED_WITHIN * OF_ONE_MEMORY)
        try:
            first = _first_met(triggers, situation, own, seconds)
        except OutOfTime:
            all_tried = False
            continue
        if first is not None:
            found[memory_id] = first
    return found, all_tried


def _first_met(
    triggers: Sequence[str], situation: Situation, until: float, seconds: Callable[[], float]
) -> str | None:
    """Raises `OutOfTime`."""

    def has_time() -> bool:
        return seconds() <= until

    for text in sorted(triggers, key=is_telling, reverse=True):
        try:
            if trigger(text)(situation, has_time):
                return text
        except TriggerMalformed:  # stored by a version that did not check it
            continue
    return None
