"""The composite score: one published formula over the candidates (spec S3).

    composite = sum over signals with data of  weight / (sum of those weights) · score

So the contributions that an explanation lists sum to the composite, which lies in [0, 1].
"""

from dataclasses import dataclass

import numpy as np

from concord_search.domain.candidates import Candidates, Floats
from concord_search.domain.signals import NO_DATA, Asked, SignalColumn, Weights, columns


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
    """How one composite came about: the signals that spoke, and why the others did not."""

    composite: float
    parts: tuple[SignalPart, ...]
    dropped: tuple[tuple[str, str], ...]

    def score(self, name: str, absent: float = 0.0) -> float:
        """A signal's score, or `absent` where it dropped out."""
        return next((part.score for part in self.parts if part.name == name), absent)


class Ranking:
    """Candidates in the order of their composite, best first; equals by item name."""

    def __init__(self, found: Candidates, asked: Asked, weights: Weights) -> None:
        self.found = found
        self._columns = columns(found, asked, weights)
        self.composite = _weighted_mean(len(found), self._columns)
        names = np.array(found.items, dtype=np.str_)
        self.order = np.lexsort((names, -self.composite))

    def breakdown(self, row: int) -> Breakdown:
        """Explains one candidate by its row in `found`."""
        spoke = [c for c in self._columns if c.weight > 0 and not np.isnan(c.scores[row])]
        names = {column.name for column in spoke}
        total = sum(column.weight for column in spoke)
        parts = tuple(
            SignalPart(column.name, float(column.scores[row]), column.weight / total)
            for column in spoke
        )
        dropped = tuple(
            (column.name, NO_DATA.get(column.name, "its weight is 0"))
            for column in self._columns
            if column.name not in names
        )
        return Breakdown(float(self.composite[row]), parts, dropped)


def _weighted_mean(count: int, signals: list[SignalColumn]) -> Floats:
    total, weight = np.zeros(count), np.zeros(count)
    for signal in signals:
        speaks = ~np.isnan(signal.scores)
        total += np.where(speaks, signal.scores, 0.0) * signal.weight
        weight += speaks * signal.weight
    return total / np.maximum(weight, 1e-12)
