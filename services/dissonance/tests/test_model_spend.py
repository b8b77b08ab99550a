"""What calls of models cost a space on a day."""

from concord_dissonance.domain.model_spend import MOST_SPENDS, added
from concord_models.budget import Cost

LIMIT = Cost(calls=3, tokens=1000, micros=50)


def sums(calls: int, tokens: int, micros: int) -> dict[str, int]:
    """The sums of a day, as they are stored."""
    return {"calls": calls, "tokens": tokens, "micros": micros}


def test_no_sum_passes_its_limit_or_falls_below_nothing() -> None:
    """D11 A refused cost adds nothing; what was not used is given back."""
    day = {"day": "d", "sums": sums(3, 30, 30)}

    assert added(day, "d", Cost(micros=21), LIMIT, "s") == (False, None)
    assert added(day, "d", Cost(micros=20), LIMIT, "s") == (
        True,
        {"day": "d", "sums": sums(3, 30, 50), "spend_ids": ["s"]},
    )
    is_added, stored = added(day, "d", Cost(tokens=-5, micros=-99), None, "s")
    assert is_added
    assert stored is not None
    assert stored["sums"] == sums(3, 25, 0)


def test_a_day_begins_with_nothing_spent() -> None:
    """D11 Of another day, neither the sums nor the ids count."""
    full = {"day": "d", "sums": sums(3, 30, 30), "spend_ids": ["s"]}

    assert added(full, "e", Cost(calls=1), LIMIT, "s") == (
        True,
        {"day": "e", "sums": sums(1, 0, 0), "spend_ids": ["s"]},
    )


def test_a_spend_that_is_sent_again_is_added_once() -> None:
    """D11 A call whose reply was lost costs once, also the one that reached the limit."""
    _, full = added({}, "d", Cost(calls=3), LIMIT, "s1")

    assert full is not None
    assert added(full, "d", Cost(calls=3), LIMIT, "s1") == (True, None)
    assert added(full, "d", Cost(calls=1), LIMIT, "s2") == (False, None)
    many = {**full, "spend_ids": [str(number) for number in range(MOST_SPENDS)]}
    _, later = added(many, "d", Cost(), None, "last")
    assert later is not None
    assert later["spend_ids"] == [*map(str, range(1, MOST_SPENDS)), "last"]
