"""The load generator: it measures what a user waits, and loses no call from its counts."""

import argparse
import asyncio
import random
from itertools import pairwise
from pathlib import Path

import grpc
import pytest
from concord_client.refusal import Refused

from tests.load.__main__ import report, run
from tests.load.system import up
from tests.load.traffic import Arrival, play, poisson


async def test_a_slow_system_does_not_hold_arrivals_back() -> None:
    """W10 Calls that arrive while the system stands still wait from their arrival, not from the
    reply before: a closed loop would have measured one slow call and nineteen fast ones."""
    free_at = asyncio.get_running_loop().time() + 0.4

    async def call() -> None:
        await asyncio.sleep(max(0.0, free_at - asyncio.get_running_loop().time()))

    found = await play([Arrival(number * 0.01, "search", call) for number in range(20)])

    assert found.answered == found.offered == 20
    assert found.at("search", 50) > 200
    assert found.stalls == 1
    assert found.longest_gap > 0.3


async def test_each_call_is_counted_once() -> None:
    """W10 Refusals are counted apart from failures, each by its reason, and no call is in two."""

    async def done() -> None:
        pass

    async def refused() -> None:
        raise Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED", "Too many.")

    async def failed() -> None:
        raise Refused(grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE", "Nobody there.")

    calls = [done, done, refused, failed]
    found = await play([Arrival(0.0, "add", call) for call in calls])

    assert (found.answered, found.refused, found.failed) == (
        2,
        {"OVERLOADED": 1},
        {"UNAVAILABLE": 1},
    )
    assert found.offered == 4


def test_arrivals_are_poisson_and_repeat_with_their_seed() -> None:
    """W10 Gaps are exponential: their mean is 1 / rate, and so is their deviation."""

    async def call() -> None:
        pass

    def arrivals(seed: int) -> list[float]:
        found = poisson(200.0, 20.0, random.Random(seed), lambda _: ("get", call))
        return [each.at for each in found]

    times = arrivals(7)
    gaps = [after - before for before, after in pairwise(times)]
    mean = sum(gaps) / len(gaps)
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert times == arrivals(7) != arrivals(8)
    assert mean == pytest.approx(1 / 200, rel=0.1)
    assert deviation == pytest.approx(mean, rel=0.1)


@pytest.mark.timeout(300)
async def test_a_small_load_on_a_real_system(tmp_path: Path) -> None:
    """W10 Twelve spaces, 40 memories, a flood beside: every call has an answer or a reason."""
    asked = argparse.Namespace(
        spaces=12, memories=40, clients=4, rate=15.0, seconds=3.0, flood=True, seed=5
    )
    with up(tmp_path / "data") as system:
        alone, beside = await run(asked, system)

    for found in (alone, beside):
        assert found.offered > 20
        assert found.answered + found.refused.total() == found.offered
        assert not found.failed
    assert system.most_megabytes > 50
    assert "search" in "\n".join(report("alone", alone))
