"""Distribution-based score fusion: candidates of several branches on one scale.

Each branch's scores are normalised by three standard deviations around their mean,
(s - (mean - 3σ)) / 6σ, and added up; a candidate that a branch did not find adds nothing for it.
The formula, the sample deviation and the .5 for a branch without spread are those of Qdrant's
`dbsf`, and a test holds the two together.
"""

import numpy as np

from concord_search.domain.candidates import Floats


def scale(scores: Floats) -> tuple[float, float]:
    """Where a branch's scale begins, and how wide it is: (score - low) / width is its part."""
    deviation = float(scores.std(ddof=1)) if len(scores) > 1 else 0.0
    if deviation == 0.0:
        return (float(scores[0]) if len(scores) else 0.0) - 0.5, 1.0
    return float(scores.mean()) - 3 * deviation, 6 * deviation


def normalised(scores: Floats) -> Floats:
    """Scales the scores of one branch, shape (n,), by their own distribution."""
    low, width = scale(scores)
    return (scores - low) / width


def fused(count: int, branches: list[tuple[np.ndarray, Floats]]) -> Floats:
    """Adds up branches, each (rows it found, their scores), over `count` candidates."""
    total = np.zeros(count)
    for rows, scores in branches:
        total[rows] += normalised(scores)
    return total
