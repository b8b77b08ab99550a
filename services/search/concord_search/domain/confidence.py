"""Confidence bands: calibrated probabilities that memory can answer, and that a result does (S5).

    logit = intercept + sum over evidence of  coefficient · value

Two questions, two logits: LOW says that probably no memory answers, HIGH that this result does. The
evidence differs: how near any candidate comes, and how far this result stands out. All evidence
comes from the ranking; nothing else is read. Coefficients and bounds of the bands are in
`fitted.json` (see `profiles`). They were fitted on questions asked of the conversation that answers
them, and of conversations that do not: see services/decisions/0070.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from concord_search.domain.candidates import Candidates, Floats


class Band(Enum):
    """How sure a result is, by the contract's names; UNKNOWN if nothing was found."""

    UNKNOWN = "unknown"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


COMPARED = 10
"""A result is compared with so many of the best results."""

RAREST = 2
"""So many of the query's rarest terms are looked for separately."""


SHARPNESS = 25.0, 50.0
"""Factors of the two softmaxes over the composites of all candidates. The ranking's weights were
fitted in a softmax with factors from 16 to 24; twice that compares with the runners-up alone."""


@dataclass(frozen=True, slots=True)
class Logit:
    """A logistic regression: `coefficients` by the names of `evidence`."""

    intercept: float
    coefficients: Mapping[str, float]

    def probability(self, evidence: Mapping[str, Floats]) -> Floats:
        """The probability, in [0, 1], for every row of the evidence."""
        weights = np.array([*self.coefficients.values()])
        logits = self.intercept + weights @ np.array([evidence[name] for name in self.coefficients])
        probability: Floats = 1 / (1 + np.exp(-np.clip(logits, -50.0, 50.0)))
        return probability


@dataclass(frozen=True, slots=True)
class Confidence:
    """Two fitted probabilities: that the memory can answer, and that a result is right.

    A result is LOW if `answerable` is below `low`, else HIGH if `right` is at least `high`.
    """

    answerable: Logit
    right: Logit
    low: float
    high: float

    def bands(self, evidence: Mapping[str, Floats]) -> list[Band]:
        """The band of every row of the evidence."""
        low = self.answerable.probability(evidence) < self.low
        high = self.right.probability(evidence) >= self.high
        return [
            Band.LOW if is_low else Band.HIGH if is_high else Band.MEDIUM
            for is_low, is_high in zip(low.tolist(), high.tolist(), strict=True)
        ]


def evidence(
    found: Candidates, scores: Mapping[str, Floats], composite: Floats, rows: list[int]
) -> Mapping[str, Floats]:
    """The evidence for the candidates in `rows`, by name; each array has one value a row.

    `rows`: the best candidates, best first. `scores`: all candidates' signals, NaN without data.
    `composite`: all candidates' composite scores.
    """
    coverage = np.fmax(scores["lexical"], 0.0)
    cosine, first = np.nan_to_num(found.cosine), rows[:COMPARED]
    of_all = {
        "best_cosine": cosine.max(),
        "mean_cosine": cosine[first].sum() / len(first),
        "best_coverage": coverage.max(),
        "mean_coverage": coverage[first].sum() / len(first),
        "best_concepts": np.log1p(found.shared_concepts.max()),
    }
    stands_out, beats_next = (_softmax(composite * each)[rows] for each in SHARPNESS)
    return {
        **{name: np.full(len(rows), float(value)) for name, value in of_all.items()},
        "cosine": cosine[rows],
        "composite": composite[rows],
        "coverage_cosine": coverage[rows] * cosine[rows],
        "stands_out": stands_out,
        "beats_next": beats_next,
        "composite_lead": _lead(composite[rows], 3),
        "held": found.holds[rows] @ found.term_weights,
        "lexical": found.lexical[rows],
        "ranks": _log_rank(cosine, rows) + _log_rank(found.lexical, rows),
        "says_when": np.fmax(scores["says_when"][rows], 0.0),
    }


def _softmax(values: Floats) -> Floats:
    raised: Floats = np.exp(values - values.max())
    shares: Floats = raised / raised.sum()
    return shares


def _log_rank(values: Floats, rows: list[int]) -> Floats:
    """log(1 + number of candidates with a higher value), for each row."""
    above: Floats = np.log1p(len(values) - np.searchsorted(np.sort(values), values[rows], "right"))
    return above


def rarest(found: Candidates) -> Floats:
    """The share of the query's rarest terms that each candidate holds."""
    if not len(found.term_weights):
        return np.zeros(len(found))
    terms = np.argsort(-found.term_weights, kind="stable")[:RAREST]
    shares: Floats = found.holds[:, terms].sum(axis=1) / len(terms)
    return shares


def _lead(values: Floats, others: int) -> Floats:
    """How far each value is above the mean of the best `others` other ones."""
    best = np.sort(values[:COMPARED])[::-1][: others + 1]
    if len(best) < 2:
        return np.zeros(len(values))
    # a value among the best is compared with the rest of them, any other with all but the last
    of_best = (best.sum() - values) / (len(best) - 1)
    lead: Floats = values - np.where(values >= best[-1], of_best, best[:others].mean())
    return lead
