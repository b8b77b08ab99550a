"""Ranks the candidates of one space by the integrative formula, inside the engine (spec S6).

Each branch generates candidates twice: among all items in scope, and among constitutive ones, so
that no constitutive statement is lost behind 200 better texts. The engine then scores all of them
by one formula. Its scales come from the candidates among all items, so that a candidate's text
relevance is the fused score of Search.
"""

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

import numpy as np

from concord_search.adapters.qdrant import filters
from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.formula import integrative
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.query import rows_for
from concord_search.adapters.qdrant.shard import (
    DENSE,
    WORDS,
    Nearest,
    Scored,
    Shard,
    Weighing,
    Words,
)
from concord_search.domain import fusion
from concord_search.domain.candidates import Floats, Ints
from concord_search.domain.filters import MemoryFilter, Scope
from concord_search.domain.memory import CONSTITUTIVE
from concord_search.domain.recency import recency
from concord_search.ports import Question, Weighed


class WeighedQuery:
    """Ranks one space's candidates. Blocking; holds the lock only while it reads columns."""

    def __init__(
        self, shard: Shard, key: SpaceKey, columns: Columns, lock: Lock, words: Words
    ) -> None:
        self._shard = shard
        self._key = key
        self._columns = columns
        self._lock = lock
        self._words = words

    def run(self, question: Question, weight: float) -> list[Weighed]:
        """The candidates, best first; among equals, constitutive ones come first."""
        words = self._words.of_query(question.text)
        vectors = [(question.vector.tolist(), DENSE), *([(words, WORDS)] if words else ())]
        everything, of_values = self._generated(question, vectors)
        chosen = [
            np.union1d(general[0], own[0])
            for general, own in zip(everything, of_values, strict=True)
        ]
        branches = [
            Nearest(vector, using, len(rows), filters.among(rows.tolist()))
            for (vector, using), rows in zip(vectors, chosen, strict=True)
            if len(rows)
        ]
        if not branches:
            return []
        scales = [
            fusion.scale(scores)
            for (_, scores), rows in zip(everything, chosen, strict=True)
            if len(rows)
        ]
        now = question.scope.now
        formula = integrative(scales, _best(everything), weight, now, self._key)
        scored = self._shard.weigh(Weighing(branches, formula, question.limit))
        constitutive = {row for rows, _ in of_values for row in rows.tolist()}
        with self._lock:
            found = [
                self._weighed(row, score, weight if row in constitutive else 1.0, now)
                for row, score in zip(scored.points, scored.scores.tolist(), strict=True)
                if isinstance(row, int) and self._columns["seq"][row] > 0
            ]
        return sorted(found, key=lambda each: (-each.score, -each.factor, each.item))

    def _generated(
        self, question: Question, vectors: Sequence[tuple[object, str]]
    ) -> tuple[list[tuple[Ints, Floats]], list[tuple[Ints, Floats]]]:
        """Each branch's rows with their scores: among all items, and among constitutive ones."""
        scope = question.scope
        own = replace(scope, filter=_constitutive(scope.filter))
        with self._lock:
            wanted = [filters.of_scope(each, self._key, self._columns) for each in (scope, own)]
        queries = [
            Nearest(vector, using, question.branch_limit, each)
            for each in wanted
            for vector, using in vectors
        ]
        found = [self._current(answer, scope) for answer in self._shard.query(queries)]
        return found[: len(vectors)], found[len(vectors) :]

    def _current(self, scored: Scored, scope: Scope) -> tuple[Ints, Floats]:
        points = np.array(scored.points, dtype=np.int64)
        with self._lock:
            rows = rows_for(scope, self._columns, points)
            kept = (rows >= 0) & (self._columns["created"][rows] <= scope.now)
        return rows[kept], scored.scores[kept]

    def _weighed(self, row: int, score: float, factor: float, now: int) -> Weighed:
        columns = self._columns
        fresh = 1.0
        if factor == 1.0:
            reads, last = int(columns["ac"][row]), int(columns["la"][row])
            fresh = recency(reads, last, int(columns["imp"][row]), now)
        return Weighed(
            item=columns.items[row],
            seq=int(columns["seq"][row]),
            is_edge=bool(columns["edge"][row]),
            # The engine computes in single precision: the best text may be slightly above 1.
            text_relevance=min(1.0, score / (factor * fresh)) if fresh > 0.0 else 0.0,
            factor=factor,
            recency=fresh,
        )


def _constitutive(wanted: MemoryFilter) -> MemoryFilter:
    only = MemoryFilter(edge_types=(CONSTITUTIVE,))
    return only if wanted == MemoryFilter() else replace(only, all_of=(wanted,))


def _best(branches: Sequence[tuple[Ints, Floats]]) -> float:
    """The largest fused score."""
    rows = np.unique(np.concatenate([found for found, _ in branches]))
    placed = [(np.searchsorted(rows, found), scores) for found, scores in branches]
    return float(fusion.fused(len(rows), placed).max(initial=0.0))
