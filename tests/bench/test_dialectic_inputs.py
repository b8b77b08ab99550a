"""What the rules of syntheses were written from stays right (D8)."""

from tests.bench.dialectic_inputs import OWN_INPUTS, read, wrong


def test_own_inputs_stay_right() -> None:
    """D8 Contradiction, region and strategy; the rest of them is known to be missed."""
    inputs = read(OWN_INPUTS)

    assert sum(not [*wrong(each)] for each in inputs) >= 275
