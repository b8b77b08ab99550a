"""What surfaces by what it shares with a situation (spec S9)."""

import numpy as np
from concord_search.domain.surfacing import AHEAD, ENOUGH, FEWEST, LEAST, surfaces
from search_lab import candidates


def surfacing(*cosines: float, shared: int = 1) -> list[bool]:
    """Which memories of such cosines surface, that share so many concepts and no word."""
    count = len(cosines)
    found = candidates(
        count,
        cosine=np.array(cosines),
        holds=np.zeros((count, 2), dtype=np.bool_),
        shared_concepts=np.full(count, shared),
        all_concepts=np.full(count, 10),
    )
    return [bool(each) for each in surfaces(found)]


def test_enough_evidence_brings_every_memory_that_has_it() -> None:
    """S9 However near the next one is."""
    assert surfacing(ENOUGH + 0.02, ENOUGH + 0.01, ENOUGH - 0.01) == [True, True, False]


def test_less_is_enough_for_what_is_far_ahead_of_the_rest() -> None:
    """S9 Of few it says little to be ahead, and little evidence is none."""
    far, others = LEAST + 0.01, [0.0] * (FEWEST - 2)
    none = [False] * FEWEST

    assert surfacing(far, far - AHEAD - 0.01, *others) == [True, *none[1:]]
    assert surfacing(far, far - AHEAD + 0.01, *others) == none
    assert surfacing(LEAST - 0.01, 0.0, *others) == none
    assert surfacing(far, *others) == none[1:]
    assert surfacing(far, float("nan"), *others) == [True, *none[1:]]
    assert surfacing(*[float("nan")] * FEWEST) == none
    assert surfacing(far, 0.0, *others, shared=0) == none
