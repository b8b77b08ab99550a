"""Distribution-based score fusion: candidates of several branches on one scale.

Each branch's scores are normalised by three standard deviations around their mean,
(s - (mean - 3σ)) / 6σ, and added up; a branch adds 0 to a candidate that it did not find. The
formula, the sample deviation and the .5 for a branch without spread are those of Qdrant's `dbsf`,
and a test compares the two.
"""

from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from concord_search.domain.candidates import Bools, Floats


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


COMMON = log(5.0)
"""Below this inverse document frequency about a fifth of a space's memories hold a term."""

FEWEST = 10
"""So many candidates must hold a term, before its effect or its spread says anything."""

NARROWEST = 0.4
"""The least width of the scale of words, in weights of the query's heaviest term."""


def apart(cosine: Floats, lexical: Floats, holds: Bools, term_weights: Floats) -> Floats:
    """The fused score, with what common words explain taken out of the meaning; shape (n,).

    Where half of a space is about one person, every memory that names her is near to each question
    that does. So each cosine is taken as its distance from what a linear regression on the common
    terms of the query expects. `lexical` is 0 where the branch of words found nothing; `holds`,
    shape (n, terms), and `term_weights` as in `Candidates`.

    Fewer than `FEWEST` finds of the branch of words have no distribution of their own: one alone
    would get .5, less than the best of those that only look alike. So the others count as 0 there.

    Finds that hold the same terms differ by their lengths alone. Brought to the scale of a whole
    branch, that would put the shortest text about Kenji first, whatever is asked of him: so the
    scale has a least width.
    """
    common = (term_weights < COMMON) & (holds.sum(axis=0) >= FEWEST)
    meaning = _unexplained(cosine, holds[:, common].astype(np.float64))
    found = lexical > 0
    words = np.where(found, lexical, np.nan)
    beside = lexical if found.sum() < FEWEST else lexical[found]
    low, width = scale(beside)
    wide = max(width, NARROWEST * float(term_weights.max(initial=0.0)))
    return fused([meaning, words], [scale(meaning), (low - (wide - width) / 2, wide)])


def _unexplained(values: Floats, columns: Floats) -> Floats:
    """What a linear regression on the columns leaves of the values; shape (n,) and (n, columns)."""
    count = max(len(values), 1)
    apart_from_mean: Floats = values - values.sum() / count
    if not columns.shape[1]:
        return apart_from_mean
    centred = columns - columns.sum(axis=0) / count
    factors, *_ = np.linalg.lstsq(centred, apart_from_mean, rcond=None)
    left: Floats = apart_from_mean - centred @ factors
    return left
