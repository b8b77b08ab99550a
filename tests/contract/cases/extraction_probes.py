"""What holds back a model that names facts: the texts it may see, and what is made of its words.

Each probe returns whether the harm was done.
"""

from concord_chassis.server.workers import Workers
from concord_dissonance.domain.extraction.by_model import Claim
from concord_dissonance.domain.extraction.candidate import Extracted, Said
from concord_dissonance.usecases.extract_facts import ExtractFacts
from concord_models.budget import Budget, Cost
from concord_testing.daily_cost import Day

ENOUGH = Cost(100, 1_000_000, 1_000_000)
TEXT = Said("Zoe runs the crane at dock 4.")


class _Liar:
    """A model that quotes the text for what it does not say (port `FactModel`)."""

    asked = 0

    async def claims(self, said: Said, budget: Budget) -> list[Claim]:
        del budget
        self.asked += 1
        return [Claim("Mallory", "owns", "all docks", said.text)]

    async def close(self) -> None:
        pass


async def _extracted(space: str) -> tuple[Extracted, _Liar]:
    model, workers = _Liar(), Workers(1, "judges")

    def budget(_: str) -> Budget:
        return Budget(ENOUGH, ENOUGH, Day(), micros_per_1000_tokens=0)

    try:
        extract = ExtractFacts(workers, model, budget, frozenset({"named"}))
        return await extract(space, [TEXT]), model
    finally:
        workers.close()


async def another_space_is_read() -> bool:
    """Take facts from a text of a space that no operator named."""
    _, model = await _extracted("private")
    return bool(model.asked)


async def a_model_makes_a_fact_up() -> bool:
    """Ask a model that names who and what the text does not have."""
    found, _ = await _extracted("named")
    return any(each.subject == "Mallory" for each in found.candidates)
