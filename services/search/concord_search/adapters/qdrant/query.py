"""Answers a question from one space's points and columns (spec S1).

Each branch generates its candidates, that of words while the question's vector is still being made,
and fusion picks the best. The branch of meaning also scores what only that of words found, so that
every candidate has its cosine.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from threading import Lock
from typing import Any

import numpy as np

from concord_search.adapters.qdrant import filters, stated_terms
from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.conversation import talk
from concord_search.adapters.qdrant.filters import Filter, PointId
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.payload import UNREAD
from concord_search.adapters.qdrant.shard import (
    DENSE,
    WORDS,
    Nearest,
    Scored,
    Words,
)
from concord_search.adapters.qdrant.tenant import Tenant
from concord_search.adapters.qdrant.time_terms import of_spans
from concord_search.domain import fusion
from concord_search.domain.candidates import Bools, Candidates, Floats, Ints
from concord_search.domain.filters import Scope
from concord_search.domain.instants import DAY, NEVER
from concord_search.domain.memory import parent_domain
from concord_search.domain.signals import IMPORTANCE_NUMBER
from concord_search.ports.embedder import Vector
from concord_search.ports.index import Question

HALF_LIFE = 30
"""Days after which a co-read counts half."""

FEW_READS = 25
"""What few reads say counts little: at so many, half. At 4, naming the session made some first
results wrong, at none, one in twelve (`python -m tests.bench named-session`)."""

_IMPORTANCE = np.array([IMPORTANCE_NUMBER[level] for level in sorted(IMPORTANCE_NUMBER)])


@dataclass(frozen=True, slots=True)
class Scores:
    """Candidates by row, with their scores; all of one length."""

    rows: Ints
    cosine: Floats
    lexical: Floats
    fusion: Floats

    def at(self, chosen: Ints | Bools) -> "Scores":
        """Only some of them, in the chosen order."""
        return Scores(
            self.rows[chosen], self.cosine[chosen], self.lexical[chosen], self.fusion[chosen]
        )

    def fused(self, rows: Ints) -> Floats:
        """The fused score of each row, among rows that ascend; 0 for one that is not there."""
        if not len(self.rows):
            return np.zeros(len(rows))
        where = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[where] == rows, self.fusion[where], 0.0)


@dataclass(frozen=True, slots=True)
class Branch:
    """The rows that a branch found, ascending, and those by filter; and the scale of its scores,
    which is that of the first filter's (`fusion.scale`)."""

    rows: Ints
    by_filter: Sequence[Ints]
    scale: tuple[float, float]


