"""Ranks the candidates of one space by the integrative formula, inside the engine (spec S6).

Each branch generates candidates twice: among all items in scope, and among constitutive ones, so
that no constitutive statement is lost behind 200 better texts. The engine then scores all of them
by one formula. Its scales come from the candidates among all items, so that a candidate's text
relevance is the fused score of Search.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from concord_search.adapters.qdrant import filters
from concord_search.adapters.qdrant.filters import Filter
from concord_search.adapters.qdrant.formula import integrative
from concord_search.adapters.qdrant.query import CandidateQuery
from concord_search.adapters.qdrant.shard import DENSE, WORDS, Nearest, Weighing
from concord_search.domain.candidates import Floats, Ints
from concord_search.domain.filters import MemoryFilter
from concord_search.domain.memory import CONSTITUTIVE
from concord_search.domain.recency import recency
from concord_search.ports.embedder import Vector
from concord_search.ports.index import NOTHING_WEIGHED, Weighed


class WeighedQuery(CandidateQuery):
    """Ranks one space's candidates, as `CandidateQuery` finds them."""

    def _wanted(self) -> Sequence[Filter]:
        scope = self._question.scope
        own = replace(scope, filter=_constitutive(scope.filter))
        return [*super()._wanted(), filters.of_scope(own, self._key, self._columns)]

    def weigh(self, vector: Vector, weight: float) -> Weighed:
        dense = vector.tolist()
        found, branches = self._scored(dense)
        sides = ((dense, DENSE), (self._words, WORDS))
        asked = [
            (Nearest(made, using, len(rows), filters.among(rows)), branch.scale)
            for (made, using), branch in zip(sides, branches, strict=False)
            if (rows := branch.rows.tolist())
        ]
        if not asked:
            return NOTHING_WEIGHED
        queries, scales = zip(*asked, strict=True)
        now, best = self._question.scope.now, float(found.fusion.max())
        formula = integrative(scales, best, weight, now, self._key)
        scored = self._tenant.weigh(Weighing(queries, formula, self._question.limit))
        rows = scored.points
        constitutive = np.concatenate([branch.by_filter[1] for branch in branches])
        factor = np.where((rows[:, np.newaxis] == constitutive).any(axis=1), weight, 1.0)
        with self._lock:
            columns = self._columns
            fresh = recency(columns["ac"][rows], columns["la"][rows], columns["imp"][rows], now)
            recent = np.where(factor == 1.0, fresh, 1.0)
            # The engine computes in single precision: the best text may be slightly above 1.
            text = np.minimum(1.0, scored.scores / np.maximum(factor * recent, 1e-300))
            order = self._best_first(rows, text * factor * recent, factor)
            ordered = found.at(np.searchsorted(found.rows, rows[order]))
            described = self._described(ordered, found)
        return Weighed(described, text[order], factor[order], recent[order])

    def _best_first(self, rows: Ints, scores: Floats, factor: Floats) -> Ints:
        """The places of the rows that were not erased meanwhile."""
        order = np.lexsort((-factor, -scores))
        if (np.diff(scores[order]) == 0).any():
            items = np.array([self._columns.items[row] for row in rows.tolist()], dtype=np.str_)
            order = np.lexsort((items, -factor, -scores))
        return order[self._there(rows[order])]


def _constitutive(wanted: MemoryFilter) -> MemoryFilter:
    only = MemoryFilter(edge_types=(CONSTITUTIVE,))
    return only if wanted == MemoryFilter() else replace(only, all_of=(wanted,))
