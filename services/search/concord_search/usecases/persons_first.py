"""What persons said keeps its place beside what lower writers say, and what each of these says
beside the others (W9; decision 0117).

Whoever may write can write a text that is nearer to a question than any honest answer, or fifty of
them. So lower writers have a few places before the best of what persons said, which is also ranked
alone, and each has a few before the best of every other one. Where all candidates are of one kind
and one writer, or persons', nothing changes.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from concord_search.domain import fusion
from concord_search.domain.candidates import Candidates, Ints, Neighbour, Talk
from concord_search.domain.memory import VERIFIED
from concord_search.domain.ranking import Ranking
from concord_search.usecases.advice import NEAR
from concord_search.usecases.results import Ranked

REPORTED = 2
"""The contract's number of the trust of an agent's words. What is lower may be what a person's own
key imported: that gives way only where it repeats the question."""

PERSONS, NOBODY = -1, 0
"""In place of a writer's number: all persons, and whoever wrote what is lower than REPORTED."""

MOST = 3
"""So many places come before those that give way, and so many of what persons, and of what each
lower writer said keep one."""

REPEATS = 0.88
"""A lower text that scores more repeats the question rather than answers it, and does not come
before all that persons said."""

REPEATED = 3
WORDS, MEANING = 0.9, 0.5
"""So do as many lower texts as that, of which each holds such a share of the question's words and
has such a cosine with it: together they score less, as each stands out less."""

FEW_WORDS, MEANING_OF_FEW = 2, 0.8
"""Of a question with at most so many searched words all are in much that answers it: what was
imported, which may be a person's, repeats such a one if it is as near to it as that. Not so what
agents say: five of their texts then had the first place in half of the cases."""

SURE = 0.8
"""A lower text that scores more is not HIGH beside what persons said."""

C = TypeVar("C", bound=Candidates | Talk | Neighbour)


def persons_first(ranked: Ranked) -> Ranked:
    """The rows with the best of each one in its places, where rows of several are among them.

    And which lower rows are not to be HIGH beside a person's: those that repeat the question, or
    score hardly more.
    """
    ranking, found = ranked.ranking, ranked.ranking.found
    lower = np.where(found.trust == REPORTED, found.writers, NOBODY)
    writers = np.where(found.trust >= VERIFIED, PERSONS, lower).tolist()
    said: dict[int, list[int]] = {}
    for row in ranked.rows:
        said.setdefault(writers[row], []).append(row)
    if len(said) < 2:
        return ranked
    if PERSONS not in said:
        return replace(ranked, rows=list(_in_turn(ranked.rows, writers, said, ())))
    among = np.array(said[PERSONS], dtype=np.int64)
    alone = Ranking(_among(found, among), ranking.query, ranking.profiles)
    said[PERSONS] = among[alone.order].tolist()
    others = np.array([row for row in ranked.rows if writers[row] != PERSONS], dtype=np.int64)
    score, words = ranking.composite[others], ranking.scores["lexical"][others]
    is_short = len(found.term_weights) <= FEW_WORDS
    meaning = np.where(is_short & (found.trust[others] < REPORTED), MEANING_OF_FEW, MEANING)
    repeats = (np.nan_to_num(words) >= WORDS) & (np.nan_to_num(found.cosine[others]) >= meaning)
    repeats = (score > REPEATS) | (repeats & (repeats.sum() >= REPEATED))
    near = score <= ranking.composite[among].max() + NEAR
    doubted = others[near | (score > SURE) | repeats].tolist()
    rows = list(_in_turn(ranked.rows, writers, said, set(others[repeats].tolist())))
    return replace(ranked, rows=rows, doubted=set(doubted))


def _in_turn(
    rows: Sequence[int],
    writers: Sequence[int],
    said: Mapping[int, Sequence[int]],
    repeating: Collection[int],
) -> Iterator[int]:
    """The rows in their order, but with the best of what each one `said` in its places."""
    waiting = {one: list(some[:MOST]) for one, some in said.items() if one != NOBODY}
    places, left = Counter[int](), set(rows)
    for row in rows:
        while row in left:
            own = one = writers[row]
            if waiting:
                one = _whose(own, waiting, places, repeats=row in repeating)
            next_one = row if one == own else waiting[one][0]
            if next_one in waiting.get(one, ()):
                waiting[one].remove(next_one)
                waiting = {who: some for who, some in waiting.items() if some}
            left.remove(next_one)
            places[one] += 1
            yield next_one


def _whose(
    own: int, waiting: Mapping[int, Sequence[int]], places: Counter[int], *, repeats: bool
) -> int:
    """Whose place the next one is, where a row of `own` would come.

    `waiting`: the rows that keep a place and have none yet; `places`: how many each one has.
    """
    lower, persons = places.total() - places[PERSONS], places[PERSONS]
    gives_way = own != PERSONS and (repeats or own != NOBODY)
    behind = MOST <= lower > persons or (repeats and not persons)
    if gives_way and behind and PERSONS in waiting:
        return PERSONS
    if not gives_way or own == NOBODY or places[own] < MOST:
        return own
    others = [one for one in waiting if one != own]
    return min(others, key=places.__getitem__, default=own)


def _among(found: Candidates, rows: Ints) -> Candidates:
    """Some candidates alone, each branch on the scale of these alone."""
    words = np.where(found.lexical[rows] > 0, found.lexical[rows], np.nan)
    sides = [found.cosine[rows], words]
    scales = [fusion.scale(side[~np.isnan(side)]) for side in sides]
    return replace(_rows(found, rows), fusion=fusion.fused(sides, scales))


def _rows(of: C, rows: Ints) -> C:
    """Some rows of every column; what is no column stays."""
    columns = [each.name for each in fields(of) if each.name not in ("term_weights", "rarest")]
    return replace(of, **{name: _chosen(getattr(of, name), rows) for name in columns})


def _chosen(values: Any, rows: Ints) -> Any:
    if isinstance(values, (Talk, Neighbour)):
        return _rows(values, rows)
    if isinstance(values, np.ndarray):
        return values[rows]
    return [values[row] for row in rows.tolist()] if values else values
