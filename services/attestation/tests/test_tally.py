"""How many refused attempts go on record one by one (A1)."""

from __future__ import annotations

import pytest
from concord_attestation import tally
from concord_attestation.tally import HOUR, MOST_TOLD, Tally, Untold

NOON = 500_000 * HOUR  # 2027-01-15T08:00 UTC


def test_the_first_of_an_hour_are_told_and_the_rest_are_counted() -> None:
    """A1 No more than the bound stand there by themselves, and none is lost: what is told and what
    is counted come to all of them."""
    count = Tally("")
    told = [count.is_told("agent", "AGENT", NOON + number) for number in range(MOST_TOLD + 7)]

    assert told == [True] * MOST_TOLD + [False] * 7
    assert count.over(NOON + HOUR - 1) == []
    assert count.over(NOON + HOUR) == [Untold("agent", "AGENT", NOON, 7)]
    assert count.over(NOON + HOUR) == []
    assert count.text == ""


def test_each_principal_and_each_hour_has_a_count_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A1 Nobody's attempts hide another's, nor an hour's the next one's."""
    monkeypatch.setattr(tally, "MOST_TOLD", 1)
    count = Tally("")
    for who in ("agent", "mallory", "agent", "agent"):
        count.is_told(who, "AGENT", NOON)

    assert not count.is_over(NOON + HOUR - 1)
    assert count.is_over(NOON + HOUR)
    assert count.over(NOON + HOUR) == [Untold("agent", "AGENT", NOON, 2)]
    assert count.is_told("agent", "AGENT", NOON + HOUR)
    assert count.is_told("mallory", "AGENT", NOON + HOUR)


def test_what_is_kept_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A1 A restart neither forgets what was not told nor grants the bound anew."""
    monkeypatch.setattr(tally, "MOST_TOLD", 2)
    count = Tally("")
    for _ in range(3):
        count.is_told('ägent "x"', "HUMAN", NOON + 5)

    again = Tally(count.text)

    assert not again.is_told('ägent "x"', "HUMAN", NOON + 6)
    (untold,) = again.over(NOON + HOUR)
    assert untold == Untold('ägent "x"', "HUMAN", NOON, 2)
    assert str(untold) == (
        "2 more refused attempts between 2027-01-15T08:00 and 2027-01-15T09:00 UTC"
    )
