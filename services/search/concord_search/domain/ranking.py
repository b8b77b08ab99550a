"""The composite score: one published formula over the candidates (spec S3).

    composite = sum over signals with data of  weight / (sum of those weights) · score

So the contributions that an explanation lists sum to the composite, which lies in [0, 1].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from concord_search.domain.candidates import Candidates, Floats, Ints
from concord_search.domain.signals import NO_DATA, QueryFacts, Weights, columns


@dataclass(frozen=True, slots=True)
class SignalPart:
    """One signal's part in one score: `contribution` = `score` · `weight`, all in [0, 1]."""

    name: str
    score: float
    weight: float

    @property
    def contribution(self) -> float:
        """What it adds to the composite."""
        return self.score * self.weight


@dataclass(frozen=True, slots=True)
class Breakdown:
    """How one composite came about: the signals that present, and why the others did not."""

    composite: float
    parts: tuple[SignalPart, ...]
    dropped: tuple[tuple[str, str], ...]

    def score(self, name: str, absent: float = 0.0) -> float:
        """A signal's score, or `absent` where it dropped out."""
        return next((part.score for part in self.parts if part.name == name), absent)


class Ranking:
    """Candidates in the order of their composite, best first; equals by item name."""

    def __init__(self, found: Candidates, query: QueryFacts, weights: Weights) -> None:
        self.found = found
        signals = [each for each in columns(found, query, weights) if each.weight > 0]
        self._names = [each.name for each in signals]
        self._weights = [each.weight for each in signals]
        self._silent = tuple(
            (name, "its weight is 0") for name, weight in weights.items() if weight == 0
        )
        self._scores = np.array([each.scores for each in signals])
        self.composite = _weighted_means(self._scores, np.array(self._weights))
        self.order = _best_first(self.composite, found.items)

    def breakdown(self, row: int) -> Breakdown:
        """Explains one candidate by its row in `found`."""
        scored = list(zip(self._names, self._scores[:, row].tolist(), self._weights, strict=True))
        present = [each for each in scored if not isnan(each[1])]
        total = sum(weight for _, _, weight in present)
        parts = tuple(SignalPart(name, score, weight / total) for name, score, weight in present)
        dropped = tuple((name, NO_DATA[name]) for name, score, _ in scored if isnan(score))
        return Breakdown(float(self.composite[row]), parts, dropped + self._silent)


def _weighted_means(scores: Floats, weights: Floats) -> Floats:
    """Per column of `scores`, shape (signals, n), the weighted mean of what is not NaN."""
    present = ~np.isnan(scores)
    total: Floats = weights @ np.where(present, scores, 0.0)
    return total / np.maximum(weights @ present, 1e-12)


def _best_first(composite: Floats, items: Sequence[str]) -> Ints:
    order = np.argsort(-composite, kind="stable")
    if np.all(np.diff(composite[order]) < 0):
        return order
    return np.lexsort((np.array(items, dtype=np.str_), -composite))
