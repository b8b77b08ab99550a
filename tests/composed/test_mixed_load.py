"""Random containers of the composed system, killed while agents write, decide and search."""

import asyncio
import os
import random
from collections import Counter

import pytest

from tests.composed.mixed_load import demand_whole, governed_space, in_use
from tests.composed.using import CONTAINERS, compose, folder, system, until_serving
from tests.e2e.running_system import fresh_spaces

pytestmark = pytest.mark.compose

KILLS = int(os.environ.get("CONCORD_KILLS_COMPOSED", "5"))
QUIET_WITHIN = 300.0
"""Seconds until the index has followed, and decisions of before have their end."""


@pytest.mark.timeout(0)
async def test_random_kills_under_mixed_load() -> None:
    """Must hold: nothing acknowledged is lost, nothing unauthorised is there, the index equals
    graph after quiet, and every proposal is in a lawful state."""
    at, seed = system(), random.randrange(1 << 30)
    draw, killed = random.Random(seed), Counter[str]()
    async with governed_space(await fresh_spaces(folder())) as space:
        async with in_use(space):
            for _ in range(KILLS):
                await asyncio.sleep(draw.uniform(0.2, 5.0))
                container = draw.choice(CONTAINERS)
                killed[container] += 1
                await compose("kill", "--signal", "KILL", container)
                await compose("start", container)
                await until_serving(at)
        findings = await demand_whole(space, QUIET_WITHIN)
    print(
        f"{killed.total()} kills ({dict(killed)}, seed {seed}): {len(space.memories)} memories and "
        f"{len(space.values)} values acknowledged, {findings} executed in the log, "
        f"{space.searches} searches, refused {dict(space.refused)}"
    )
