"""Which memories are near enough to a situation to surface without anyone asking (spec S9).

    evidence = cosine + WORD · (weight of the shared terms) / (weight of a term of one memory)

A question holds little but what it asks for, so that the share of its terms says how well a memory
answers. Of what somebody says at work most is beside the point: here it counts how much is shared,
whatever else is said. A stated fact's words are among a memory's terms.
"""

from concord_search.domain.candidates import Bools, Candidates
from concord_search.domain.signals import overlap

STRONG_OVERLAP = 0.5
"""A memory surfaces if it shares at least so many concepts (Jaccard, S5)."""

WORD, ENOUGH = 0.10, 0.65
"""What a shared rare word adds to the cosine, and how much evidence a memory needs. By hand, in the
middle of the gap between what was useful and what was not: `python -m tests.bench suggesting`."""


def surfaces(found: Candidates) -> Bools:
    """Which candidates surface by what they share with a situation; none without a concept."""
    words = found.holds @ found.term_weights / found.rarest
    # Without a cosine, nothing is near: a comparison with NaN is False.
    near = found.cosine + WORD * words >= ENOUGH
    shares: Bools = (found.shared_concepts > 0) & (near | (overlap(found) >= STRONG_OVERLAP))
    return shares
