"""Answers a question from one space's shard and columns.

Two planned batches of the engine: each branch generates its candidates; then each is asked for
the score of what only the other found, so that every candidate has both raw scores.
"""

from dataclasses import dataclass
from threading import Lock

import numpy as np
import qdrant_edge as qdrant

from concord_search.adapters.edge import conditions
from concord_search.adapters.edge.columns import Columns
from concord_search.adapters.edge.engine import (
    DENSE,
    WORDS,
    Scored,
    Shard,
    Words,
    nearest,
    nothing,
)
from concord_search.adapters.edge.keys import SpaceKey
from concord_search.domain import fusion
from concord_search.domain.candidates import Candidates, Floats, Ints
from concord_search.domain.instants import Micros
from concord_search.domain.memory import parent_domain
from concord_search.domain.signals import IMPORTANCE_NUMBER
from concord_search.ports import Found, Question

_NO_ROWS = np.zeros(0, dtype=np.int64)
_IMPORTANCE = np.array([IMPORTANCE_NUMBER[level] for level in sorted(IMPORTANCE_NUMBER)])


@dataclass(frozen=True, slots=True)
class _Branch:
    """What one branch found: rows (-1: not current) and their scores, of one length."""

    rows: Ints
    scores: Floats

    def beyond(self, other: "_Branch") -> Ints:
        """The rows that this branch found and the other did not."""
        return self.rows[(self.rows >= 0) & ~np.isin(self.rows, other.rows)]


class Asking:
    """One space's reading side. Blocking; holds the lock only while it reads columns."""

    def __init__(
        self, shard: Shard, key: SpaceKey, columns: Columns, lock: Lock, words: Words
    ) -> None:
        self._shard = shard
        self._key = key
        self._columns = columns
        self._lock = lock
        self._words = words

    def ask(self, question: Question) -> Found:
        """The candidates for a question."""
        words = self._words.of_query(question.text)
        dense = question.vector.tolist()
        wanted, limit = self._wanted(question), question.branch_limit
        asked = [nearest(dense, DENSE, limit, wanted)]
        if words.indices:
            asked.append(nearest(words, WORDS, limit, wanted))
        near, worded = map(self._branch, [*self._shard.ask(asked), nothing()][:2])
        more_near, more_worded = self._scores_of_the_others(near, worded, dense, words, limit)
        found = self._candidates(question, near, worded, more_near, more_worded)
        return Found(found, bool(words.indices))

    def _wanted(self, question: Question) -> qdrant.Filter:
        if question.only is None:
            return conditions.of_scope(question.scope, self._key)
        with self._lock:
            rows = [self._columns.newest(self._key.item(each)) for each in question.only]
        return conditions.among(row for row in rows if row is not None)

    def _branch(self, scored: Scored) -> _Branch:
        found = np.array(scored.points, dtype=np.int64)
        with self._lock:
            return _Branch(self._columns.current_rows(found), scored.scores)

    def _scores_of_the_others(
        self,
        near: _Branch,
        worded: _Branch,
        dense: list[float],
        words: qdrant.SparseVector,
        limit: int,
    ) -> tuple[_Branch, _Branch]:
        """Cosines of what only words found, and BM25 scores of what only meaning found.

        A branch of words that is not full has found every point that shares a word.
        """
        unmeasured = worded.beyond(near)
        unread = near.beyond(worded) if len(worded.rows) >= limit else _NO_ROWS
        asked = []
        if len(unmeasured):
            asked.append(
                nearest(dense, DENSE, len(unmeasured), conditions.among(unmeasured.tolist()))
            )
        if len(unread):
            only = conditions.among(unread.tolist())
            asked.append(nearest(words, WORDS, len(unread), only))
        answers = iter(self._shard.ask(asked) if asked else ())
        cosines = next(answers) if len(unmeasured) else nothing()
        return self._branch(cosines), self._branch(next(answers) if len(unread) else nothing())

    def _candidates(
        self,
        question: Question,
        near: _Branch,
        worded: _Branch,
        more_near: _Branch,
        more_worded: _Branch,
    ) -> Candidates:
        rows = np.unique(np.concatenate([near.rows, worded.rows]))
        rows = self._recorded_by(question.scope.now, rows[rows >= 0])
        cosine, lexical = np.zeros(len(rows)), np.zeros(len(rows))
        branches = []
        for column, first, more in (
            (cosine, near, more_near),
            (lexical, worded, more_worded),
        ):
            branches.append(_placed(rows, first))
            for where, scores in (branches[-1], _placed(rows, more)):
                column[where] = scores
        fused = fusion.fused(len(rows), branches)
        best = np.argsort(-fused, kind="stable")[: question.limit]
        with self._lock:
            return self._described(question, rows[best], cosine[best], lexical[best], fused[best])

    def _recorded_by(self, now: Micros, rows: Ints) -> Ints:
        """Without memories that were added after the first page was asked for."""
        with self._lock:
            return rows[self._columns["created"][rows] <= now]

    def _described(
        self, question: Question, rows: Ints, cosine: Floats, lexical: Floats, fused: Floats
    ) -> Candidates:
        columns = self._columns
        concepts = {self._key.number("concept", each) for each in question.concepts}
        wanted = np.array(sorted(concepts), dtype=np.int64)
        shared, union = columns.shared_concepts(rows, wanted)
        return Candidates(
            items=[columns.items[row] for row in rows.tolist()],
            seqs=columns["seq"][rows],
            cosine=cosine,
            lexical=lexical,
            fusion=fused,
            domain_match=self._domain_match(question.domain, rows),
            shared_concepts=shared,
            all_concepts=union,
            importance=_IMPORTANCE[columns["imp"][rows]],
            access_count=columns["ac"][rows],
            last_access=columns["la"][rows],
            created=columns["created"][rows],
            is_head=columns["head"][rows].astype(np.bool_),
        )

    def _domain_match(self, domain: str, rows: Ints) -> Floats:
        if not domain:
            return np.zeros(len(rows))
        same = self._columns["d"][rows] == self._key.number("domain", domain)
        parent = parent_domain(domain)
        if not parent:
            return np.where(same, 1.0, 0.0)
        sibling = self._columns["p"][rows] == self._key.number("domain", parent)
        return np.where(same, 1.0, np.where(sibling, 0.5, 0.0))


def _placed(rows: Ints, branch: _Branch) -> tuple[Ints, Floats]:
    """Where a branch's current rows stand in `rows` (sorted), with their scores."""
    known = branch.rows >= 0
    found = branch.rows[known]
    where = np.minimum(np.searchsorted(rows, found), max(len(rows) - 1, 0))
    there = rows[where] == found if len(rows) else np.zeros(len(found), dtype=np.bool_)
    return where[there], branch.scores[known][there]
