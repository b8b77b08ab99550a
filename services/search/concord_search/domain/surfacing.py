"""Which memories are near enough to a situation to surface without anyone asking (spec S9).

    evidence = cosine + WORD · (weight of the shared terms) / (weight of a term of one memory)

A question holds little but what it asks for, so that the share of its terms says how well a memory
answers. Of what somebody says at work most is beside the point: here it counts how much is shared,
whatever else is said. A stated fact's words are among a memory's terms.

How near a text of the right topic comes depends on the kind of text: code and what is not English
have low cosines, or high ones with everything. So less is enough where it is far ahead of the rest.
"""

import numpy as np

from concord_search.domain.candidates import Bools, Candidates
from concord_search.domain.signals import overlap

STRONG_OVERLAP = 0.5
"""A memory surfaces if it shares at least so many concepts (Jaccard, S5)."""

WORD, ENOUGH = 0.10, 0.65
"""What a shared rare word adds to the cosine, and how much evidence a memory needs. By hand, in the
middle of the gap between what was useful and what was not: `python -m tests.bench suggesting`."""

LEAST, AHEAD = 0.45, 0.20
"""How much evidence is enough for a memory that is so far ahead of every other one. By hand, too;
.40 to .55 and .15 to .20 bring within three of forty snippets the same."""

FEWEST = 10
"""To be ahead of fewer candidates says little."""


def surfaces(found: Candidates) -> Bools:
    """Which candidates surface by what they share with a situation; none without a concept."""
    words = found.holds @ found.term_weights / found.rarest
    # Without a cosine, nothing is near.
    evidence = np.nan_to_num(found.cosine, nan=-1e9) + WORD * words
    near = evidence >= ENOUGH
    if len(evidence) >= FEWEST:
        second, first = np.sort(evidence)[-2:]
        near |= (evidence == first) & (first >= LEAST) & (first - second >= AHEAD)
    shares: Bools = (found.shared_concepts > 0) & (near | (overlap(found) >= STRONG_OVERLAP))
    return shares
