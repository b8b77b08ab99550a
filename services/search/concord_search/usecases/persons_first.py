"""What persons said keeps its place beside what lower writers say (W9; decision 0117).

Whoever may write can write a text that is nearer to a question than any honest answer, or fifty of
them. So where both persons' words and lower ones are candidates, what persons said is also ranked
alone, and keeps places on the page by that. Where all candidates are of one kind, nothing changes.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from concord_search.domain import fusion
from concord_search.domain.candidates import Bools, Candidates, Ints, Neighbour, Talk
from concord_search.domain.memory import VERIFIED
from concord_search.domain.ranking import Ranking
from concord_search.usecases.advice import NEAR
from concord_search.usecases.results import Ranked

MOST = 5
"""So many of what persons said keep a place."""

LEAD = 3
"""Of the places behind so many, every second one is theirs."""

NATURAL = 0.8
"""A lower text that scores more repeats the question rather than answers it, and does not come
before all that persons said: of ten honest answers that come first, one scores more."""

REPEATED = 3
WORDS, MEANING = 0.9, 0.5
"""So do as many lower texts as that, of which each holds such a share of the question's words and
has such a cosine with it: together they score less, as each stands out less."""

REPORTED = 2
"""The contract's number of the trust of an agent's words. What is lower may be what a person's own
key imported: that gives way only where it repeats the question."""

C = TypeVar("C", bound=Candidates | Talk | Neighbour)


def persons_first(ranked: Ranked) -> Ranked:
    """The rows with what persons said in its places, where both kinds are among them.

    And which lower rows are not to be HIGH: those that repeat the question, or score hardly more
    than a person's words.
    """
    ranking, trust = ranked.ranking, ranked.ranking.found.trust
    trusted = [row for row in ranked.rows if trust[row] >= VERIFIED]
    if not trusted or len(trusted) == len(ranked.rows):
        return ranked
    among = np.array(trusted, dtype=np.int64)
    alone = Ranking(_among(ranking.found, among), ranking.query, ranking.profiles)
    first = alone.order[:MOST].tolist()
    lower = set(ranked.rows).difference(trusted)
    natural = _are_natural(ranking, lower)
    gives_way = ~natural | (trust == REPORTED)
    best = [trusted[row] for row in first]
    rows = list(_in_turn(ranked.rows, best, lower, natural, gives_way))
    near = ranking.composite <= ranking.composite[among].max() + NEAR
    doubted = {row for row in lower if near[row] or not natural[row]}
    return replace(ranked, rows=rows, doubted=doubted)


def _are_natural(ranking: Ranking, lower: Collection[int]) -> Bools:
    """Whether each row answers rather than repeats the question; asked of lower rows alone."""
    words, cosine = ranking.scores["lexical"], ranking.found.cosine
    repeats = (np.nan_to_num(words) >= WORDS) & (np.nan_to_num(cosine) >= MEANING)
    many = bool(repeats[list(lower)].sum() >= REPEATED)
    natural: Bools = (ranking.composite <= NATURAL) & ~(repeats & many)
    return natural


def _in_turn(
    rows: Sequence[int],
    best: Sequence[int],
    lower: Collection[int],
    natural: Bools,
    gives_way: Bools,
) -> Iterator[int]:
    """The rows in their order, but with the `best` of persons in the places that they keep."""
    waiting, place, persons = dict.fromkeys(best), 0, 0
    for row in rows:
        if row in best and row not in waiting:
            continue
        while row in lower and waiting and gives_way[row]:
            is_first = not persons and not natural[row]
            if not is_first and (place < LEAD or persons >= (place + 1) // 2):
                break
            one = next(iter(waiting))
            del waiting[one]
            place, persons = place + 1, persons + 1
            yield one
        waiting.pop(row, None)
        place, persons = place + 1, persons + (row not in lower)
        yield row


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
