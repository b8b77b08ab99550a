"""Distribution-based score fusion: candidates of several branches on one scale.

Each branch's scores are normalised by three standard deviations around their mean,
(s - (mean - 3σ)) / 6σ, and added up; a branch adds 0 to a candidate that it did not find. The
formula, the sample deviation and the .5 for a branch without spread are those of Qdrant's `dbsf`,
and a test compares the two.
"""

import numpy as np

from concord_search.domain.candidates import Floats


def scale(scores: Floats) -> tuple[float, float]:
    """(low, width) of a branch's scale: (score - low) / width is the normalised score."""
    deviation = float(scores.std(ddof=1)) if len(scores) > 1 else 0.0
    if deviation == 0.0:
        return (float(scores[0]) if len(scores) else 0.0) - 0.5, 1.0
    return float(scores.mean()) - 3 * deviation, 6 * deviation


def normalised(scores: Floats) -> Floats:
    """Normalises the scores of one branch, shape (n,), by their own distribution."""
    low, width = scale(scores)
    return (scores - low) / width


def fused(count: int, branches: list[tuple[np.ndarray, Floats]]) -> Floats:
    """The sum of the branches' normalised scores, shape (count,); a branch: (rows, scores)."""
    total = np.zeros(count)
    for rows, scores in branches:
        total[rows] += normalised(scores)
    return total
