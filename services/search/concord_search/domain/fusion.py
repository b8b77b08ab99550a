"""Distribution-based score fusion: candidates of several branches on one scale.

Each branch's scores are normalised by three standard deviations around their mean,
(s - (mean - 3σ)) / 6σ, and added up; a branch adds 0 to a candidate that it did not find. The
formula, the sample deviation and the .5 for a branch without spread are those of Qdrant's `dbsf`,
and a test compares the two.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from concord_search.domain.candidates import Floats


def scale(scores: Floats) -> tuple[float, float]:
    """(low, width) of a branch's scale: (score - low) / width is the normalised score."""
    mean = float(scores.sum()) / max(len(scores), 1)
    apart = scores - mean
    deviation = sqrt(float(apart @ apart) / max(len(scores) - 1, 1))
    if deviation == 0.0:
        return mean - 0.5, 1.0
    return mean - 3 * deviation, 6 * deviation


def fused(branches: Sequence[Floats], scales: Sequence[tuple[float, float]]) -> Floats:
    """The sum of the branches' normalised scores, each by its scale; all of shape (n,).

    A branch has NaN in place of a candidate that it did not find; one without a scale found none.
    """
    total = np.zeros(len(branches[0]))
    for scores, (low, width) in zip(branches, scales, strict=False):
        total += np.where(np.isnan(scores), 0.0, (scores - low) / width)
    return total
