"""Fits how sure the first result is: logistic regression on cheap evidence, and bounds of bands."""

from collections.abc import Sequence

import numpy as np
from concord_search.domain.candidates import Floats
from concord_search.domain.confidence import COMPARED, Confidence, evidence
from concord_search.domain.profiles import Profiles
from concord_search.domain.ranking import Ranking

from tests.fitting.samples import Sample

RIDGE = 0.3
STEPS = 40
UNANSWERABLE_LOW = 0.92
ANSWERABLE_HIGH = 0.16
"""Shares for which the bounds are chosen, on conversations left out."""


def first_result(sample: Sample, profiles: Profiles) -> tuple[dict[str, float], bool]:
    """The evidence for the first result of a question, and whether it is right."""
    ranking = Ranking(sample.found, sample.facts, profiles)
    rows = ranking.order[:COMPARED].tolist()
    found = evidence(sample.found, ranking.composite, rows)
    return {name: float(values[0]) for name, values in found.items()}, bool(sample.right[rows[0]])


def fit(
    evidence_: Sequence[dict[str, float]], right: Sequence[bool], left_out: frozenset[str]
) -> Confidence:
    """The coefficients, by Newton's method; right and wrong weigh as often as they occur.

    `left_out`: evidence that is not looked at.
    """
    names = [name for name in evidence_[0] if name not in left_out]
    table = np.array([[each[name] for name in names] for each in evidence_])
    mean, scale = table.mean(axis=0), table.std(axis=0) + 1e-6
    scaled = np.hstack([(table - mean) / scale, np.ones((len(table), 1))])
    wanted = np.array(right, dtype=np.float64)
    fitted = np.zeros(len(names) + 1)
    penalty = np.diag([RIDGE] * len(names) + [1e-9])
    for _ in range(STEPS):
        said = 1 / (1 + np.exp(-scaled @ fitted))
        slope = scaled.T @ (said - wanted) / len(wanted) + penalty @ fitted
        bend = (scaled * (said * (1 - said))[:, None]).T @ scaled / len(wanted) + penalty
        fitted -= np.linalg.solve(bend, slope)
    by_name = fitted[:-1] / scale
    intercept = float(fitted[-1] - by_name @ mean)
    return Confidence(intercept, dict(zip(names, by_name.tolist(), strict=True)), 0.0, 1.0)


def bounds(said: Floats, answerable: np.ndarray) -> tuple[float, float]:
    """Below which a result is LOW, and from which HIGH, by probabilities of results left out."""
    low = float(np.quantile(said[~answerable], UNANSWERABLE_LOW))
    high = float(np.quantile(said[answerable], 1 - ANSWERABLE_HIGH))
    return round(low, 4), round(max(low, high), 4)
