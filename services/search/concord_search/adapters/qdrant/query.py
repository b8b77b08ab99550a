"""Answers a question from one space's shard and columns (spec S1).

It takes two planned batches of the engine. In the first, each branch generates its candidates, and
fusion picks the best. In the second, each branch scores those of the best that it had not found, so
that every candidate has both raw scores.
"""

from dataclasses import dataclass
from math import sqrt
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from concord_search.adapters.qdrant import filters
from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.conversation import Fused, Terms, talk
from concord_search.adapters.qdrant.filters import Filter
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.shard import (
    DENSE,
    NOTHING,
    WORDS,
    Nearest,
    Scored,
    Shard,
    Sparse,
    Words,
)
from concord_search.domain import fusion
from concord_search.domain.candidates import Candidates, Floats, Ints
from concord_search.domain.filters import Scope
from concord_search.domain.instants import DAY, Micros
from concord_search.domain.memory import parent_domain
from concord_search.domain.signals import IMPORTANCE_NUMBER
from concord_search.ports import Found, Question

HALF_LIFE = 30
"""Days after which a co-read counts half."""

_IMPORTANCE = np.array([IMPORTANCE_NUMBER[level] for level in sorted(IMPORTANCE_NUMBER)])


@dataclass(frozen=True, slots=True)
class _Branch:
    """The rows that one branch found (-1: not current) and their scores, of one length."""

    rows: Ints
    scores: Floats


@dataclass(frozen=True, slots=True)
class _Scores:
    """Candidates by row, with their scores; all of one length."""

    rows: Ints
    cosine: Floats
    lexical: Floats
    fusion: Floats

    def among(self, kept: NDArray[np.bool_]) -> "_Scores":
        """Only some of them."""
        return _Scores(self.rows[kept], self.cosine[kept], self.lexical[kept], self.fusion[kept])


