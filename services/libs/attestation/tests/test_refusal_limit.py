"""How many refused attempts go on record, and until when the rest is refused (A1)."""

import pytest
from concord_attestation import refusal_limit
from concord_attestation.refusal_limit import HOUR, MOST_REFUSALS, RefusalLimit

NOON = 12 * HOUR


def test_a_thousand_attempts_of_an_hour_are_entries() -> None:
    """A1 The last of them is followed by the entry that tells of the limit, and by no other."""
    limit = RefusalLimit()

    told = [limit.entries("s", "mallory", NOON + n) for n in range(MOST_REFUSALS + 2)]

    assert MOST_REFUSALS == 1_000
    assert told == [(True, False)] * 999 + [(True, True)] + [(False, False)] * 2


def test_the_writes_of_one_principal_wait_for_the_end_of_the_hour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A1 Of that principal, in that space; the next hour begins anew."""
    monkeypatch.setattr(refusal_limit, "MOST_REFUSALS", 2)
    limit = RefusalLimit()
    limit.entries("s", "mallory", NOON)
    assert limit.wait("s", "mallory", NOON) == 0
    limit.entries("s", "mallory", NOON + 1)
    limit.entries("s", "ada", NOON + 1)

    late = NOON + HOUR - 1_500_000
    assert limit.wait("s", "mallory", late) == 1.5
    assert limit.wait("t", "mallory", late) == limit.wait("s", "ada", late) == 0
    assert limit.wait("s", "mallory", NOON + HOUR + 1) == 0
    assert limit.entries("s", "mallory", NOON + HOUR) == (True, False)


def test_a_clock_that_steps_back_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A1 The counts of the newest hour stay, even if the clock goes back later."""
    monkeypatch.setattr(refusal_limit, "MOST_REFUSALS", 1)
    limit = RefusalLimit()
    limit.entries("s", "mallory", NOON)

    assert limit.wait("s", "mallory", NOON - 1) > 0
