"""What asking models may cost: for one request, and for a day."""

import asyncio

import pytest
from concord_models.budget import Budget, BudgetSpent, Cost, Meter
from concord_testing.daily_cost import Day

MANY = Cost(1_000_000, 1_000_000_000, 1_000_000_000)


def budget(day: Day, *, request: Cost = MANY, of_day: Cost = MANY) -> Budget:
    """A budget at two millionths a token."""
    return Budget(request, of_day, day, micros_per_1000_tokens=2000)


@pytest.mark.parametrize(
    "limit", [Cost(2, 1000, 9999), Cost(9, 250, 9999), Cost(9, 1000, 500)], ids=repr
)
@pytest.mark.parametrize("whose", ["request", "of_day"])
async def test_no_question_goes_beyond_a_limit(limit: Cost, whose: str) -> None:
    """D11 Calls, tokens and money each end the asking, of a request and of a day."""
    day = Day()
    asking = budget(day, **{whose: limit})
    await asking.reserve(100)
    await asking.reserve(100)
    with pytest.raises(BudgetSpent, match=whose.removeprefix("of_")):
        await asking.reserve(100)

    assert asking.spent == day.cost == Cost(2, 200, 400)


async def test_a_meter_counts_what_every_day_took() -> None:
    """D11 W6 For figures: the meter has corrections, too, and no refused question."""
    meter, days = Meter(), [Day(), Day()]
    first, second = (Budget(MANY, MANY, meter.of(day), micros_per_1000_tokens=2000) for day in days)
    await first.settle(await first.reserve(100), 80)
    await second.reserve(10)
    spent = Budget(MANY, Cost(), meter.of(days[0]), micros_per_1000_tokens=2000)
    with pytest.raises(BudgetSpent):
        await spent.reserve(1)

    assert meter.spent == Cost(2, 90, 180)


async def test_the_day_counts_what_was_counted_and_outlives_a_request() -> None:
    """D11 The endpoint's count replaces the estimate; the next request finds the day's sum."""
    day = Day()
    first = budget(day)
    await first.settle(await first.reserve(100), 80)
    await first.settle(await first.reserve(100), 0)

    assert first.spent == day.cost == Cost(2, 180, 360)
    with pytest.raises(BudgetSpent, match="day"):
        await budget(day, of_day=Cost(2, 9999, 9999)).reserve(1)
    assert day.cost == Cost(2, 180, 360)


async def test_questions_at_once_share_one_budget() -> None:
    """D11 Of twenty concurrent questions, only as many as the day allows are asked."""
    day = Day()
    asking = [budget(day, of_day=Cost(5, 9999, 9999)) for _ in range(20)]
    said = await asyncio.gather(*(one.reserve(1) for one in asking), return_exceptions=True)

    assert sum(isinstance(one, Cost) for one in said) <= 5
    assert day.cost.calls == sum(isinstance(one, Cost) for one in said)