class CandidateQuery:
    """Asks one space for candidates. Blocking; holds the lock only while it reads columns."""

    def __init__(
        self,
        tenant: Callable[[], Tenant],
        key: SpaceKey,
        columns: Columns,
        lock: Lock,
        words: Words,
        *,
        question: Question,
    ) -> None:
        self._current = tenant
        self._tenant = tenant()
        self._key = key
        self._columns = columns
        self._lock = lock
        self._question = question
        asked = words.of_query(question.text)
        terms = [] if asked is None else words.terms_of(asked)
        within = question.times.within
        dated = of_spans([(within.begin, within.end)]) if within else ()
        self._lexical = words
        self._said = words.of_query(" ".join([question.text, *dated])) if dated else asked
        self._words = self._said
        self._terms = np.array(terms, dtype=np.int64)
        self._stated = stated_terms.NOTHING
        concepts = {key.number("concept", each) for each in question.concepts}
        self._concepts = np.array(sorted(concepts), dtype=np.int64)
        self._filters: Sequence[Filter] = ()
        self._worded: Sequence[Scored] = ()
        self._begun = 0

    def begin(self) -> None:
        """Asks all that needs no vector."""
        self._tenant = self._current()
        with self._lock:
            self._begun = len(self._columns.items)
            self._filters = self._wanted()
            self._stated = stated_terms.asked(
                self._lexical, self._question.text, self._terms, self._columns
            )
        if len(self._stated.numbers):
            self._words = self._lexical.joined(self._said, self._stated.weights())
        if self._words is not None:
            self._worded = self._branch(self._words, WORDS)

    def end(self, vector: Vector) -> Candidates:
        """The candidates for the question, once it has begun."""
        found, _ = self._scored(vector.tolist())
        order = np.argsort(-found.fusion, kind="stable")[: self._question.limit]
        with self._lock:
            return self._described(found.at(order[self._there(found.rows[order])]), found)

    def _wanted(self) -> Sequence[Filter]:
        """The filters with which each branch is asked; the first is that of the question."""
        scope, key, columns = self._question.scope, self._key, self._columns
        if self._question.only is None:
            return [filters.of_scope(scope, key, columns)]
        rows = filters.rows_of(self._question.only, scope, key, columns)
        return [filters.among(rows, filters.known_at(scope))]

    def _branch(self, vector: Any, using: str, also: Collection[PointId] = ()) -> list[Scored]:
        """A branch's answers, one a filter; the last one scores some points besides, if any."""
        limit = self._question.branch_limit
        queries = [Nearest(vector, using, limit, each) for each in self._filters]
        if also:
            queries.append(Nearest(vector, using, len(also), filters.among(also)))
        return self._tenant.query(queries)

    def _scored(self, dense: list[float]) -> tuple[Scores, list[Branch]]:
        """All that the branches found; what only meaning found counts as sharing no word.

        The rows ascend.
        """
        if self._has_changed():
            self.begin()
        near, words = self._sides(dense)
        if self._has_changed():  # while meaning was asked
            self.begin()
            near, words = self._sides(dense)
        near, besides = near[: len(self._filters)], near[len(self._filters) :]
        rows = np.unique(np.concatenate([found for found, _ in (*near, *words)]))
        cosine, lexical = (_placed(rows, side) for side in (near, words))
        branches = [
            Branch(rows[~np.isnan(column)], [found for found, _ in side], _scale(side[0][1]))
            for column, side in ((cosine, near), (lexical, words))
            if side
        ]
        fused = fusion.fused([cosine, lexical], [each.scale for each in branches])
        scored = ~(np.isnan(cosine) & np.isnan(lexical)) | (self._question.only is not None)
        cosine = np.fmax(np.fmax(cosine, _placed(rows, besides)), -1.0)
        cosine[self._unread(rows, dense)] = np.nan
        return Scores(rows, cosine, np.fmax(lexical, 0.0), fused).at(scored), branches

    def _sides(self, dense: list[float]) -> list[list[tuple[Ints, Floats]]]:
        """What meaning found, and what words found; meaning also scores what words found."""
        worded = {row for each in self._worded for row in each.points.tolist()}
        answers = self._branch(dense, DENSE, also=worded)
        with self._lock:
            near, words = ([self._known(each) for each in side] for side in (answers, self._worded))
        # Without a meaning on either side there is no cosine.
        near = [(rows, np.where(self._unread(rows, dense), np.nan, each)) for rows, each in near]
        return [near, words]

    def _unread(self, rows: Ints, dense: list[float]) -> Bools:
        """Which rows have no cosine with the question, as the embedder cannot read one of them."""
        return ((self._columns["speech"][rows] & UNREAD) > 0) | (not any(dense))

    def _has_changed(self) -> bool:
        """Whether a memory got a new state since: if at all, words found its former one.

        Or whether its files were made anew: the former ones get no more states, and are removed.
        """
        if self._current() != self._tenant:
            return True
        with self._lock:
            added = self._columns["created"][self._begun : len(self._columns.items)]
            return bool((added <= self._question.scope.now).any())

    def _known(self, scored: Scored) -> tuple[Ints, Floats]:
        """The rows that may answer among points that the engine found, and their scores.

        Memories that were added after the request of the first page are left out.
        """
        scope, columns = self._question.scope, self._columns
        rows = rows_for(scope, columns, scored.points)
        kept = (rows >= 0) & (columns["created"][rows] <= scope.now)
        return rows[kept], scored.scores[kept]

    def _there(self, rows: Ints) -> Bools:
        """Which rows were not erased meanwhile."""
        there: Bools = self._columns["seq"][rows] > 0
        return there

    def _described(self, best: Scores, found: Scores) -> Candidates:
        """The best ones, with all that ranking needs; reads the columns."""
        question, columns, terms = self._question, self._columns, self._terms
        rows = best.rows
        read = rows if question.scope.record is None else columns.newest_rows(rows)
        shared, union = columns.shared_concepts(rows, self._concepts)
        holds = self._stated.holds(columns, rows, terms)
        scope = question.scope
        known_at = scope.now if scope.record is None else scope.record
        return Candidates(
            items=[columns.items[row] for row in rows.tolist()],
            seqs=columns["seq"][rows],
            cosine=best.cosine,
            lexical=best.lexical,
            fusion=best.fusion,
            domain_match=self._domain_match(rows),
            shared_concepts=shared,
            all_concepts=union,
            importance=_IMPORTANCE[columns["imp"][rows]],
            access_count=columns["ac"][read],
            last_access=columns["la"][read],
            created=columns["created"][rows],
            valid_from=columns["from"][rows],
            held_until=_or_never(columns["until"][rows]),
            names_from=columns["named"][rows],
            names_until=columns["then"][rows],
            coactivation=self._coactivation(rows),
            is_head=columns["head"][rows].astype(np.bool_),
            is_edge=columns["edge"][rows] > 0,
            holds=holds,
            term_weights=columns.term_weights(terms),
            rarest=columns.rarest_weight,
            lengths=columns["length"][rows],
            trust=columns["trust"][rows],
            writers=columns["writer"][rows],
            talk=talk(columns, rows, terms, holds, fused=found.fused, known_at=known_at),
        )

    def _coactivation(self, rows: Ints) -> Floats:
        """The largest co-reads ÷ (√(reads · reads) + FEW_READS) with a memory of the session."""
        question = self._question
        if not question.co_reads:
            return np.full(len(rows), np.nan)
        columns, best = self._columns, dict[str, float]()
        for each in question.co_reads:
            items = [self._key.item(name) for name in (each.memory_id, each.other_id)]
            pair = [columns.newest(item) for item in items]
            if None in pair:
                continue
            reads = [max(int(columns["ac"][row]), 1) for row in pair]
            age = max(question.scope.now - each.last, 0) / DAY
            together = each.sessions / (sqrt(reads[0] * reads[1]) + FEW_READS)
            share = min(together, 1.0) * 0.5 ** (age / HALF_LIFE)
            best[items[1]] = max(best.get(items[1], 0.0), share)
        return np.array([best.get(columns.items[row], 0.0) for row in rows.tolist()])

    def _domain_match(self, rows: Ints) -> Floats:
        domain = self._question.domain
        if not domain:
            return np.zeros(len(rows))
        same = self._columns["d"][rows] == self._key.number("domain", domain)
        parent = parent_domain(domain)
        if not parent:
            return np.where(same, 1.0, 0.0)
        sibling = self._columns["p"][rows] == self._key.number("domain", parent)
        return np.where(same, 1.0, np.where(sibling, 0.5, 0.0))


def _or_never(instants: Ints) -> Ints:
    return np.where(instants == 0, NEVER, instants)


def rows_for(scope: Scope, columns: Columns, found: Ints) -> Ints:
    """The rows that may answer among points that the engine found; -1 in place of every other.

    For now, that is the newest open state of each memory; for the past, the filter has chosen it.
    """
    return columns.rows_with("current" if scope.record is None else "seq", found)


def _scale(scores: Floats) -> tuple[float, float]:
    return fusion.scale(scores[~np.isnan(scores)])


def _placed(rows: Ints, side: Iterable[tuple[Ints, Floats]]) -> Floats:
    """A side's scores of rows, ascending; NaN where it has none."""
    column = np.full(len(rows), np.nan)
    for found, scores in side:
        column[np.searchsorted(rows, found)] = scores
    return column
