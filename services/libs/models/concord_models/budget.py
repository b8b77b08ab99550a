"""Budgets for calls of models: calls, tokens and money, for one request and for a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls, tokens, and money in millionths of the price's currency."""

    calls: int = 0
    tokens: int = 0
    micros: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls, self.tokens + other.tokens, self.micros + other.micros
        )

    def __neg__(self) -> Cost:
        return Cost(-self.calls, -self.tokens, -self.micros)

    def within(self, limit: Cost) -> bool:
        """Return whether no part exceeds the limit's."""
        return (
            self.calls <= limit.calls
            and self.tokens <= limit.tokens
            and self.micros <= limit.micros
        )


class BudgetSpent(Exception):
    """The next question would exceed the budget of the request or of the day."""


class DailyCost(Protocol):
    """The cost of today (UTC), stored where it outlives this process."""

    async def add(self, cost: Cost, limit: Cost | None = None) -> bool:
        """Add to today's cost, unless the sum would exceed the limit; one atomic step."""
        ...


class Meter:
    """The cost of this process since its start, reserved estimates included: settling a question
    replaces its estimate by the counted cost."""

    def __init__(self) -> None:
        self.spent = Cost()

    def of(self, daily: DailyCost) -> DailyCost:
        """Return a view of the daily cost that also counts additions here."""
        return _Metered(daily, self)


class _Metered:
    def __init__(self, daily: DailyCost, meter: Meter) -> None:
        self._daily, self._meter = daily, meter

    async def add(self, cost: Cost, limit: Cost | None = None) -> bool:
        added = await self._daily.add(cost, limit)
        if added:
            self._meter.spent += cost
        return added


class Budget:
    """The budget of one request, within that of its day.

    Each question reserves its estimated cost before it is asked, and settles the counted cost,
    which may be more: a limit is exceeded at most by the last question's excess.
    """

    def __init__(
        self, request: Cost, day: Cost, daily: DailyCost, *, micros_per_1000_tokens: int
    ) -> None:
        self._request, self._day, self._daily = request, day, daily
        self._price = micros_per_1000_tokens
        self.spent = Cost()
        """The cost of this request, reserved estimates included."""

    async def reserve(self, tokens: int) -> Cost:
        """Take a question's estimated cost. Raises `BudgetSpent`: nothing was taken."""
        asked = self.cost(tokens)
        await self.take(asked)
        return asked

    async def take(self, cost: Cost) -> None:
        """Take the estimated cost of several questions. Raises `BudgetSpent`: nothing was taken."""
        if not (self.spent + cost).within(self._request):
            raise BudgetSpent("the budget of this request is spent")
        self.spent += cost
        if not await self._daily.add(cost, self._day):
            self.spent += -cost
            raise BudgetSpent("the budget of this day is spent")

    async def settle(self, reserved: Cost, tokens: int, calls: int = 1) -> None:
        """Replace an estimate by the counted cost; 0 `tokens` leave the estimate's number."""
        took = self.cost(tokens or reserved.tokens)
        await self.correct(reserved, took + Cost(calls - 1))

    async def correct(self, reserved: Cost, took: Cost) -> None:
        """Replace an estimate by a cost."""
        if (difference := took + -reserved) != Cost():
            self.spent += difference
            await self._daily.add(difference)

    def cost(self, tokens: int) -> Cost:
        """Return the cost of a question of so many tokens."""
        return question_cost(tokens, self._price)


def question_cost(tokens: int, micros_per_1000_tokens: int) -> Cost:
    """Return the cost of one question of so many tokens."""
    return Cost(1, tokens, -(-tokens * micros_per_1000_tokens // 1000))
