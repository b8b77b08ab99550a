"""Fits how sure the first result is: logits over cheap evidence, and the bounds of the bands."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from concord_search.domain.candidates import Bools, Floats
from concord_search.domain.confidence import COMPARED, Logit, evidence
from concord_search.domain.profiles import Profiles
from concord_search.domain.ranking import Ranking

from tests.fitting.samples import Sample

RIDGE = 0.1
STEPS = 40


@dataclass(frozen=True)
class Margin:
    """The shares for which the bounds of LOW and HIGH are chosen, on conversations left out.

    `together`: of the unanswerable questions about all conversations, so many come out LOW;
    `worst`: of those about each conversation at least so many. Both are above what spec S5
    promises: a bound that just holds for the development data fails for other conversations.
    `high`: of the answerable, so many come out HIGH. `right_low`: of the right results so many may
    come out LOW; where the bound of LOW can be above both for it, it is. What is near to a
    question's topic and answers it not has more evidence than questions about something else.
    """

    together: float
    worst: float
    high: float
    right_low: float = 0.0


MARGINS = {
    "plain": Margin(0.95, 0.90, high=0.25, right_low=0.05),
    "people": Margin(0.97, 0.87, high=0.17),
    "assistant": Margin(0.93, 0.86, high=0.16),
}
"""With more of a margin too many right results of chats come out LOW: .128 at .94."""


def first_result(sample: Sample, profiles: Profiles) -> tuple[dict[str, float], bool]:
    """The evidence for the first result of a question, and whether it is right."""
    ranking = Ranking(sample.found, sample.facts, profiles)
    rows = ranking.order[:COMPARED].tolist()
    found = evidence(sample.found, ranking.scores, ranking.composite, rows)
    return {name: float(values[0]) for name, values in found.items()}, bool(sample.right[rows[0]])


def fit(
    evidence_: Sequence[dict[str, float]],
    wanted: Sequence[bool],
    names: Sequence[str],
    counts: Floats,
) -> Logit:
    """The coefficients of the evidence `names`, by Newton's method.

    `counts`, shape (rows,): how often each row counts.
    """
    table = np.array([[each[name] for name in names] for each in evidence_])
    mean, scale = table.mean(axis=0), table.std(axis=0) + 1e-6
    scaled = np.hstack([(table - mean) / scale, np.ones((len(table), 1))])
    shares = counts / counts.sum()
    fitted = np.zeros(len(names) + 1)
    penalty = np.diag([RIDGE] * len(names) + [1e-9])
    for _ in range(STEPS):
        said = 1 / (1 + np.exp(-scaled @ fitted))
        slope = scaled.T @ (shares * (said - np.array(wanted))) + penalty @ fitted
        bend = (scaled * (shares * said * (1 - said))[:, None]).T @ scaled + penalty
        fitted -= np.linalg.solve(bend, slope)
    by_name = fitted[:-1] / scale
    intercept = float(fitted[-1] - by_name @ mean)
    return Logit(intercept, dict(zip(names, by_name.tolist(), strict=True)))


def low_bound(said: Floats, share: float) -> float:
    """Below which a result is LOW: a share of these, by conversations left out."""
    return round(float(np.quantile(said, share)), 4)


def high_bound(said: Floats, answerable: Bools, share: float) -> float:
    """From which a result is HIGH: a share of the answerable, by conversations left out."""
    return round(float(np.quantile(said[answerable], 1 - share)), 4)
