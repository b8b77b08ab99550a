"""How votes move the constitutive weight (spec S7)."""

import random

import pytest
from concord_search.domain.calibration import (
    HIGHEST,
    LOWEST,
    STEP,
    Votes,
    capped,
    proposed,
    wilson_low,
)


def votes(
    who: str, first: tuple[int, int], others: tuple[int, int], weight: float = 2.0
) -> list[Votes]:
    """One principal's votes: (helpful, unhelpful) of constitutive-first replies and of others."""
    return [Votes(who, weight, True, *first), Votes(who, weight, False, *others)]


@pytest.mark.parametrize(
    ("first", "others", "expected"),
    [
        ((18, 2), (10, 10), 2.25),
        ((10, 10), (18, 2), 1.75),
        ((12, 8), (11, 9), 2.0),  # five points
        ((11, 9), (9, 11), 2.25),  # just ten
        ((9, 0), (0, 20), 2.0),  # nine votes of a kind are too few
    ],
)
def test_the_weight_follows_which_replies_helped(
    first: tuple[int, int], others: tuple[int, int], expected: float
) -> None:
    """S7 Ten points apart, ten votes each."""
    both = [*votes("ada", first, others), *votes("bob", first, others)]
    halved = [Votes(v.principal, v.weight, v.constitutive_first, v.helpful / 2, v.unhelpful / 2)
              for v in both]  # fmt: skip

    assert proposed(2.0, halved).weight == expected


def test_of_several_weights_the_best_by_its_lower_bound_draws() -> None:
    """S7 Ten of ten are less sure than 95 of 100; a move is at most .25."""
    used = [
        *[Votes(who, 3.0, True, 47.5, 2.5) for who in ("ada", "bob")],
        *[Votes(who, 1.5, True, 5, 0) for who in ("ada", "bob")],
    ]

    assert wilson_low(95, 100) > wilson_low(10, 10)
    assert proposed(2.0, used).weight == 2.25
    assert proposed(2.9, used).weight == 3.0


def test_one_principal_alone_moves_nothing_but_by_hand() -> None:
    """S7 With one voter only a call of Recalibrate counts its votes."""
    alone = votes("ada", (40, 0), (0, 40))

    assert proposed(2.0, alone).weight == 2.0
    assert proposed(2.0, alone, by_hand=True).weight == 2.25


@pytest.mark.parametrize("seed", range(50))
def test_no_principal_counts_for_more_than_half_and_no_vote_moves_far(seed: int) -> None:
    """S7 Whoever votes however often: the share, the step and the bounds."""
    chance = random.Random(seed)
    cast = [
        Votes(f"p{chance.randint(0, 3)}", chance.choice([1.5, 2.0, 2.25]), chance.random() < 0.5,
              chance.randint(0, 200), chance.randint(0, 200))
        for _ in range(chance.randint(1, 12))
    ]  # fmt: skip
    current = chance.uniform(LOWEST, HIGHEST)

    counted = capped(cast)

    everything = sum(each.total for each in counted)
    for who in {each.principal for each in counted}:
        own = sum(each.total for each in counted if each.principal == who)
        assert own <= everything / 2 + 1e-9
    moved = proposed(current, cast).weight
    assert abs(moved - current) <= STEP + 1e-9
    assert LOWEST <= moved <= HIGHEST
