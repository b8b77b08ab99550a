"""What holds of subjects whose facts replace one another, in whatever order they are told (T2).

A quick form of the evaluations on public data (`make bench`), on subjects made up here.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from graph_world import DAY, START, Calls, fact, stamp

SUBJECTS, CHANGES = 4, 5
FIRST = START - 1_000 * DAY


@dataclass(frozen=True)
class Told:
    """That a subject has a value from a time on, and until another when that is stated."""

    subject: str
    value: str
    since: int
    until: int | None = None

    def memory(self) -> type_pb2.Memory:
        """Return the memory that states it."""
        stated = [fact(self.subject, "LED_BY", self.value)]
        content = f"{self.subject} is led by {self.value} from {self.since}."
        memory = type_pb2.Memory(content=content, facts=stated, valid_from=stamp(self.since))
        if self.until is not None:
            memory.valid_until.CopyFrom(stamp(self.until))
        return memory


def timelines(draw: random.Random) -> list[Told]:
    """Return values that follow one another, return, and sometimes end before the next begins."""
    told = []
    for number in range(SUBJECTS):
        days = sorted(draw.sample(range(900), CHANGES + 1))
        for place, (day, after) in enumerate(pairwise(days)):
            ends = FIRST + draw.randint(day + 1, after) * DAY if draw.random() < 0.4 else None
            value = f"leader {(place % 3) * 10 + number}"
            told.append(Told(f"Team {number}", value, FIRST + day * DAY, ends))
    return told


def holding(told: Sequence[Told], subject: str, at: int) -> set[str]:
    """Return the newest value that has begun, unless it has ended."""
    begun = [each for each in told if each.subject == subject and each.since <= at]
    last = max(begun, key=lambda each: each.since, default=None)
    return {last.value} if last and (last.until is None or at < last.until) else set()


async def values(calls: Calls, subject: str, at: int | None) -> set[str]:
    """Return what graph says that holds."""
    reply = await calls.neighbors(
        subject,
        direction=type_pb2.DIRECTION_OUTGOING,
        filter=graph_pb2.EdgeFilter(relations=["LED_BY"]),
        as_of=type_pb2.AsOf(valid_time=stamp(at)) if at is not None else None,
    )
    return {each.edge.target.name for each in reply.neighbors}


@pytest.mark.parametrize("seed", [0, 1, 2])
async def test_current_and_past_values_are_right_in_any_order(home: Calls, seed: int) -> None:
    """T2 M1 D3 In order (seed 0) and shuffled: now, and on both sides of every change."""
    draw = random.Random(seed)
    told = timelines(draw)
    told.sort(key=lambda each: each.since)
    if seed:
        draw.shuffle(told)
    await home.declare("LED_BY")
    for start in range(0, len(told), 7):
        assert not (await home.batch([t.memory() for t in told[start : start + 7]])).errors

    for subject in sorted({each.subject for each in told}):
        own = [each for each in told if each.subject == subject]
        cuts = {t for each in own for t in (each.since, each.until) if t is not None}
        for at in sorted({t + step for t in cuts for step in (-1, 0)}):
            assert await values(home, subject, at) == holding(told, subject, at), (subject, at)
        assert await values(home, subject, None) == holding(told, subject, START)


async def test_told_in_order_without_times_the_last_one_holds(home: Calls) -> None:
    """T2 M1 In one batch and one after another: also a value that returns."""
    await home.declare("LED_BY")
    for number, names in enumerate((["Ada", "Bob", "Cy"], ["Ada", "Bob", "Ada"])):
        told = [
            type_pb2.Memory(
                content=f"{number} {place}: {name} leads.",
                facts=[
                    fact(f"Team {number}", "LED_BY", name),
                    fact(f"Club {number}", "LED_BY", name),
                ],
            )
            for place, name in enumerate(names)
        ]
        assert not (await home.batch(told[:2])).errors
        await home.add_memory(told[2])

        assert await values(home, f"Team {number}", None) == {names[-1]}
        assert await values(home, f"Club {number}", None) == {names[-1]}
