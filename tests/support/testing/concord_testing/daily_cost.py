"""A day's cost of asking models, in memory."""

from concord_models.budget import Cost


class Day:
    """The cost of today (port `DailyCost`)."""

    def __init__(self) -> None:
        self.cost = Cost()

    async def add(self, cost: Cost, limit: Cost | None = None) -> bool:
        """Adds a cost, unless the sum would exceed the limit."""
        if limit is not None and not (self.cost + cost).within(limit):
            return False
        self.cost += cost
        return True
