"""What no writer may do to another's memories, on an untouched `concord up` (W8, W9).

Its keys are those that `concord up` makes: a person's, agents', a tool's; the tools for agents use
an agent's. The cost of the guard is measured on graph alone.
"""

from collections.abc import AsyncIterator

from concord_testing.up_process import spawned

from tests.bench.governance import attacking, correcting, cost, retelling
from tests.bench.governance.world import material
from tests.bench.run import Run
from tests.bench.table import Row


async def bench(run: Run) -> AsyncIterator[Row]:
    """The rows of the table."""
    lines = material(run.size(1, 10))
    with spawned(run.folder / "data") as system:
        async for row in attacking.bench(system, lines, attacking.MEMORIES[: run.size(3, 1)]):
            yield row
        async for row in correcting.bench(system, lines):
            yield row
        async for row in retelling.bench(system, lines, run.size(200, 10)):
            yield row
    async for row in cost.bench(run):
        yield row
