"""The composite score: one published formula over the candidates (spec S3).

    composite = sum over signals with data of  weight / (sum of those weights) · score

Of a memory that is no turn, text decides: the weights of all signals but `signals.ASKED` together
are at most `MOST_BESIDE_TEXT` of the sum; where they are more, each shrinks by the same factor. So
whatever these signals say moves a composite by no more than that.

So the contributions that an explanation lists sum to the composite, which lies in [0, 1].
"""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np

from concord_search.domain import signals
from concord_search.domain.candidates import Bools, Candidates, Floats, Ints
from concord_search.domain.memory import Talk
from concord_search.domain.profiles import Profiles
from concord_search.domain.signals import NO_DATA, QueryFacts

MOST_BESIDE_TEXT = 0.05
"""The largest share of the weights that signals beside text have, of a memory that is no turn."""


class SignalPart(NamedTuple):
    """One signal's part in one score: `contribution` = `score` · `weight`, all in [0, 1]."""

    name: str
    score: float
    weight: float

    @property
    def contribution(self) -> float:
        """The signal's part of the composite."""
        return self.score * self.weight


class Breakdown(NamedTuple):
    """The parts of one composite: the signals with data, and why the others have none."""

    composite: float
    parts: tuple[SignalPart, ...]
    dropped: tuple[tuple[str, str], ...]

    def score(self, name: str) -> float:
        """A signal's score, or 0 if it has no data."""
        return next((part.score for part in self.parts if part.name == name), 0.0)


class Ranking:
    """Candidates in the order of their composites, best first; equal ones by item name."""

    def __init__(self, found: Candidates, query: QueryFacts, profiles: Profiles) -> None:
        self.found = found
        self.query = query
        self.profiles = profiles
        self.scores = signals.scores(found, query)
        self._scores = np.array(list(self.scores.values()))
        table = np.array([profiles.of(talk).weights.values(self.scores) for talk in Talk])
        plain = found.talk.kind == Talk.NONE
        self._weights = bounded(self.scores, table.T[:, found.talk.kind], plain)
        self.composite = _weighted_means(self._scores, self._weights)
        self.order = _best_first(self.composite, found.items)

    def breakdown(self, row: int) -> Breakdown:
        """Explains one candidate by its row in `found`."""
        columns = self._scores[:, row].tolist(), self._weights[:, row].tolist()
        present, dropped = list[tuple[str, float, float]](), list[tuple[str, str]]()
        for each in zip(self.scores, *columns, strict=True):
            name, score, weight = each
            if isnan(score) or weight == 0:
                dropped.append((name, NO_DATA[name] if isnan(score) else "its weight is 0"))
            else:
                present.append(each)
        total = sum(weight for _, _, weight in present)
        parts = tuple(SignalPart(name, score, weight / total) for name, score, weight in present)
        return Breakdown(float(self.composite[row]), parts, tuple(dropped))


def bounded(scores: Mapping[str, Floats], weights: Floats, plain: Bools) -> Floats:
    """The weights of shape (signals, n), of plain memories with text's at least all but a share."""
    is_text = np.array([name in signals.ASKED for name in scores])
    present = np.where(np.isnan(np.array(list(scores.values()))), 0.0, weights)
    most = present[is_text].sum(axis=0) * MOST_BESIDE_TEXT / (1 - MOST_BESIDE_TEXT)
    others = present[~is_text].sum(axis=0)
    factor = np.where(plain & (others > most), most / np.maximum(others, 1e-12), 1.0)
    held: Floats = np.where(is_text[:, np.newaxis], weights, weights * factor)
    return held


def _weighted_means(scores: Floats, weights: Floats) -> Floats:
    """The weighted mean of each column's scores but NaN; both arrays have shape (signals, n)."""
    absent = np.isnan(scores)
    weighed = np.where(absent, 0.0, weights)
    total: Floats = (weighed * np.where(absent, 0.0, scores)).sum(axis=0)
    means: Floats = total / np.maximum(weighed.sum(axis=0), 1e-12)
    return means


def _best_first(composite: Floats, items: Sequence[str]) -> Ints:
    order = np.argsort(-composite, kind="stable")
    ordered = composite[order]
    if (ordered[1:] < ordered[:-1]).all():
        return order
    return np.lexsort((np.array(items, dtype=np.str_), -composite))
