"""How sure a result is: a calibrated probability that it holds what was asked for (spec S5).

    logit = intercept + sum over evidence of  coefficient · value

The evidence is cheap: nothing is read beyond what the ranking read. Coefficients and the bounds of
the bands were fitted on questions that their conversation answers, and on the same questions asked
of one that does not: see services/decisions/0045.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from concord_search.domain.candidates import Candidates, Floats
from concord_search.domain.context import fusion, share


class Band(Enum):
    """How sure a result is."""

    UNKNOWN = "unknown"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


COMPARED = 10
"""A result is compared with the others of the first so many."""

RAREST = 2
"""So many of the query's rarest terms are looked for by themselves."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """A calibration: `coefficients` by the names that `evidence` gives.

    From `high` on a result is called HIGH, below `low` LOW.
    """

    intercept: float
    coefficients: Mapping[str, float]
    low: float
    high: float

    def band(self, probability: float) -> Band:
        """The band of a result."""
        if probability >= self.high:
            return Band.HIGH
        return Band.LOW if probability < self.low else Band.MEDIUM

    def probability(self, evidence: Mapping[str, Floats]) -> Floats:
        """In [0, 1], for every row of the evidence."""
        logits = sum(
            (weight * evidence[name] for name, weight in self.coefficients.items()),
            np.full(len(next(iter(evidence.values()))), self.intercept),
        )
        return 1 / (1 + np.exp(-np.clip(logits, -50.0, 50.0)))


def evidence(found: Candidates, composite: Floats, rows: list[int]) -> Mapping[str, Floats]:
    """What speaks for and against some candidates, by name; `rows` are the best, best first."""
    every = {
        "coverage": share(found, found.holds),
        "window_coverage": share(found, found.talk.window),
        "cosine": found.cosine,
        "fusion": fusion(found),
        "composite": composite,
    }
    best = {name: values[rows] for name, values in every.items()}
    known = float(found.term_weights @ found.known_terms)
    total = max(float(found.term_weights.sum()), 1e-9)
    return {
        **best,
        "coverage_cosine": best["coverage"] * best["cosine"],
        **{f"{name}_margin": _lead(best[name], 1) for name in ("coverage", "cosine", "composite")},
        "composite_lead": _lead(best["composite"], 3),
        "held": found.holds[rows] @ found.term_weights,
        "missing": (~found.holds[rows] * found.term_weights).max(axis=1, initial=0.0),
        "rarest": rarest(found)[rows],
        "rarest_around": _rarest(found, found.talk.window)[rows],
        "known": np.full(len(rows), known / total),
        "asks": found.talk.asks[rows].astype(np.float64),
        "length": np.log1p(found.lengths[rows]),
        "terms": np.full(len(rows), np.log1p(len(found.term_weights))),
    }


def rarest(found: Candidates) -> Floats:
    """The share of the query's rarest terms that each candidate holds."""
    return _rarest(found, found.holds)


def _rarest(found: Candidates, held: np.ndarray) -> Floats:
    if not len(found.term_weights):
        return np.zeros(len(found))
    terms = np.argsort(-found.term_weights, kind="stable")[:RAREST]
    shares: Floats = held[:, terms].mean(axis=1)
    return shares


def _lead(values: Floats, others: int) -> Floats:
    """How far each is above the mean of the best `others` beside it among the first."""
    best = np.sort(values[:COMPARED])[::-1][: others + 1]
    if len(best) < 2:
        return np.zeros(len(values))
    # one of the best is compared with the rest of these, another with all but the last
    of_best = (best.sum() - values) / (len(best) - 1)
    lead: Floats = values - np.where(values >= best[-1], of_best, best[:others].mean())
    return lead