class CandidateQuery:
    """Asks one space for candidates. Blocking; holds the lock only while it reads columns."""

    def __init__(
        self, shard: Shard, key: SpaceKey, columns: Columns, lock: Lock, words: Words
    ) -> None:
        self._shard = shard
        self._key = key
        self._columns = columns
        self._lock = lock
        self._words = words

    def run(self, question: Question) -> Found:
        """The candidates for a question."""
        words = self._words.of_query(question.text)
        dense = question.vector.tolist()
        wanted, limit = self._wanted(question), question.branch_limit
        queries = [Nearest(dense, DENSE, limit, wanted)]
        if words is not None:
            queries.append(Nearest(words, WORDS, limit, wanted))
        answers = [*self._shard.query(queries), NOTHING][:2]
        near, worded = (self._branch(answer, question.scope) for answer in answers)
        fused, best = self._best(near, worded, question)
        if len(worded.rows) < limit:  # then the branch has found every point that shares a word
            np.nan_to_num(best.lexical, copy=False)
        self._complete(best, dense, words, question.scope)
        with self._lock:
            terms = np.array([] if words is None else self._words.terms_of(words), dtype=np.int64)
            return Found(self._described(question, best, terms, fused), words is not None)

    def _wanted(self, question: Question) -> Filter:
        scope, key, columns = question.scope, self._key, self._columns
        with self._lock:
            if question.only is None:
                return filters.of_scope(scope, key, columns)
            rows = filters.rows_of(question.only, scope, key, columns)
        return filters.among(rows, filters.known_at(scope))

    def _branch(self, scored: Scored, scope: Scope) -> _Branch:
        found = np.array(scored.points, dtype=np.int64)
        with self._lock:
            return _Branch(rows_for(scope, self._columns, found), scored.scores)

    def _best(self, near: _Branch, worded: _Branch, question: Question) -> tuple[Fused, _Scores]:
        """All found rows, and the best by fusion; NaN for a score that a branch has not given."""
        found = np.unique(np.concatenate([near.rows, worded.rows]))
        rows = self._recorded_by(question.scope.now, found[found >= 0])
        cosine, lexical = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        placed = [_placed(rows, near), _placed(rows, worded)]
        for column, (where, scores) in zip((cosine, lexical), placed, strict=True):
            column[where] = scores
        fused = fusion.fused(len(rows), placed)
        best = np.argsort(-fused, kind="stable")[: question.limit]
        scored = _Scores(rows[best], cosine[best], lexical[best], fused[best])
        return Fused(rows, fused), scored

    def _complete(
        self, best: _Scores, dense: list[float], words: Sparse | None, scope: Scope
    ) -> None:
        """Fills in scores that are NaN; a candidate that shares no word scores 0."""
        sides = ((best.cosine, dense, DENSE), (best.lexical, words, WORDS))
        missing = [
            (column, Nearest(vector, using, len(rows), filters.among(rows)))
            for column, vector, using in sides
            if (rows := best.rows[np.isnan(column)].tolist())
        ]
        answers = self._shard.query([query for _, query in missing]) if missing else []
        order = np.argsort(best.rows)
        for (column, _), answer in zip(missing, answers, strict=True):
            where, scores = _placed(best.rows[order], self._branch(answer, scope))
            column[order[where]] = scores
            np.nan_to_num(column, copy=False)

    def _recorded_by(self, now: Micros, rows: Ints) -> Ints:
        """The rows without memories that were added after the request of the first page."""
        with self._lock:
            return rows[self._columns["created"][rows] <= now]

    def _described(
        self, question: Question, best: _Scores, terms: Ints, fused: Fused
    ) -> Candidates:
        columns = self._columns
        best = best.among(columns["seq"][best.rows] > 0)  # without rows that were erased meanwhile
        rows = best.rows
        read = rows if question.scope.record is None else columns.newest_rows(rows)
        concepts = {self._key.number("concept", each) for each in question.concepts}
        wanted = np.array(sorted(concepts), dtype=np.int64)
        shared, union = columns.shared_concepts(rows, wanted)
        holds = columns.holds(rows, terms)
        weights, known = columns.term_weights(terms)
        scope = question.scope
        known_at = scope.now if scope.record is None else scope.record
        return Candidates(
            items=[columns.items[row] for row in rows.tolist()],
            seqs=columns["seq"][rows],
            cosine=best.cosine,
            lexical=best.lexical,
            fusion=best.fusion,
            domain_match=self._domain_match(question.domain, rows),
            shared_concepts=shared,
            all_concepts=union,
            importance=_IMPORTANCE[columns["imp"][rows]],
            access_count=columns["ac"][read],
            last_access=columns["la"][read],
            created=columns["created"][rows],
            valid_from=columns["from"][rows],
            coactivation=self._coactivation(question, rows),
            is_head=columns["head"][rows].astype(np.bool_),
            holds=holds,
            term_weights=weights,
            known_terms=known,
            lengths=columns.lengths(rows),
            talk=talk(columns, rows, Terms(terms, holds), fused, known_at),
        )

    def _coactivation(self, question: Question, rows: Ints) -> Floats:
        """The largest co-reads ÷ √(reads · reads) with a memory that the session read."""
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
            share = min(each.sessions / sqrt(reads[0] * reads[1]), 1.0) * 0.5 ** (age / HALF_LIFE)
            best[items[1]] = max(best.get(items[1], 0.0), share)
        return np.array([best.get(columns.items[row], 0.0) for row in rows.tolist()])

    def _domain_match(self, domain: str, rows: Ints) -> Floats:
        if not domain:
            return np.zeros(len(rows))
        same = self._columns["d"][rows] == self._key.number("domain", domain)
        parent = parent_domain(domain)
        if not parent:
            return np.where(same, 1.0, 0.0)
        sibling = self._columns["p"][rows] == self._key.number("domain", parent)
        return np.where(same, 1.0, np.where(sibling, 0.5, 0.0))


def rows_for(scope: Scope, columns: Columns, found: Ints) -> Ints:
    """The rows that may answer among points that the engine found; -1 in place of every other.

    For now, that is the newest open state of each memory; for the past, the filter has chosen it.
    """
    return columns.current_rows(found) if scope.record is None else columns.known_rows(found)


def _placed(rows: Ints, branch: _Branch) -> tuple[Ints, Floats]:
    """The positions of a branch's current rows in `rows` (sorted), with their scores."""
    known = branch.rows >= 0
    found = branch.rows[known]
    where = np.minimum(np.searchsorted(rows, found), max(len(rows) - 1, 0))
    there = rows[where] == found if len(rows) else np.zeros(len(found), dtype=np.bool_)
    return where[there], branch.scores[known][there]
